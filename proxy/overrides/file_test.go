//go:build !race

package overrides_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/proxy/overrides"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

// Whatever is patched through whichever gate, and whatever the gates' file says then: in
// force is the file, with the latest value of each setting that operators have given
// and not taken back.
func TestOverridesStayOverTheFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		store := memstore.New()
		var gates [2]*overrides.Room
		for i := range gates {
			gates[i], _ = gate(t, store)
		}
		loaded, changed := file, map[string]int{}
		limit := func(name string, loaded int) int {
			if value, ok := changed[name]; ok {
				return value
			}
			return loaded
		}
		value := rapid.IntRange(1, 9)
		t.Repeat(map[string]func(*rapid.T){
			"patch": func(t *rapid.T) {
				name, value := names.Draw(t, "name"), value.Draw(t, "value")
				changed[name] = value
				patch(t, gates[:], fmt.Sprintf(`{%q: %d}`, name, value))
			},
			"take back": func(t *rapid.T) {
				name := names.Draw(t, "name")
				delete(changed, name)
				patch(t, gates[:], fmt.Sprintf(`{%q: null}`, name))
			},
			"reload": func(t *rapid.T) {
				loaded.TotalActiveUsers, loaded.NewUsersPerMinute = value.Draw(t, "active"), value.Draw(t, "new")
				for _, r := range gates {
					_, err := r.Reload(bg, start, overrides.File{Settings: loaded})
					require.NoError(t, err)
				}
			},
			"": func(t *rapid.T) {
				for _, r := range gates {
					require.NoError(t, r.Queue().Sync(bg, start))
					s := r.Queue().Settings()
					assert.Equal(t, limit("total_active_users", loaded.TotalActiveUsers), s.TotalActiveUsers)
					assert.Equal(t, limit("new_users_per_minute", loaded.NewUsersPerMinute), s.NewUsersPerMinute)
					assert.Len(t, document(r).Changes, len(changed))
				}
			},
		})
	})
}

var names = rapid.SampledFrom([]string{"total_active_users", "new_users_per_minute"})

// patch patches the room through one of its gates.
func patch(t *rapid.T, gates []*overrides.Room, text string) {
	r := rapid.SampledFrom(gates).Draw(t, "gate")
	require.NoError(t, r.Patch(bg, start, []byte(text), 0, "ann"))
}
