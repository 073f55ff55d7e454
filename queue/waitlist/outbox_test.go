package waitlist_test

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

func TestAMailThatAnAddressRefusesForGoodIsDropped(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings())
		ada := w.enter(waitlist.SignUp{Email: "ada@example.com"})
		w.release(1)
		assert.True(t, must(w.HasMail(ctx, w.now)))
		mails := must(w.Lease(ctx, 10, time.Minute, w.now))
		require.Len(t, mails, 3)
		assert.False(t, must(w.HasMail(ctx, w.now)), "all are leased")
		for _, m := range mails {
			require.NoError(t, w.Drop(ctx, m, w.now))
			require.NoError(t, w.Drop(ctx, m, w.now))
		}
		w.after(time.Hour)
		assert.False(t, must(w.HasMail(ctx, w.now)))
		e := w.entry(ada.Number)
		assert.True(t, start.Equal(e.BouncedAt))
		assert.Equal(t, waitlist.Invited, e.Status, "there are other ways to an invite")

		w.join(waitlist.SignUp{Email: "ada@example.com"})
		mails = must(w.Lease(ctx, 10, time.Minute, w.now))
		require.Len(t, mails, 1)
		require.NoError(t, w.Sent(ctx, mails[0], w.now))
		assert.Zero(t, w.entry(ada.Number).BouncedAt, "the address takes mail again")
	})
}

func TestWhatAMailServerSaysIsKeptWhateverItIs(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings())
		w.join(waitlist.SignUp{Email: "ada@example.com"})
		m := must(w.Lease(ctx, 1, time.Minute, w.now))[0]
		require.NoError(t, w.Failed(ctx, m, errors.New("no \xff\x00 way "+strings.Repeat("ü", 200)), w.now))
		var kept string
		require.NoError(t, w.scan(`SELECT last_error FROM outbox`, nil, &kept))
		assert.True(t, utf8.ValidString(kept))
		assert.Contains(t, kept, "no  way üü")
		assert.LessOrEqual(t, len(kept), 200)
	})
}
