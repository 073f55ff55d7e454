package waitlist

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue/setting"
)

// Settings are what a waitlist goes by. The tags define each setting, as those of queue.Settings
// do: see [setting.Field].
type Settings struct {
	Capacity      int           `yaml:"capacity" default:"0" min:"0" usage:"live invites and acceptances together; 0 is unlimited"`
	InviteTTL     time.Duration `yaml:"invite_ttl" default:"48h" min:"1s" max:"8760h" usage:"time in which an invite can be accepted, from when its mail is sent"`
	ReferralBoost int           `yaml:"referral_boost" default:"5" min:"0" max:"1000" usage:"priority that each confirmed referee earns their referrer"`
	ReferralMax   int           `yaml:"referral_max" default:"50" min:"0" max:"1000" usage:"most priority that referees can earn somebody"`
	ActionsMax    int           `yaml:"actions_max" default:"50" min:"0" max:"1000" usage:"most priority that actions can earn somebody"`
	ConfirmEmail  bool          `yaml:"confirm_email" default:"true" usage:"an address counts once its owner has confirmed it"`
	ConfirmTTL    time.Duration `yaml:"confirm_ttl" default:"168h" min:"1m" max:"8760h" usage:"time in which an address can be confirmed, from when the mail is sent; then the sign-up is erased"`

	// Disposable are domains whose addresses earn their referrer nothing before an operator has
	// looked.
	Disposable Domains `yaml:"-"`

	// Actions are what people can do to move up, each with its own name.
	Actions []Action `yaml:"-"`

	// Mailed says that mails are sent, so that the time of what their links are for begins when
	// they are. Where they are kept for operators, it begins at once.
	Mailed bool `yaml:"-"`
}

// settings are the fields of Settings.
var settings = setting.Fields(reflect.TypeFor[Settings]())

// DefaultSettings returns what holds where nothing is set.
func DefaultSettings() Settings {
	var s Settings
	v := reflect.ValueOf(&s).Elem()
	for i := range settings {
		settings[i].SetDefault(v)
	}
	return s
}

// MarshalJSON writes the settings under their names, as the admin API has them.
func (s Settings) MarshalJSON() ([]byte, error) {
	v, named := reflect.ValueOf(&s).Elem(), make(map[string]json.RawMessage, len(settings))
	for i := range settings {
		f := &settings[i]
		value, err := f.JSON(f.Of(v))
		if err != nil {
			return nil, fmt.Errorf("writing %s: %w", f.Name, err)
		}
		named[f.Name] = value
	}
	return json.Marshal(named)
}

// Validate reports every setting that is out of bounds, joined.
func (s Settings) Validate() error {
	var errs []error
	v := reflect.ValueOf(&s).Elem()
	for i := range settings {
		f := &settings[i]
		text := f.Text(f.Of(v))
		if _, problem := f.Parse(text); problem != "" {
			errs = append(errs, fmt.Errorf("%s is %s, which %s", f.Name, text, problem))
		}
	}
	return errors.Join(errs...)
}
