package admin

import (
	"fmt"
	"math"
	"strings"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/dashboard"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
)

// forecast says what a change does to the line: what the room is expected to do as it is, and with
// the settings that it has then.
func forecast(n *estimate.Numbers, then *queue.Settings) []string {
	switch {
	case then.Suspended:
		return []string{fmt.Sprintf("%s in line, and everybody passes from then on.", People(n.Waiting, "is", "are"))}
	case then.AdmitsNobody() && !n.Settings.AdmitsNobody():
		return []string{People(n.Waiting, "is", "are") + " in line now. Whoever waits, or comes, waits until this ends."}
	case then.AdmitsEveryone():
		return []string{fmt.Sprintf("%s in line, and everybody is let in from then on.", People(n.Waiting, "is", "are"))}
	}
	now, next := n.Expect(n.Settings), n.Expect(*then)
	if now == next && next.Rate > 0 {
		return nil // the change concerns something else
	}
	told := []string{People(n.Waiting, "is", "are") + " in line."}
	if next.Rate == 0 {
		return append(told, "How fast people are let in then cannot be told yet.")
	}
	told = append(told, fmt.Sprintf("About %s a minute are let in then; now it is about %s.", perMinute(next.Rate), perMinute(now.Rate)))
	switch {
	case next.Last > 0 && now.Last > 0:
		told = append(told, fmt.Sprintf("The last of those in line now is let in within about %s then; now it is about %s.", lastIn(next), lastIn(now)))
	case next.Last > 0:
		told = append(told, fmt.Sprintf("The last of those in line now is let in within about %s then.", lastIn(next)))
	}
	wait := fmt.Sprintf("Whoever comes then %s; whoever comes now %s.", metWith(n, next), metWith(n, now))
	if next.Wait.Known && n.Waiting > 0 {
		wait += " People are told whole minutes, rounded up."
	}
	told = append(told, wait)
	if over := n.Active - then.Slots(); over >= 0 && then.Slots() < n.Settings.Slots() {
		told = append(told, fmt.Sprintf("Nobody is let in before %s left: nobody who is in is thrown out.", People(over+1, "has", "have")))
	}
	return told
}

// People counts people, with the verb that goes with their number.
func People(n int, one, many string) string {
	switch n {
	case 0:
		return "Nobody " + one
	case 1:
		return "1 person " + one
	}
	return fmt.Sprintf("%d people %s", n, many)
}

func lastIn(e estimate.Expected) string { return dashboard.FormatWait(int(math.Ceil(60 * e.Last))) }

func perMinute(rate float64) string {
	if rate < 10 {
		return strings.TrimSuffix(fmt.Sprintf("%.1f", rate), ".0")
	}
	return fmt.Sprintf("%.0f", rate)
}

// metWith is what becomes of somebody who comes, in words.
func metWith(n *estimate.Numbers, e estimate.Expected) string {
	switch {
	case n.Waiting == 0 && n.Open > 0:
		return "is let in at once"
	case !e.Wait.Known:
		return "is told that the wait is not known yet"
	}
	return "is told to wait about " + dashboard.FormatWait(60*e.Wait.Minutes)
}
