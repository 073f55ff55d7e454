package proxy

import (
	"fmt"
	"slices"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/subject"
)

// keysAt returns the keys that a site publishes at an address; nil for no address. The caller holds
// mu.
func (b *builder) keysAt(address string) (*subject.Published, error) {
	if known := b.gate.keys[address]; address == "" || known != nil {
		return known, nil
	}
	opened, err := subject.OpenPublished(b.gate.sync, address, func(err error) {
		b.gate.o.Log.Warn("published keys not fetched", zap.String("address", address), zap.Error(err))
	})
	if err != nil {
		return nil, fmt.Errorf("reading how the site names its users: %w", err)
	}
	b.gate.keys[address] = opened
	return opened, nil
}

// closeKeys ends the fetching of keys that none of the rooms needs.
func closeKeys(of map[string]*subject.Published, rooms []RoomConfig) {
	for address, keys := range of {
		if !slices.ContainsFunc(rooms, func(r RoomConfig) bool { return r.Subject.JWKSURL == address }) {
			keys.Close()
			delete(of, address)
		}
	}
}
