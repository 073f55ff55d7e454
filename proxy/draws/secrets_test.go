package draws_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/proxy/record"
	"github.com/fairdoor-gate/fairdoor/proxy/record/report"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/event"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

// everything is what a gate has told somebody or written down, by where.
type everything map[string]string

// ask takes in what the admin API answers.
func (e everything) ask(f *gatetest.Fixture, paths ...string) {
	for _, path := range paths {
		e["GET "+path] = f.API(http.MethodGet, path, "", nil).Body
	}
}

// read takes in the files below a directory.
func (e everything) read(t *testing.T, dir string) {
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		e[strings.TrimPrefix(path, dir)] = string(text)
		return err
	}))
}

// reports takes in the report of a time.
func (e everything) reports(t *testing.T, f *gatetest.Fixture, from, to time.Time) {
	r := report.Make(report.Config{Room: "shop", From: from, To: to, Now: f.Clock.Now(), Gates: []record.Excerpt{f.Excerpt(from, to)}})
	var page, list bytes.Buffer
	require.NoError(t, r.WriteHTML(&page))
	require.NoError(t, r.WriteJSON(&list))
	e["report"], e["report in JSON"] = page.String(), list.String()
}

// syncBuffer is what a log is written to.
type syncBuffer struct{ bytes.Buffer }

func (*syncBuffer) Sync() error { return nil }

func TestNothingTellsTheSecretOfADrawBeforeTheStart(t *testing.T) {
	dir, log, store := t.TempDir(), &syncBuffer{}, memstore.New()
	f := gatetest.Start(t, gatetest.Planned(gatetest.SaleAt(gatetest.Opening.Add(6*time.Minute), 5*time.Minute, true)), func(_ *proxy.Config, o *proxy.Options) {
		o.Store, o.StateDir, o.History = store, dir, record.Open(dir, gatetest.Opening, zap.NewNop())
		o.Log = zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.Lock(log), zapcore.DebugLevel))
	})
	later := `{"name": "later", "event_start_time": "2021-05-28T15:00:00Z", "event_end_time": "2021-05-28T16:00:00Z",
		"prequeue_start_time": "2021-05-28T14:00:00Z", "shuffle_at_event_start": true}`
	require.Equal(t, http.StatusCreated, f.API(http.MethodPost, "/api/v1/rooms/shop/events", later, nil).Status)
	f.Clock.Add(time.Minute)
	gatetest.Stands(t, "event_prequeueing", f)
	require.Equal(t, http.StatusOK, f.Patch(`{"new_users_per_minute": 60}`).Status)
	seen, v := everything{}, f.Visitor()
	seen["page"], seen["JSON"] = v.Get("/").Body, v.Get("/", gatetest.AsJSON).Body
	require.Contains(t, seen["JSON"], "shuffleSeedHash")
	seen["own"] = v.Get("/.fairdoor/session?room=shop").Body
	const room = "/api/v1/rooms/shop"
	seen.ask(f, "/", "/metrics", "/api/v1/rooms", "/api/v1/rooms.csv", room, room+"/status", room+"/visitors", room+"/events", room+"/events/sale",
		room+"/events/sale/details", room+"/events/sale/order", room+"/events/later", "/api/v1/webhooks", "/readyz")
	seen.reports(t, f, gatetest.Opening, gatetest.Opening.Add(time.Hour))
	require.Contains(t, seen["report"], "event later", "it has the audit")
	f.Close()
	seen["log"] = log.String()
	seen.read(t, dir)

	view, err := store.Sync(t.Context(), "shop", &queue.Report{Node: 99, Seq: 1, Now: queue.At(f.Clock.Now())})
	require.NoError(t, err)
	require.Len(t, secretInAStore.FindAllString(string(view.Configuration.Overrides), -1), 2, "the secrets of two draws are in the store")
	var stored struct{ Draws []event.Draw }
	require.NoError(t, json.Unmarshal(view.Configuration.Overrides, &stored))
	for _, d := range stored.Draws {
		secret, err := d.Secret.MarshalText()
		require.NoError(t, err)
		for where, text := range seen {
			assert.NotContains(t, strings.ToLower(text), string(secret), where)
			assert.NotContains(t, strings.ToLower(text), d.Seed(), where)
		}
	}
}
