package proxy

import (
	"reflect"

	"github.com/fairdoor-gate/fairdoor/proxy/config"
)

// Options are the options as a room's configuration has them.
func (o RoomOptions) Options() (said config.Options) {
	for _, of := range reflect.ValueOf(o).Fields() {
		said = append(said, of.Interface())
	}
	return said
}

// roomOptionsOf are what a room's configuration says of features, and the zero value of what it
// does not say.
func roomOptionsOf(said config.Options) (o RoomOptions) {
	for _, of := range reflect.ValueOf(&o).Elem().Fields() {
		for _, s := range said {
			if v := reflect.ValueOf(s); v.Type() == of.Type() {
				of.Set(v)
			}
		}
	}
	return o
}
