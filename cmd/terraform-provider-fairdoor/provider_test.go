package main_test

import (
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/client"
	"github.com/fairdoor-gate/fairdoor/queue/porttest"
)

const (
	aRoom     = "fairdoor_room"
	anEvent   = "fairdoor_event"
	aPass     = "fairdoor_pass"
	aWaitlist = "fairdoor_waitlist"
	invites   = "fairdoor_waitlist_invites"
)

func TestARoomIsAsItsBlockSaysAndAsInTheFileOnceThatIsGone(t *testing.T) {
	t.Parallel()
	gate := serve(t)
	tf := begin(t, at(gate))
	shop := block{
		"name": "shop", "total_active_users": 800, "session_duration": "300s", "refresh_jitter": 0.2, "message": "Doors open at nine.",
		"queueing_method": "random", "items": []block{{"name": "Standing", "price": "49 €", "left": 120}, {"name": "Balcony", "sold_out": true}},
	}
	tf.applies(aRoom, shop)
	now := tells(t, gate, "rooms", "shop")
	assert.EqualValues(t, 800, now["total_active_users"])
	assert.EqualValues(t, 100, now["new_users_per_minute"])
	assert.Equal(t, "5m", now["session_duration"])
	assert.Equal(t, "random", now["queueing_method"])
	assert.Len(t, now["items"], 2)
	assert.Contains(t, now["overridden_by"].(map[string]any)["message"].(map[string]any)["by"], "terraform (")

	delete(shop, "items")
	shop["total_active_users"] = 900
	tf.applies(aRoom, shop)
	now = tells(t, gate, "rooms", "shop")
	assert.EqualValues(t, 900, now["total_active_users"])
	assert.Empty(t, now["items"])

	tf.applies(aRoom, nil)
	now = tells(t, gate, "rooms", "shop")
	assert.Empty(t, now["overrides"])
	assert.EqualValues(t, 200, now["total_active_users"])
}

func TestWhatAnOperatorChangesByHandShowsInThePlanOfARoom(t *testing.T) {
	t.Parallel()
	gate := serve(t)
	tf := begin(t, at(gate))
	shop := block{"name": "shop", "total_active_users": 800}
	tf.applies(aRoom, shop)
	orders(t, gate, http.MethodPatch, client.Path("rooms", "shop"), map[string]any{"queue_all": true, "total_active_users": 100})
	assert.Equal(t, []string{"queue_all", "total_active_users"}, tf.changes(aRoom, shop))
	tf.applies(aRoom, shop)
	assert.Equal(t, map[string]any{"total_active_users": 800.0}, tells(t, gate, "rooms", "shop")["overrides"])
}

func TestAChangeOfARoomLeavesAloneWhatItsPlanDidNotShow(t *testing.T) {
	t.Parallel()
	gate := serve(t)
	tf := begin(t, at(gate))
	orders(t, gate, http.MethodPatch, client.Path("rooms", "shop"), map[string]any{"queue_all": true})
	require.Empty(t, tf.tries(aRoom, block{"name": "shop", "total_active_users": 800}))
	assert.Equal(t, map[string]any{"total_active_users": 800.0, "queue_all": true}, tells(t, gate, "rooms", "shop")["overrides"])
	assert.Equal(t, []string{"queue_all"}, tf.changes(aRoom, block{"name": "shop", "total_active_users": 800}))
}

func TestARoomIsImportedWithWhatOperatorsHaveChanged(t *testing.T) {
	t.Parallel()
	gate := serve(t)
	orders(t, gate, http.MethodPatch, client.Path("rooms", "shop"), map[string]any{"message": "Soon.", "session_duration": "10m"})
	tf := begin(t, at(gate))
	require.Empty(t, tf.imports(aRoom, "shop"))
	assert.Empty(t, tf.changes(aRoom, block{"name": "shop", "message": "Soon.", "session_duration": "600s"}))
	require.Empty(t, tf.imports(aRoom, "nowhere"))
	assert.True(t, tf.before(aRoom).IsNull())
}

