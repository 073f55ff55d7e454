{{- define "fairdoor.name" -}}
{{- if contains "fairdoor" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-fairdoor" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "fairdoor.selector" -}}
app.kubernetes.io/name: fairdoor
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "fairdoor.labels" -}}
{{ include "fairdoor.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}
