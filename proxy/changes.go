package proxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/anteroom-gate/anteroom/queue"
)

// changes are what operators changed of a room's settings while it ran, by the names of the settings. What is not there is as it is
// configured.
type changes map[string]json.RawMessage

// over returns the settings s with the changes in them. What another version of the program knows and this one does not is passed over.
func (c changes) over(s queue.Settings) queue.Settings {
	for name, value := range c {
		if f := queue.Setting(name); f != nil {
			_ = f.SetJSON(reflect.ValueOf(&s).Elem(), value)
		}
	}
	return s
}

// errNoObject means that what was to be merged is not a JSON object.
var errNoObject = errors.New("the body is not a JSON object")

// merge returns c with the changes of a JSON object put over it: a value sets, null goes back to what is configured. Settings that
// cannot be changed live and values that do not fit are told in faults, all of them.
func (c changes) merge(patch []byte) (merged changes, faults []error, err error) {
	var given changes
	if err := json.Unmarshal(patch, &given); err != nil || given == nil {
		return c, nil, errNoObject
	}
	merged = maps.Clone(c)
	if merged == nil {
		merged = changes{}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		f, value := queue.Setting(name), given[name]
		switch {
		case f == nil || !f.Live:
			faults = append(faults, fmt.Errorf("%s is not among what can be changed here", name))
		case string(value) == "null":
			delete(merged, name)
		default:
			v, err := f.ParseJSON(value)
			if err != nil {
				faults = append(faults, fmt.Errorf("%s %w", name, err))
				continue
			}
			if merged[name], err = f.JSON(v); err != nil {
				return c, nil, fmt.Errorf("writing %s: %w", name, err)
			}
		}
	}
	return merged, faults, nil
}