func TestWhatCannotBeIsSaidBeforeAnythingIsChanged(t *testing.T) {
	t.Parallel()
	gate := serve(t)
	tf := begin(t, at(gate))
	for name, of := range map[string]struct {
		kind string
		is   block
		told string
	}{
		"a value out of bounds":                     {aRoom, block{"name": "shop", "total_active_users": 0}, "total_active_users is 0, which is too small: at least 1."},
		"a duration without a unit":                 {aRoom, block{"name": "shop", "session_duration": "300"}, "did you mean 300s?"},
		"settings that do not go together":          {aRoom, block{"name": "shop", "refresh_interval": "20m"}, "queue_ticket_ttl is 30m, which is too short"},
		"a room that is not in the file":            {aRoom, block{"name": "shpo", "queue_all": true}, `There is no room of this name (did you mean "shop"?)`},
		"an event that ends before it starts":       {anEvent, block{"room": "shop", "name": "sale", "event_start_time": "2099-12-01T09:00:00Z", "event_end_time": "2099-12-01T08:00:00Z"}, "event_end_time has to be at least a minute after event_start_time"},
		"a time without an offset":                  {anEvent, block{"room": "shop", "name": unknown, "event_start_time": "2099-12-01 09:00", "event_end_time": "2099-12-01T18:00:00Z"}, "add one, or set timezone"},
		"one limit of an event without the other":   {anEvent, block{"room": "shop", "name": "sale", "event_start_time": "2099-12-01T09:00:00Z", "event_end_time": "2099-12-01T18:00:00Z", "total_active_users": 5}, "give both, or neither"},
		"a pass for no time":                        {aPass, block{"room": "shop", "name": "press", "kind": "in"}, `say until when`},
		"a waitlist that is not in the file":        {aWaitlist, block{"name": "bta", "paused": true}, `did you mean "beta"?`},
		"invites of a waitlist that are at no time": {invites, block{"waitlist": "beta", "people": 5}, "say when"},
		"an event of the name of one that there is": {anEvent, block{"room": "shop", "name": "yearly", "event_start_time": "2099-12-01T09:00:00Z", "event_end_time": "2099-12-01T18:00:00Z"}, "terraform import fairdoor_event.NAME shop/yearly"},
	} {
		t.Run(name, func(t *testing.T) {
			told := tf.tries(of.kind, of.is)
			require.Len(t, told, 1)
			assert.Contains(t, told[0], of.told)
			assert.True(t, tf.before(of.kind).IsNull())
		})
	}
	assert.Empty(t, tells(t, gate, "rooms", "shop")["overrides"])
}

func TestAnEventIsPlannedChangedAndTakenBack(t *testing.T) {
	t.Parallel()
	gate := serve(t)
	tf := begin(t, at(gate))
	sale := block{
		"room": "shop", "name": "winter", "timezone": "Europe/Oslo", "prequeue_start_time": "2099-12-01 08:30", "event_start_time": "2099-12-01 09:00",
		"event_end_time": "2099-12-01T18:00:00+01:00", "shuffle_at_event_start": true, "total_active_users": 500, "new_users_per_minute": 100, "session_duration": "120s",
	}
	tf.applies(anEvent, sale)
	now := tells(t, gate, "rooms", "shop", "events", "winter")
	assert.Equal(t, "2099-12-01T09:00:00+01:00", now["event_start_time"])
	assert.Equal(t, true, now["shuffle_at_event_start"])
	assert.EqualValues(t, 500, now["total_active_users"])

	delete(sale, "session_duration")
	sale["description"] = "The winter sale."
	tf.applies(anEvent, sale)
	now = tells(t, gate, "rooms", "shop", "events", "winter")
	assert.Nil(t, now["session_duration"])
	assert.Equal(t, "The winter sale.", now["description"])

	orders(t, gate, http.MethodPatch, client.Path("rooms", "shop", "events", "winter"), map[string]any{"event_start_time": "2099-12-01T10:00:00+01:00", "suspended": true})
	assert.Equal(t, []string{"event_start_time", "suspended"}, tf.changes(anEvent, sale))
	tf.applies(anEvent, sale)

	sale["name"] = "christmas"
	tf.applies(anEvent, sale)
	_, err := client.Get[any](t.Context(), gate, client.Path("rooms", "shop", "events", "winter"))
	require.ErrorIs(t, err, client.ErrNotFound)

	orders(t, gate, http.MethodDelete, client.Path("rooms", "shop", "events", "christmas"), nil)
	tf.applies(anEvent, sale) // it is made again
	tf.applies(anEvent, nil)
	_, err = client.Get[any](t.Context(), gate, client.Path("rooms", "shop", "events", "christmas"))
	require.ErrorIs(t, err, client.ErrNotFound)
}

