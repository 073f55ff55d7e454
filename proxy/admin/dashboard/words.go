package dashboard

import (
	"fmt"
	"html/template"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/record"
)

// words are the functions that write for people.
var words = template.FuncMap{
	"time": formatTime,
	"moment": func(t time.Time) template.HTML {
		return template.HTML(fmt.Sprintf(`<time datetime=%q data-day-of-week>%s</time>`, t.UTC().Format(time.RFC3339), t.UTC().Format("Monday, 2006-01-02 15:04:05 UTC"))) //nolint:gosec // times have nothing to escape
	},
	"stamp": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"age":   formatAge,
	"moments": func(text string) template.HTML {
		told := record.WithMoments(template.HTMLEscapeString(text), func(at time.Time) string { return string(formatTime(at)) })
		return template.HTML(told) //nolint:gosec // it is escaped
	},
	"plain": record.SettingInWords,
	"meaning": func(choice string) string {
		if meaning := meanings[choice]; meaning != "" {
			return " (" + meaning + ")"
		}
		return ""
	},
	"author": record.AuthorInWords,
}

// meanings are those of choices of settings that do not speak for themselves.
var meanings = map[string]string{
	"fifo": "in order of arrival", "random": "each check-in is a draw", "line": "exact places", "passthrough": "everybody is let in", "reject": "nobody is let in",
}

// formatTime is a moment, which the script tells as the viewer's clock does.
func formatTime(t time.Time) template.HTML {
	return template.HTML(fmt.Sprintf(`<time datetime=%q>%s</time>`, t.UTC().Format(time.RFC3339), t.UTC().Format("2006-01-02 15:04:05 UTC"))) //nolint:gosec // times have nothing to escape
}

// FormatWait writes a wait of so many seconds.
func FormatWait(seconds int) string {
	switch {
	case seconds < 90:
		return fmt.Sprintf("%d s", seconds)
	case seconds < 2*60*60:
		return fmt.Sprintf("%d min", (seconds+30)/60)
	}
	return fmt.Sprintf("%d:%02d h", seconds/3600, seconds/60%60)
}

// formatAge says how long ago something was.
func formatAge(d time.Duration) string {
	switch {
	case d < 2*time.Second:
		return "just now"
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s ago", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	}
	return fmt.Sprintf("%d h ago", int(d.Hours()))
}
