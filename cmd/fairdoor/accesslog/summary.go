package accesslog

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/measure"
)

// WriteSummary writes what logs held, for an operator who is to choose the limits of a room
// with the settings.
func (l *Log) WriteSummary(w io.Writer, s queue.Settings) error {
	var out bytes.Buffer
	row := func(label string, n int, more string) {
		fmt.Fprintf(&out, "  %-40s%12s%s\n", label, measure.Grouped(n), more)
	}
	fmt.Fprintln(&out, "Access log")
	row("lines", l.Lines, "")
	some := func(label string, n int) {
		if n > 0 {
			row(label, n, "")
		}
	}
	some("left out: parts of pages", l.LeftOut.Parts)
	some("left out: crawlers", l.LeftOut.Crawlers)
	some("left out: HEAD, OPTIONS and the like", l.LeftOut.Probes)
	some("left out: robots.txt, checks and the like", l.LeftOut.Exempt)
	some("skipped, as they cannot be read", l.Skipped)
	for _, reason := range l.Reasons {
		fmt.Fprintf(&out, "    %s\n", reason)
	}
	if l.Skipped > len(l.Reasons) && len(l.Reasons) > 0 {
		fmt.Fprintln(&out, "    …")
	}
	some("requests without a User-Agent", l.Unnamed)
	row("visitors, by address and User-Agent", l.Visitors, "")
	row(fmt.Sprintf("visits, over after %s without a request", measure.Short(s.SessionDuration)), l.Visits, "")
	if l.Visits > 0 {
		fmt.Fprintf(&out, "  from %s to %s\n", l.From.Format(time.DateTime+" -0700"), l.Until.Format(time.DateTime+" -0700"))
		row("most sessions at a time", l.Active.Count, l.Active.At.Format("  at "+time.DateTime))
		row("most visits that began in a minute", l.PerMinute.Count, l.PerMinute.At.Format("  at 2006-01-02 15:04"))
		fmt.Fprintf(&out, "  Nobody would have waited with --total-active-users %d --new-users-per-minute %d.\n", l.Active.Count, l.PerMinute.Count)
	}
	_, err := w.Write(out.Bytes())
	return err
}