func TestAnEventIsImportedUnlessItIsInTheFile(t *testing.T) {
	t.Parallel()
	gate := serve(t)
	orders(t, gate, http.MethodPost, client.Path("rooms", "shop", "events"), map[string]any{"name": "sale", "event_start_time": "2099-12-01T09:00:00+01:00", "event_end_time": "2099-12-01T18:00:00+01:00"})
	tf := begin(t, at(gate))
	require.Empty(t, tf.imports(anEvent, "shop/sale"))
	assert.Empty(t, tf.changes(anEvent, block{"room": "shop", "name": "sale", "event_start_time": "2099-12-01T08:00:00Z", "event_end_time": "2099-12-01T17:00:00Z"}))
	assert.Contains(t, tf.imports(anEvent, "shop/yearly")[0], "in the gate's configuration file")
	assert.Contains(t, tf.imports(anEvent, "sale")[0], "The id of a fairdoor_event is ROOM/NAME")
}

func TestAPassIsMadeReplacedAndRevoked(t *testing.T) {
	t.Parallel()
	gate := serve(t)
	tf := begin(t, at(gate))
	press := block{"room": "shop", "name": "press", "kind": "in", "uses": 5, "good_for": "24h"}
	tf.applies(aPass, press)
	first := tf.text(aPass, "id")
	assert.NotEmpty(t, tf.text(aPass, "code"))
	assert.Contains(t, tf.text(aPass, "link"), "/.fairdoor/")
	assert.True(t, inForce(t, gate)[first])

	press["end_sessions"] = true
	tf.applies(aPass, press)
	assert.Equal(t, first, tf.text(aPass, "id"))

	delete(press, "good_for")
	press["expires_at"] = time.Now().Add(100 * time.Hour).UTC().Format(time.RFC3339)
	tf.applies(aPass, press)
	second := tf.text(aPass, "id")
	assert.Equal(t, map[string]bool{first: false, second: true}, inForce(t, gate))

	orders(t, gate, http.MethodDelete, client.Path("rooms", "shop", "passes", second), nil)
	tf.applies(aPass, press) // there is one again
	third := tf.text(aPass, "id")
	assert.True(t, inForce(t, gate)[third])

	require.Empty(t, tf.imports(aPass, "shop/"+third))
	assert.Empty(t, tf.changes(aPass, block{"room": "shop", "name": "press", "kind": "in", "uses": 5, "expires_at": press["expires_at"]}))
	tf.applies(aPass, nil)
	assert.False(t, inForce(t, gate)[third])
}

// inForce says of each pass of the room whether it is in force.
func inForce(t *testing.T, gate client.API) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, p := range tells(t, gate, "rooms", "shop", "passes")["passes"].([]any) {
		of := p.(map[string]any)
		all[of["id"].(string)] = of["revokedAt"] == nil
	}
	return all
}

