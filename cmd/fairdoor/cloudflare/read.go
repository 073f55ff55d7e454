package cloudflare

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	"github.com/fairdoor-gate/fairdoor/proxy/route"
)

// Import is what was read so far. The zero value is empty.
type Import struct {
	rooms    []*room
	latest   *room // the one that events and rules belong to; nil for none, or several
	crawlers bool
}

// room, event and rule are as Cloudflare's API has them. What an event leaves out it has of its
// room.
type room struct {
	Name             string `json:"name"`
	Description      string `json:"description"`
	AdditionalRoutes []path `json:"additional_routes"`
	CookieSuffix     string `json:"cookie_suffix"`
	CookieAttributes struct {
		SameSite string `json:"samesite"`
		Secure   string `json:"secure"`
	} `json:"cookie_attributes"`
	QueueAll       bool     `json:"queue_all"`
	Suspended      bool     `json:"suspended"`
	StatusCode     int      `json:"queueing_status_code"`
	JSON           bool     `json:"json_response_enabled"`
	Language       string   `json:"default_template_language"`
	OriginCommands []string `json:"enabled_origin_commands"`
	path
	overridable

	events []event
	rules  []rule
}

type path struct {
	Host string `json:"host"`
	Path string `json:"path"`
}

// overridable is what an event may have of its own.
type overridable struct {
	TotalActiveUsers      *int    `json:"total_active_users"`
	NewUsersPerMinute     *int    `json:"new_users_per_minute"`
	SessionDuration       *int    `json:"session_duration"` // minutes
	DisableSessionRenewal *bool   `json:"disable_session_renewal"`
	QueueingMethod        *string `json:"queueing_method"`
	Page                  *string `json:"custom_page_html"`
	TurnstileMode         *string `json:"turnstile_mode"`
}

type event struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Prequeue    string `json:"prequeue_start_time"`
	Start       string `json:"event_start_time"`
	End         string `json:"event_end_time"`
	Shuffle     bool   `json:"shuffle_at_event_start"`
	Suspended   bool   `json:"suspended"`
	overridable
}

type rule struct {
	Action      string `json:"action"`
	Description string `json:"description"`
	Expression  string `json:"expression"`
	Enabled     *bool  `json:"enabled"` // true if left out
}

// Add reads an answer of the API, or the result in it: one room, event or rule, a list of them, or
// the settings of a zone. Events and rules belong to the room that was added last.
func (i *Import) Add(answer []byte) error {
	answer, err := resultOf(answer)
	if err != nil {
		return err
	}
	var list []json.RawMessage
	if err := json.Unmarshal(answer, &list); err != nil {
		list = []json.RawMessage{answer}
	}
	before := len(i.rooms)
	for _, item := range list {
		if err := i.add(item); err != nil {
			return err
		}
	}
	if len(i.rooms) > before+1 {
		i.latest = nil
	}
	return nil
}

// resultOf returns the result in an answer, or what is no answer as it is. What has failed or is a
// part of the whole is refused.
func resultOf(answer []byte) ([]byte, error) {
	var envelope struct {
		Success *bool           `json:"success"`
		Errors  json.RawMessage `json:"errors"`
		Result  json.RawMessage `json:"result"`
		Info    struct {
			Pages int `json:"total_pages"`
		} `json:"result_info"`
	}
	if err := json.Unmarshal(answer, &envelope); err != nil {
		return answer, nil // a list, or what add refuses
	}
	switch {
	case envelope.Success != nil && !*envelope.Success:
		return nil, fmt.Errorf("this says that Cloudflare's API has refused the request: %s", envelope.Errors)
	case envelope.Info.Pages > 1:
		return nil, fmt.Errorf("this is one of %d pages: ask for all of them at once, with a larger per_page", envelope.Info.Pages)
	case envelope.Result != nil:
		answer = envelope.Result
	}
	if string(bytes.TrimSpace(answer)) == "null" {
		return nil, errors.New("there is no result in this answer")
	}
	return answer, nil
}

// add adds one object, which is known by a field that nothing else has.
func (i *Import) add(object json.RawMessage) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(object, &fields); err != nil {
		return fmt.Errorf("reading an object: %w", err)
	}
	has := func(name string) bool { return fields[name] != nil }
	switch {
	case has("event_start_time"):
		return i.toLatest(func(r *room) error {
			return errors.Join(appendTo(&r.events, object), checkName(r.events[len(r.events)-1].Name))
		})
	case has("expression"):
		return i.toLatest(func(r *room) error {
			return errors.Join(appendTo(&r.rules, object), checkAction(r.rules[len(r.rules)-1].Action))
		})
	case has("search_engine_crawler_bypass"):
		return json.Unmarshal(fields["search_engine_crawler_bypass"], &i.crawlers)
	case has("total_active_users") && has("new_users_per_minute"):
		i.latest = &room{}
		i.rooms = append(i.rooms, i.latest)
		return errors.Join(json.Unmarshal(object, i.latest), checkName(i.latest.Name))
	default:
		return errors.New("this is no room, event, rule or zone setting of Cloudflare's Waiting Room")
	}
}

// toLatest adds something to the room that was added last.
func (i *Import) toLatest(add func(*room) error) error {
	if i.latest == nil {
		return errors.New("events and rules do not say whose they are: name them behind a file with the one room that they belong to")
	}
	return add(i.latest)
}

func appendTo[T any](list *[]T, object json.RawMessage) error {
	var one T
	err := json.Unmarshal(object, &one)
	*list = append(*list, one)
	return err
}

// checkAction checks the action of a rule: Cloudflare has one.
func checkAction(action string) error {
	if action != route.BypassWaitingRoom {
		return fmt.Errorf("the action %q of a rule is not known: expects %s", action, route.BypassWaitingRoom)
	}
	return nil
}

// checkName checks the name of a room or an event. Pages are files with such names.
func checkName(name string) error {
	if !regexp.MustCompile(`^[0-9A-Za-z_-]+$`).MatchString(name) {
		return fmt.Errorf("the name %q is not of letters, digits, - and _", name)
	}
	return nil
}
