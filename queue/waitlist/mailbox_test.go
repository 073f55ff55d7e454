package waitlist_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
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
			assert.Equal(t, 2, w.sentTo("v"))
			for range 3 {
				w.join(waitlist.SignUp{Email: "vic.tim@gmail.com"})
				w.join(waitlist.SignUp{Email: "victim@gmail.com"})
			}
			assert.Equal(t, 3, w.sentTo("v"), "one of those without a tag")
			for hour := range 23 {
				w.after(time.Hour)
				w.join(waitlist.SignUp{Email: fmt.Sprintf("victim+%d@gmail.com", 100+hour)})
			}
			assert.Equal(t, 5, w.sentTo("v"))
			w.join(waitlist.SignUp{Email: "v.ictim@gmail.com"})
			assert.Equal(t, 6, w.sentTo("v"), "one of those without a tag")
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
}

func TestProvidersSayHowAMailboxIsWritten(t *testing.T) {
	for domain, spellings := range map[string][]string{
		"gmail":  {"ada.lovelace@gmail.com", "adalovelace@googlemail.com", "a.dalovelace@gmail.com", "ad.alovelace@gmail.com"},
		"Proton": {"ada.lovelace@proton.me", "ada-lovelace@proton.me", "ada_lovelace@protonmail.com", "adalovelace@pm.me"},
		"iCloud": {"ada@icloud.com", "ada@me.com", "ada@mac.com", "ada+1@icloud.com"},
		"Yahoo":  {"ada-1@yahoo.com", "ada-2@yahoo.com", "ada-3@yahoo.com", "ada@yahoo.com"},
	} {
		t.Run(domain, func(t *testing.T) {
			w := newWorld(t, sqliteFile(t), settings())
			for _, s := range spellings {
				w.join(waitlist.SignUp{Email: s})
			}
			assert.Equal(t, 3, w.sentTo("ada")+w.sentTo("a.dal")+w.sentTo("ad.al"))
		})
	}
	w := newWorld(t, sqliteFile(t), settings())
	for i := range 4 {
		w.join(waitlist.SignUp{Email: fmt.Sprintf("ada-%d@example.com", i)})
		w.join(waitlist.SignUp{Email: fmt.Sprintf("ada.%d@icloud.com", i)})
	}
	assert.Equal(t, 8, w.sentTo("ada"), "elsewhere these are people of their own")
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
		assert.Zero(t, w.number(`SELECT COUNT(*) FROM mailings`), "and ends")
	})
}
