package overrides

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// Changes are settings that operators changed, by their names. A setting that is not
// among them is as the file has it.
type Changes map[string]json.RawMessage

// over returns the settings of a file with the changes in them, and with the defaults
// of what neither has. Settings that another version of the program knows and this one
// does not are passed over.
func (c Changes) over(file queue.Settings) queue.Settings {
	for name, value := range c {
		if f := queue.Setting(name); f != nil {
			_ = f.SetJSON(reflect.ValueOf(&file).Elem(), value)
		}
	}
	return file.WithDefaults()
}

// merge returns c with the changes of a JSON object put over it, and which those are: a value sets,
// null goes back to the file's. The faults are all settings that cannot be changed live and
// all values that do not fit.
func (c Changes) merge(patch []byte) (merged, given Changes, faults []error, err error) {
	if err := json.Unmarshal(patch, &given); err != nil || given == nil {
		return c, nil, nil, ErrNoObject
	}
	merged = maps.Clone(c)
	if merged == nil {
		merged = Changes{}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if fault := merged.set(name, given[name]); fault != nil {
			faults = append(faults, fault)
		}
	}
	return merged, given, faults, nil
}

// set makes one change, or returns what is wrong with it.
func (c Changes) set(name string, value json.RawMessage) error {
	f := queue.Setting(name)
	switch {
	case f == nil || !f.Live:
		return fmt.Errorf("%s is not among what can be changed here", name)
	case string(value) == "null":
		delete(c, name)
		return nil
	}
	v, err := f.ParseJSON(value)
	if err == nil {
		c[name], err = f.JSON(v)
	}
	if err != nil {
		return fmt.Errorf("%s %w", name, err)
	}
	return nil
}
