package templates_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/templates"
)

// shown is what a page in English shows in a state.
type shown struct {
	heading, wait, label string
	reloads              bool
}

// expected is what the page of a state is to show. The first case that holds is told.
func expected(d templates.Data) shown {
	const heading, label, starts = "You are in the waiting room", "Estimated wait", "Time until the start"
	sends := d.QueueingMethod == "reject" && !d.QueueAll && !d.Event.Prequeueing
	switch {
	case d.Held:
		return shown{"We will be back soon", "The site is being worked on. You keep your slot, and this page goes on by itself.", "", true}
	case d.SoldOut:
		return shown{"Everything is sold out", "Nothing is left. You need not wait any longer.", "", false}
	case sends:
		return shown{"Nobody can come in right now", "Please come back later.", "", false}
	case d.QueueAll:
		return shown{heading, "Admissions are paused at the moment.", "", true}
	case d.Event.Prequeueing:
		return shown{heading, "about 8\u00a0min", starts, true}
	case d.Paused:
		return shown{heading, "The site is not answering", "", true}
	case d.QueueIsFull:
		return shown{heading, "The line is full at the moment. You will join it as soon as there is space.", "", true}
	case !d.WaitTimeKnown:
		return shown{heading, "We cannot estimate your wait right now.", "", true}
	}
	return shown{heading, "about 12\u00a0min", label, true}
}

var visible = regexp.MustCompile(`<(?:h1|p|div|dd) id="(heading|label|starts|wait|shuffled|draw|items|rejoined)"([^>]*)>(.*)`)

// seenOn is what a page shows, by the ids of its parts.
func seenOn(page string) map[string]string {
	parts := map[string]string{}
	for _, m := range visible.FindAllStringSubmatch(page, -1) {
		if !strings.HasSuffix(m[2], "hidden") {
			parts[m[1]], _, _ = strings.Cut(m[3], "</")
		}
	}
	return parts
}

// combinations are all states in which these conditions hold or do not.
func combinations(method string) (all []templates.Data) {
	for bits := range 1 << 9 {
		has := func(bit int) bool { return bits>>bit&1 == 1 }
		d := templates.Data{
			RoomName: "shop", QueueingMethod: method, WaitTimeKnown: !has(0), WaitTime: 12, QueueAll: has(1), Paused: has(2), QueueIsFull: has(3),
			Held: has(4), SoldOut: has(5), ItemsLeftKnown: has(6), Rejoined: true,
		}
		if has(7) {
			d.Event = templates.Event{Start: "2020-08-03T23:50:00Z", End: "2020-08-04T02:00:00Z", Prequeueing: true, UntilStart: 8, UntilEnd: 128, Shuffle: has(8), SeedHash: "66687a"}
			d.Drawn = has(8) && !d.SoldOut
		}
		all = append(all, d)
	}
	return all
}

func TestEveryCombinationOfStatesIsToldInOneSentence(t *testing.T) {
	set := newSet(t, templates.Options{})
	for _, method := range []string{"fifo", "passthrough", "reject"} {
		for _, d := range combinations(method) {
			v := at(templates.Place{})
			v.Entry = "4F7K"
			page, want := string(set.Page("en-US", d).AppendTo(nil, v)), expected(d)
			is, state := seenOn(page), fmt.Sprintf("%+v", d)
			counting := want.label == "Time until the start"
			assert.Equal(t, 1, strings.Count(page, `<p id="wait"`), state)
			assert.Equal(t, want, shown{is["heading"], is["wait"], is["label"] + is["starts"], strings.Contains(page, `http-equiv="refresh"`)}, state)
			assert.Equal(t, counting && d.Drawn, is["shuffled"] != "", state)
			assert.Equal(t, d.Drawn, is["draw"] != "", state)
			assert.Equal(t, d.ItemsLeftKnown, is["items"] != "", state)
			assert.Equal(t, want.reloads && !d.Held, is["rejoined"] != "", state)
		}
	}
}
