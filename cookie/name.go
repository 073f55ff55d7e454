package cookie

import (
	"errors"
	"fmt"
	"strings"
)

const (
	namePrefix = "fairdoor_"
	hostPrefix = "__Host-"
)

// Name returns the name of a room's cookie, without "__Host-": "fairdoor_"
// and the room's cookie suffix, or the room's name where it has none.
func Name(suffix string) string { return namePrefix + suffix }

// checkName accepts the names that Name makes from letters, digits, -, _ and dots. Other
// characters could end the name: in the sealed text "|" does, and in the Cookie header ";"
// and "=" do.
func checkName(name string) error {
	suffix, found := strings.CutPrefix(name, namePrefix)
	if !found {
		return fmt.Errorf("cookie name %q does not begin with %q", name, namePrefix)
	}
	if suffix == "" {
		return errors.New("the cookie name needs the name of its room or a suffix")
	}
	if strings.ContainsFunc(strings.ReplaceAll(suffix, ".", ""), notWordCharacter) {
		return fmt.Errorf("cookie name %q: only letters, digits, -, _ and dots can be used", name)
	}
	return nil
}
