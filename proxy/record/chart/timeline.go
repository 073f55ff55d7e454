package chart

import (
	"fmt"
	"strings"
	"time"
)

// Timeline is a bar of times that follow each other, with a mark at now if that is in one of them. It
// is told as a sentence.
func Timeline(parts []Band, now time.Time, told string) string {
	const width, height, least = 360, 24, 4
	if len(parts) == 0 {
		return ""
	}
	from, to := parts[0].From, parts[len(parts)-1].To
	x := func(at time.Time) float64 {
		return width * min(max(at.Sub(from).Seconds()/max(to.Sub(from).Seconds(), 1), 0), 1)
	}
	var bar strings.Builder
	for i, p := range parts {
		begin := x(p.From)
		long := max(x(p.To)-begin, least)
		fmt.Fprintf(&bar, `<rect x="%s" y="4" width="%s" height="16" rx="2" fill="%s" fill-opacity=".35"/>`, number(begin), number(long), colour(len(parts)-1-i))
		if lengthOf(p.Name)+8 <= long {
			fmt.Fprintf(&bar, `<text x="%s" y="16" font-size="11" fill="currentColor">%s</text>`, number(begin+4), escape(p.Name))
		}
	}
	if !now.Before(from) && now.Before(to) {
		fmt.Fprintf(&bar, `<path class="now" d="M%s 0V%d" stroke="currentColor" stroke-width="2"/>`, number(x(now)), height)
	}
	return fmt.Sprintf(`<svg class="timeline" role="img" viewBox="0 0 %d %d"><title>%s</title>%s</svg>`, width, height, escape(told), bar.String())
}
