package storetest

import (
	"context"
	"reflect"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
)

var configureCases = []contractCase{
	{"configuring again keeps sessions, counts and the minute's admissions", func(n *node) {
		n.configure(ample())
		n.admit(newcomer(1))
		n.revoke(2, time.Minute)
		before := n.count(people(3, cell(0)))
		n.configure(ample())
		after := n.look()
		assert.Equal(n, before.Configuration.Version+1, after.Configuration.Version)
		after.Configuration = before.Configuration
		assert.Equal(n, before, after)
	}},
	{"a lower total_active_users throws nobody out and lets nobody in", func(n *node) {
		n.configure(limited(3))
		n.admit(newcomer(1), newcomer(2), newcomer(3))
		n.configure(limited(1))
		v := n.look()
		assert.Equal(n, 3, v.Active)
		assert.Zero(n, v.Open)
		assert.Equal(n, []queue.Verdict{held, held, held, refused}, n.verdicts(newcomer(1), newcomer(2), newcomer(3), newcomer(4)))
		n.at(time.Minute + n.h.Slack)
		assert.Equal(n, []queue.Verdict{granted, refused}, n.verdicts(newcomer(5), newcomer(6)))
	}},
	{"a higher total_active_users lets more in at once", func(n *node) {
		n.configure(limited(1))
		n.admit(newcomer(1))
		n.configure(limited(2))
		assert.Equal(n, []queue.Verdict{granted, refused}, n.verdicts(newcomer(2), newcomer(3)))
	}},
	{"a lower new_users_per_minute counts those already let in this minute", func(n *node) {
		n.configure(ample())
		n.admit(newcomer(1), newcomer(2), newcomer(3))
		s := ample()
		s.NewUsersPerMinute = 2
		n.configure(s)
		assert.Zero(n, n.look().Open)
		assert.Equal(n, []queue.Verdict{refused}, n.verdicts(newcomer(4)))
		n.at(time.Minute + n.h.Slack)
		assert.Equal(n, []queue.Verdict{granted, granted, refused}, n.verdicts(newcomer(4), newcomer(5), newcomer(6)))
	}},
	{"a shorter session_duration ends no session early", func(n *node) {
		n.configure(limited(1))
		n.admit(newcomer(1))
		s := limited(1)
		s.SessionDuration = time.Second
		n.configure(s)
		n.at(time.Minute - time.Millisecond)
		assert.Equal(n, []queue.Verdict{refused, held}, n.verdicts(newcomer(2), newcomer(1)))
		n.at(time.Minute + n.h.Slack)
		grants, _ := n.admit(newcomer(2))
		assert.Equal(n, queue.Grant{Verdict: granted, AcceptedAt: n.now, Expires: n.now.Add(time.Second)}, grants[0])
	}},
	{"who was let in is remembered for as long as places lasted before", func(n *node) {
		s := ample()
		s.QueueTicketTTL = 10 * time.Minute
		n.configure(s)
		n.count(people(1, cell(0)))
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(waiter(1, cell(0))))
		n.configureWith(queue.Configuration{Settings: ample(), Places: queue.Places{Longest: 10 * time.Minute}})
		n.at(10*time.Minute - time.Millisecond)
		n.look()
		assert.Equal(n, []queue.Verdict{used}, n.verdicts(waiter(1, cellUntil(0, time.Hour))))
	}},
	{"every node gets all of a configuration", func(n *node) {
		c := queue.Configuration{}
		fill(n, reflect.ValueOf(&c).Elem())
		c.Version = 1
		n.look()
		require.NoError(n, n.h.Store.Configure(context.Background(), n.room, c))
		assert.Equal(n, c, n.another().look().Configuration)
	}},
	{"a longer session_duration holds from the next admission and renewal", func(n *node) {
		n.configure(limited(1))
		n.admit(newcomer(1))
		s := limited(1)
		s.SessionDuration = time.Hour
		n.configure(s)
		n.at(time.Minute + n.h.Slack)
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(newcomer(2)))
		n.at(time.Hour)
		assert.Equal(n, []queue.Verdict{refused}, n.verdicts(newcomer(3)))
	}},
}

// fill sets everything in v to something that is neither zero nor a default.
func fill(n *node, v reflect.Value) {
	switch at := v.Addr().Interface().(type) {
	case *time.Duration:
		*at = 7 * time.Minute
		return
	case *[]byte:
		*at = []byte("some")
		return
	}
	switch {
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			fill(n, v.Field(i))
		}
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.Type() == reflect.TypeFor[queue.Items]():
		v.SetString(`[{"name":"Standing","left":null,"soldOut":false}]`)
	case v.Kind() == reflect.String:
		v.SetString("some")
	case v.CanInt():
		v.SetInt(1)
	case v.CanUint():
		v.SetUint(1)
	case v.CanFloat():
		v.SetFloat(0.25)
	default:
		require.Fail(n, "no value for a "+v.Type().String())
	}
}