func TestAWaitlistIsPausedAndItsInvitesArePlanned(t *testing.T) {
	t.Parallel()
	gate := serve(t)
	tf := begin(t, at(gate))
	tf.applies(aWaitlist, block{"name": "beta", "paused": true})
	assert.Equal(t, true, tells(t, gate, "waitlists", "beta")["paused"])
	orders(t, gate, http.MethodPatch, client.Path("waitlists", "beta"), map[string]any{"paused": false})
	assert.Equal(t, []string{"paused"}, tf.changes(aWaitlist, block{"name": "beta", "paused": true}))
	tf.applies(aWaitlist, block{"name": "beta", "paused": true})
	tf.applies(aWaitlist, nil)
	assert.Equal(t, false, tells(t, gate, "waitlists", "beta")["paused"])

	weekly := block{"waitlist": "beta", "people": 100, "at": "2099-12-01T09:00:00Z", "every": "168h"}
	tf.applies(invites, weekly)
	weekly["people"], weekly["every"] = 200, "24h"
	tf.applies(invites, weekly)
	plans := tells(t, gate, "waitlists", "beta", "plans")["plans"].([]any)
	require.Len(t, plans, 1)
	assert.EqualValues(t, 200, plans[0].(map[string]any)["count"])
	orders(t, gate, http.MethodDelete, client.Path("waitlists", "beta", "plans", tf.text(invites, "id")), nil)
	tf.applies(invites, weekly) // they are planned again
	require.Empty(t, tf.imports(invites, "beta/"+tf.text(invites, "id")))
	tf.applies(invites, nil)
	assert.Empty(t, tells(t, gate, "waitlists", "beta", "plans")["plans"])
}

func TestInvitesThatAreDoneAreNotPlannedAgain(t *testing.T) {
	t.Parallel()
	tf := begin(t, at(serve(t)))
	done := block{"waitlist": "beta", "people": 100, "at": "2026-01-01T09:00:00Z", "id": "7"}
	tf.state[invites] = valueOf(t, tf.typ(invites), done)
	delete(done, "id")
	assert.Empty(t, tf.changes(invites, done))
	tf.applies(invites, nil)
}

func TestWhoseGateCannotBeAskedIsToldWhatToDo(t *testing.T) {
	t.Parallel()
	gate := serve(t)
	shop := block{"name": "shop", "queue_all": true}
	told := begin(t, block{"address": gate.URL, "token": "another token of somebody else's"}).tries(aRoom, shop)
	require.Len(t, told, 1)
	assert.Contains(t, told[0], "Set token in the provider's block, or FAIRDOOR_ADMIN_TOKEN")

	told = begin(t, block{"address": porttest.Address(t)}).tries(aRoom, shop)
	require.Len(t, told, 1)
	assert.Contains(t, told[0], "is it running, and its admin API at http://127.0.0.1:")

	_, told = tryBegin(t, block{"address": "ftp://gate"})
	require.Len(t, told, 1)
	assert.Contains(t, told[0], `"ftp://gate" is neither an address nor an http or https URL`)
}

func TestAGateThatIsStillToBeMadeCanBePlannedFor(t *testing.T) {
	t.Parallel()
	for _, of := range []block{{"address": unknown}, {"address": porttest.Address(t)}} {
		_, planned, told := begin(t, of).plans(aRoom, block{"name": "shop", "total_active_users": unknown, "queue_all": true})
		assert.Empty(t, told)
		assert.False(t, planned.IsNull())
	}
}

func TestTheVariablesOfTheProgramSayWhichGate(t *testing.T) {
	gate := serve(t)
	file := t.TempDir() + "/token"
	require.NoError(t, os.WriteFile(file, []byte(token+"\n"), 0o600))
	t.Setenv("FAIRDOOR_ADMIN", gate.URL)
	t.Setenv("FAIRDOOR_ADMIN_TOKEN_FILE", file)
	t.Setenv("FAIRDOOR_AS", "night shift")
	begin(t, block{}).applies(aRoom, block{"name": "shop", "queue_all": true})
	by := tells(t, gate, "rooms", "shop")["overridden_by"].(map[string]any)["queue_all"].(map[string]any)["by"]
	assert.Contains(t, by, "night shift (")
}
