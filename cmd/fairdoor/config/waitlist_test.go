package config_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// listed is the minimal file with a waitlist of its room, of which more can be said.
const listed = minimal + "waitlists:\n  - name: beta\n    room: shop\n"

// lines counts those of the minimal file.
var lines = strings.Count(minimal, "\n")

func TestAWaitlistHasDefaults(t *testing.T) {
	got := setup{file: listed}.mustLoad(t)
	assert.Equal(t, []config.Waitlist{{
		Name: "beta", Room: "shop", Settings: waitlist.DefaultSettings(), SignUpsPerNetwork: 60, SMTP: config.SMTP{TLS: "starttls"},
	}}, got.Waitlists)
	assert.Empty(t, got.Database)
}

func TestAWaitlistIsConfigured(t *testing.T) {
	got := setup{
		file: "database: lists.db\n" + strings.Replace(listed, "    room: shop\n", `    room: shop
    capacity: 500
    invite_ttl: 24h
    referral_boost: 0
    confirm_email: false
    disposable_domains_file: throwaway
    mail_templates: mails
    url: https://shop.example.com/
    smtp: {host: smtp.example.com, port: 465, tls: implicit, username: shop, password_file: /secret, from: Shop <t@example.com>, reply_to: help@example.com}
`, 1),
		files: map[string]string{"/etc/gate/throwaway": "# none\nmailinator.com\n", "/secret": " p w \n"},
	}.mustLoad(t)
	l := got.Waitlists[0]
	assert.Equal(t, "/etc/gate/lists.db", got.Database)
	assert.Equal(t, []any{500, 24 * time.Hour, 0, false}, []any{l.Capacity, l.InviteTTL, l.ReferralBoost, l.ConfirmEmail})
	assert.True(t, l.Disposable.Has("ada@mailinator.com"))
	assert.Equal(t, []string{"/etc/gate/mails", "https://shop.example.com"}, []string{l.MailTemplates, l.URL})
	assert.Equal(t, config.SMTP{
		Host: "smtp.example.com", Port: 465, TLS: "implicit", Username: "shop", Password: " p w ", From: "Shop <t@example.com>", ReplyTo: "help@example.com",
	}, l.SMTP)
}

