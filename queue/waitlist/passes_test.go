package waitlist_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// openPasses opens the passes in a database, as one node does.
func openPasses(t *testing.T, name string) *waitlist.Passes {
	t.Helper()
	store, err := waitlist.Open(ctx, name)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	return store.Passes()
}

func press(uses int) waitlist.Pass {
	return waitlist.Pass{Room: "shop", Name: "press", Kind: waitlist.PassIn, Uses: uses, MadeBy: operator, ExpiresAt: start.Add(time.Hour)}
}

func makeOne(t *testing.T, p *waitlist.Passes, like waitlist.Pass) waitlist.Pass {
	t.Helper()
	made, err := p.Make(ctx, like, 1, start)
	require.NoError(t, err)
	return made[0]
}

// Two nodes, and everybody at the same time.
func TestAPassIsUsedAsOftenAsItMayBe(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		nodes := []*waitlist.Passes{openPasses(t, name), openPasses(t, name)}
		pass := makeOne(t, nodes[0], press(7))
		var used, refused atomic.Int64
		var numbers sync.Map
		var all sync.WaitGroup
		for i := range 40 {
			all.Go(func() {
				u, err := nodes[i%2].Use(ctx, "shop", pass.ID, fmt.Sprint(i), start)
				if err != nil {
					assert.ErrorIs(t, err, waitlist.ErrExpired)
					refused.Add(1)
					return
				}
				_, twice := numbers.LoadOrStore(u.Number, true)
				assert.False(t, twice, "two have one number")
				used.Add(1)
			})
		}
		all.Wait()
		assert.EqualValues(t, 7, used.Load())
		assert.EqualValues(t, 33, refused.Load())
		list, err := nodes[1].List(ctx, "shop", "", 10)
		require.NoError(t, err)
		require.Len(t, list, 1)
		assert.Equal(t, 7, list[0].Used)
	})
}

func TestAFormThatIsSentTwiceIsOneUse(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		nodes := []*waitlist.Passes{openPasses(t, name), openPasses(t, name)}
		pass := makeOne(t, nodes[0], press(1))
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				u, err := nodes[i%2].Use(ctx, "shop", pass.ID, "form", start)
				if assert.NoError(t, err) {
					assert.Equal(t, 1, u.Number)
				}
			})
		}
		all.Wait()
		_, err := nodes[0].Use(ctx, "shop", pass.ID, "another", start)
		require.ErrorIs(t, err, waitlist.ErrExpired)
	})
}

func TestAPassIsFoundByItsCodeHoweverItIsTyped(t *testing.T) {
	p := openPasses(t, sqliteFile(t))
	pass := makeOne(t, p, press(1))
	require.Len(t, strings.ReplaceAll(pass.Code, "-", ""), 12, "60 bits, as base32 has them")
	for _, typed := range []string{pass.Code, strings.ToLower(pass.Code), strings.ReplaceAll(pass.Code, "-", ""), " " + strings.ReplaceAll(pass.Code, "O", "0") + " "} {
		got, err := p.ByCode(ctx, "shop", typed, start)
		require.NoError(t, err, typed)
		assert.Equal(t, pass.ID, got.ID)
	}
	for _, typed := range []string{"", "AAAA-AAAA-AAAA", pass.ID} {
		_, err := p.ByCode(ctx, "shop", typed, start)
		require.ErrorIs(t, err, waitlist.ErrExpired)
	}
	_, err := p.ByCode(ctx, "other", pass.Code, start)
	require.ErrorIs(t, err, waitlist.ErrExpired, "a pass is for one room")
}

func TestAPassEndsWhenItExpiresAndWhenItIsRevoked(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		p := openPasses(t, name)
		kept, lost, named := makeOne(t, p, press(2)), makeOne(t, p, press(2)), press(2)
		named.Name = "vip"
		makeOne(t, p, named)
		for _, want := range []int{1, 0} {
			named, ended, err := p.Revoke(ctx, "shop", lost.ID, operator, start)
			require.NoError(t, err)
			require.Len(t, named, 1)
			assert.Equal(t, lost.ID, named[0].ID)
			assert.Equal(t, start, named[0].RevokedAt)
			assert.Equal(t, want, ended)
		}
		_, err := p.Use(ctx, "shop", lost.ID, "a", start)
		require.ErrorIs(t, err, waitlist.ErrExpired)
		_, ended, err := p.Revoke(ctx, "shop", "vip", operator, start)
		require.NoError(t, err)
		assert.Equal(t, 1, ended)
		revoked, err := p.Revoked(ctx, "shop", start)
		require.NoError(t, err)
		assert.Len(t, revoked, 2)
		assert.True(t, revoked[lost.ID])

		u, err := p.Use(ctx, "shop", kept.ID, "a", start)
		require.NoError(t, err)
		assert.Equal(t, waitlist.PassUse{Pass: kept.ID, Number: 1, Kind: waitlist.PassIn, Expires: start.Add(time.Hour)}, u)
		_, err = p.Use(ctx, "shop", kept.ID, "b", start.Add(time.Hour))
		require.ErrorIs(t, err, waitlist.ErrExpired)
		require.NoError(t, p.Forget(ctx, "shop", start.Add(40*24*time.Hour)))
		list, err := p.List(ctx, "shop", "", 10)
		require.NoError(t, err)
		assert.Empty(t, list)
	})
}
