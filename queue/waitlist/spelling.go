package waitlist

import (
	"cmp"
	"strings"
)

// spelling says how many ways there are to write the address of one mailbox at a mail provider.
type spelling struct {
	domain  string // under which the provider's domains are compared; "" if each has mailboxes of its own
	ignored string // the characters that make no difference
	tag     string // what begins a tag, besides a plus
}

// spellings are what providers say of their own domains. Elsewhere only what follows a plus makes
// no difference.
var spellings = spellingsOf(map[string]spelling{
	"gmail.com googlemail.com":                     {domain: "gmail.com", ignored: "."},
	"proton.me protonmail.com protonmail.ch pm.me": {domain: "proton.me", ignored: ".-_"},
	"icloud.com me.com mac.com":                    {domain: "icloud.com"},
	`yahoo.com yahoo.ca yahoo.co.in yahoo.co.uk yahoo.com.ar yahoo.com.au yahoo.com.br yahoo.com.mx yahoo.de yahoo.es yahoo.fr
		yahoo.it ymail.com rocketmail.com`: {tag: "-"},
	"yandex.ru yandex.com yandex.by yandex.kz ya.ru": {domain: "yandex.ru"},
})

func spellingsOf(table map[string]spelling) map[string]spelling {
	all := map[string]spelling{}
	for domains, s := range table {
		for domain := range setOf(domains) {
			all[domain] = s
		}
	}
	return all
}

// inbox is where the mails to the address arrive, however it is written, and says whether it has a
// tag.
func (a Address) inbox() (mailbox string, tagged bool) {
	local, domain, _ := strings.Cut(a.Key, "@")
	s := spellings[domain]
	if i := strings.IndexAny(local, "+"+s.tag); i > 0 {
		local, tagged = local[:i], true
	}
	local = strings.Map(func(r rune) rune {
		if strings.ContainsRune(s.ignored, r) {
			return -1
		}
		return r
	}, local)
	return local + "@" + cmp.Or(s.domain, domain), tagged
}
