package overrides_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/overrides"
	"github.com/fairdoor-gate/fairdoor/queue/event"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

func TestChangesOfEventsAreToldByWhomeverMadeThem(t *testing.T) {
	var noted [2][]overrides.Change
	var gates [2]*overrides.Room
	store := memstore.New()
	for i := range gates {
		r, err := overrides.Open(bg, start, overrides.Config{
			Config: room.Config{Name: "shop", Settings: file, Store: store}, Log: zap.NewNop(),
			OnChange: func(c overrides.Change) { noted[i] = append(noted[i], c) },
		})
		require.NoError(t, err)
		_, err = r.Reload(bg, start, overrides.File{Settings: file})
		require.NoError(t, err)
		gates[i] = r
	}
	a, b := gates[0], gates[1]
	tells := func(want ...overrides.Change) {
		t.Helper()
		for i := range noted {
			for n := range noted[i] {
				noted[i][n].At = time.Time{}
			}
			assert.Equal(t, want, noted[i], "gate %d", i)
			noted[i] = nil
		}
	}
	const as = "2021-05-27T16:04:10Z to 2021-05-27T17:04:10Z, prequeue from 2021-05-27T15:58:10Z, shuffled, session_duration 30s"
	whole, err := json.Marshal(sale())
	require.NoError(t, err)
	was := string(whole)
	require.NoError(t, edit(a, start, sale()))
	follow(t, start, a, b)
	tells(overrides.Change{By: "ann", What: "event sale", To: as})
	suspended := sale()
	suspended.Suspended, suspended.Page = true, "<p>"
	require.NoError(t, edit(b, start, suspended))
	follow(t, start, a, b)
	tells(overrides.Change{By: "ann", What: "event sale", From: as, To: as + ", page 33f27994, suspended", Was: was})
	require.NoError(t, edit(b, start, sale()))
	follow(t, start, a, b)
	noted = [2][]overrides.Change{}

	follow(t, start.Add(4*time.Minute), a, b)
	tells(overrides.Change{By: "event", What: "event", To: "sale: prequeue"},
		overrides.Change{By: "event", What: "session_duration", From: "5m", To: "30s"})
	follow(t, start.Add(10*time.Minute), a, b)
	tells(overrides.Change{By: "event", What: "event", From: "sale: prequeue", To: "sale: started"})
	follow(t, start.Add(70*time.Minute), a, b)
	tells(overrides.Change{By: "event", What: "event", From: "sale: started"},
		overrides.Change{By: "event", What: "session_duration", From: "30s", To: "5m"})
	require.NoError(t, b.EditEvents(bg, start.Add(71*time.Minute), "ben", func(event.List) (event.List, error) { return nil, nil }))
	follow(t, start.Add(71*time.Minute), a, b)
	tells(overrides.Change{By: "ben", What: "event sale", From: as, Was: was})
}
