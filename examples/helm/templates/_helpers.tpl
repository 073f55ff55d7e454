{{- define "anteroom.name" -}}
{{- if contains "anteroom" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-anteroom" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "anteroom.selector" -}}
app.kubernetes.io/name: anteroom
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "anteroom.labels" -}}
{{ include "anteroom.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}
