package measure

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Share writes a part of a whole in percent.
func Share(s float64) string { return fmt.Sprintf("%.2f %%", 100*s) }

// Seconds writes a time as exactly as its size deserves.
func Seconds(s float64) string {
	d := time.Duration(s * float64(time.Second))
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.3f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	default:
		return Short(d.Round(time.Second))
	}
}

// Short writes a duration without its zero parts.
func Short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Grouped writes a number with its thousands apart.
func Grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