func TestFaultsOfWaitlists(t *testing.T) {
	at := func(line int, rest string) string { return strconv.Itoa(lines+line) + ":" + rest }
	for name, tt := range map[string]struct {
		file string
		want []string
	}{
		"without room":                 {minimal + "waitlists: [{name: beta}]\n", []string{at(1, `13: waitlists[0].room: is required: the name of the room that the waitlist belongs to`)}},
		"of no room":                   {minimal + "waitlists: [{name: beta, room: shed}]\n", []string{at(1, `32: waitlists[0].room: there is no room "shed"`)}},
		"of a family":                  {strings.Replace(listed, "    total", "    path: /room/{id}\n    total", 1), []string{strconv.Itoa(lines+4) + `:11: waitlists[0].room: "shop" is a room for each value of its path, which has no waitlist: choose another`}},
		"the same name":                {listed + "  - {name: beta, room: shop}\n", []string{at(4, `12: waitlists[1].name: "beta" is the name of another waitlist already, on line `+strconv.Itoa(lines+2)), at(4, `24: waitlists[1].room: the room "shop" has a waitlist already, on line `+strconv.Itoa(lines+3))}},
		"called for no time":           {minimal + "    call_back: true\n", []string{at(1, `16: rooms[0].call_back: needs claim_within: for how long the slot of somebody who is called is kept`)}},
		"no host of a push service":    {"push_hosts: [a/b]\n" + minimal, []string{`1:14: push_hosts[0]: "a/b" is no host, *.host, http://host, host:port, address or network`}},
		"invited by nobody":            {minimal + "    admission: invited\n", []string{at(1, `16: rooms[0].admission: the room has no waitlist: nobody could be invited; add one to waitlists, with room: shop`)}},
		"a shared queue":               {strings.Replace(listed, "rooms:", "store: redis://h\ncookie: {keys: [k]}\nrooms:", 1), []string{at(4, `3: waitlists: gates that share a store need to share their waitlists: set database to the URL of a PostgreSQL`)}},
		"another database":             {"database: mysql://h/d\n" + listed, []string{`1:11: database: the supported databases are an SQLite file, by its path, and PostgreSQL: postgres://user:password@host/name`}},
		"a broken URL":                 {"database: postgres://u:hunter2@h:x/d\n" + listed, []string{`1:11: database: the URL of PostgreSQL is not valid: expects postgres://user:password@host/name`}},
		"another host than the room's": {strings.Replace(listed, "    total", "    host: tickets.example\n    total", 1) + "    url: https://x.example\n", []string{strconv.Itoa(lines+5) + `:10: waitlists[0].url: "x.example" is not a host of the room "shop": the waitlist is not served there`}},
		"bad mails":                    {listed + "    mail_templates: mails\n", []string{at(4, `21: waitlists[0].mail_templates: /etc/gate/mails: confirm.txt:1:1: first`), at(4, `21: waitlists[0].mail_templates: /etc/gate/mails: place.txt: second`)}},
		"an action twice":              {listed + "    actions: [{name: shared}, {name: shared}]\n", []string{at(4, `38: waitlists[0].actions[1].name: "shared" is the name of another action already, on line `+strconv.Itoa(lines+4))}},
		"an action named referrals":    {listed + "    actions: [{name: referrals}]\n", []string{at(4, `22: waitlists[0].actions[0].name: "referrals" stands for what referrals earn: choose another`)}},
		"a key that is guessed":        {listed + "    actions: [{name: shared, keys: [hunter2]}]\n", []string{at(4, `37: waitlists[0].actions[0].keys[0]: is too short: a key is 24 characters or more, such as openssl rand -hex 16 prints`)}},
		"half a server":                {listed + "    url: https://x.example\n    smtp: {host: h}\n", []string{at(5, `11: waitlists[0].smtp.from: is required: the address that mails come from`)}},
		"a sender without address":     {listed + "    url: https://x.example\n    smtp: {host: h, from: me}\n", []string{at(5, `27: waitlists[0].smtp.from: "me" is not an e-mail address such as tickets@example.com, or Tickets <tickets@example.com>`)}},
		"a name without password":      {listed + "    url: https://x.example\n    smtp: {host: h, from: t@example.com, username: u}\n", []string{at(5, `52: waitlists[0].smtp.username: username and password go together`)}},
		"a setting out of bounds":      {listed + "    referral_max: 5000\n", []string{at(4, `19: waitlists[0].referral_max: 5000 is too large: at most 1000`)}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, faults := setup{file: tt.file, tweak: func(o *config.Options) {
				o.CheckStore = func(string) error { return nil }
				o.CheckMails = func(string) error { return errors.New("confirm.txt:1:1: first\nplace.txt: second") }
			}}.load(t)
			for i := range faults {
				faults[i] = strings.TrimPrefix(faults[i], "gate.yaml:")
			}
			assert.Equal(t, tt.want, faults)
		})
	}
}

func TestDoubtsAboutGuests(t *testing.T) {
	_, warnings, faults := setup{file: strings.Replace(listed, "    total", "    guest_priority: 5\n    total", 1)}.load(t)
	require.Empty(t, faults)
	assert.Len(t, warnings, 1)
	assert.Contains(t, warnings[0], "guest_priority: has no effect: it is for a room with a waitlist and with queueing_method line")
	_, warnings, faults = setup{file: listed + "    url: https://x.example\n    smtp: {host: mail.example.com, from: t@example.com, tls: none}\n"}.load(t)
	require.Empty(t, faults)
	assert.Contains(t, strings.Join(warnings, "\n"), "go over the network as plain text")
	_, warnings, faults = setup{file: listed + "    smtp: {host: mail.example.com, from: t@example.com}\n"}.load(t)
	require.Empty(t, faults)
	assert.Contains(t, strings.Join(warnings, "\n"), "links in mails begin with the address that this gate listens on")
}
