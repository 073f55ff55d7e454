package admissions

import (
	"fmt"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
)

// what is what a line tells.
type what string

const (
	arrived what = "came"
	endless what = "endless" // they came, and are in the endless line
	letIn   what = "let_in"
	refused what = "refused"
	missing what = "missing" // somebody who waited asks no longer
	ended   what = "ended"   // a session, as nothing more was asked for
	noted   what = "noted"   // nothing new: what somebody was told last by the gate's end
	waiting what = "waiting" // nothing new of somebody who is there; in no file
	left         = what(feature.Left)
	revoked      = what(feature.Revoked)
	removed      = what(feature.Removed)
)

// line is a line of the log.
type line struct {
	At     time.Time       `json:"at"`
	Room   string          `json:"room"`
	Code   string          `json:"supportCode"`
	Label  string          `json:"label,omitempty"`
	What   what            `json:"what"`
	Why    estimate.Reason `json:"why,omitempty"`    // why they had to wait, or were turned away
	Since  time.Time       `json:"since,omitzero"`   // when they got the place that they came with, if not by this
	Waited time.Duration   `json:"waited,omitempty"` // until they were let in
	Ahead  bool            `json:"ahead,omitempty"`  // they were let in before others
	Told   *told           `json:"told,omitempty"`   // as they came; in other lines what they were told last
	Asked  int             `json:"asked,omitempty"`  // how often, since they came; in lines with what they were told last
}

// told is what somebody was told.
type told struct {
	At      time.Time `json:"at"`
	People  *int      `json:"people,omitempty"`  // ahead of them
	Minutes *int      `json:"minutes,omitempty"` // that they wait
}

// sentences tell a line to people, behind what was told of their visitor before.
func (l *line) sentences(before *told) (list []admin.Sentence) {
	say := func(text string, at time.Time) { list = append(list, admin.Sentence{Text: text, At: at}) }
	if l.What == arrived {
		if l.Since.IsZero() {
			say("They came", l.At)
		} else {
			say("They came with a place of theirs", l.At)
			say("They had got that place", l.Since)
		}
		if l.Told != nil {
			say("They were told: "+l.Told.String()+".", time.Time{})
		}
		if l.Why != estimate.NoReason {
			say(l.Why.Sentence(), time.Time{})
		}
		return list
	}
	asked := "They asked again"
	if l.Asked > 1 {
		asked = fmt.Sprintf("They asked %d times", l.Asked)
	}
	switch {
	case l.Told == nil:
	case before != nil && before.String() == l.Told.String():
		say(asked+", and were told the same at last", l.Told.At)
	default:
		say(asked+", and were told at last: "+l.Told.String()+",", l.Told.At)
	}
	switch l.What {
	case arrived, noted:
	case waiting:
		say(asked+", last", l.At)
	case endless:
		say("They came, and are in the endless line, where nobody is let in: a rule of the room flags them", l.At)
	case letIn:
		text := admin.LetIn
		if l.Ahead {
			text += " before others, by a pass, a priority or operators"
		}
		if l.Waited > 0 {
			text += ", after " + l.Waited.Round(time.Second).String()
		}
		say(text, l.At)
	case refused:
		say("They were turned away", l.At)
		say(l.Why.Sentence(), time.Time{})
	case missing:
		say("Then they asked no longer, and were not counted any more.", time.Time{})
	case left:
		say("Their page said goodbye, or they gave up their place", l.At)
	case ended:
		say("They asked for nothing more, and their session ended", l.At)
	case revoked:
		say("The site ended their session", l.At)
	case removed:
		say("Operators ended their session, or took away their place", l.At)
	}
	return list
}

// String is what somebody was told, in words.
func (t *told) String() string {
	if t.People == nil && t.Minutes == nil { // as before the start of an event, and while all is held
		return "neither how many people are ahead nor how long they wait"
	}
	text := "how many people are ahead is not known"
	if t.People != nil {
		text = admin.People(*t.People, "is", "are") + " ahead of them"
	}
	if t.Minutes == nil {
		return text + ", and how long they wait is not known"
	}
	return fmt.Sprintf("%s, and they wait about %d min", text, *t.Minutes)
}
