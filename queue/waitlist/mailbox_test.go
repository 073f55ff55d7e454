package waitlist_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anteroom-gate/anteroom/queue/waitlist"
)

// sentTo counts the mails to addresses that contain a text.
func (w *world) sentTo(part string) (n int) {
	w.t.Helper()
	for _, m := range must(w.Outbox(ctx, 0, 1<<20)) {
		if strings.Contains(m.To, part) {
			n++
		}
	}
	return n
}

func TestAMailboxGetsFewMailsHoweverItsAddressIsWritten(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		for _, s := range []waitlist.Settings{settings(), settings(unconfirmed)} {
			w := newWorld(t, name, s)
			for i := range 80 {
				local := "victim"
				if cut := 1 + i%5; i%2 == 0 {
					local = local[:cut] + "." + local[cut:]
				}
				domain := []string{"gmail.com", "googlemail.com", "GMail.com"}[i%3]
				w.join(waitlist.SignUp{Email: fmt.Sprintf("%s+%d@%s", local, i, domain)})
			}
			assert.Equal(t, 1, w.sentTo("v"))
			name = sqliteFile(t) // for the other settings
		}
	})
}

func TestAddressesOfOthersGetTheirOwnMails(t *testing.T) {
	w := newWorld(t, sqliteFile(t), settings())
	for _, address := range []string{"j.doe@example.com", "jdoe@example.com", "jdoe@example.org"} {
		w.join(waitlist.SignUp{Email: address})
	}
	assert.Equal(t, 3, w.sentTo("doe"))
	w.join(waitlist.SignUp{Email: "jdoe+news@example.com"})
	assert.Equal(t, 3, w.sentTo("doe"))
	w.after(time.Hour)
	w.join(waitlist.SignUp{Email: "jdoe+news@example.com"})
	assert.Equal(t, 4, w.sentTo("doe"), "later they get one, too")
}

func TestLeavingBringsNoFurtherMails(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		w := newWorld(t, name, settings(unconfirmed))
		var sent []int
		for range 30 {
			p := w.join(waitlist.SignUp{Email: "victim@example.com"})
			sent = append(sent, w.sentTo("victim"))
			require.NoError(t, w.Leave(ctx, p.Number, w.now))
			w.after(15 * time.Minute)
		}
		assert.Equal(t, []int{1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1}, sent[:17])
		assert.NotContains(t, w.dump(), "victim", "the memory of it has no address")
		w.after(30 * 24 * time.Hour)
		w.sweep()
		assert.Zero(t, w.number(`SELECT COUNT(*) FROM mailboxes`), "and ends")
	})
}
