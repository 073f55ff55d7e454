package waitlist

import (
	"strings"

	"golang.org/x/net/publicsuffix"
)

// providers are domains at which many people have addresses who know nothing of each other, as
// publicsuffix names them.
var providers = setOf(`
	126.com 163.com aol.com bluewin.ch bol.com.br btinternet.com comcast.net cox.net daum.net duck.com earthlink.net fastmail.com foxmail.com free.fr
	freenet.de gmail.com gmx.at gmx.ch gmx.com gmx.de gmx.net googlemail.com hanmail.net hey.com home.pl hotmail.co.uk hotmail.com hotmail.de hotmail.es
	hotmail.fr hotmail.it icloud.com inbox.lv inbox.ru interia.pl kakao.com laposte.net libero.it list.ru live.com live.co.uk live.fr live.nl mac.com
	mail.com mail.ru mailbox.org me.com msn.com nate.com naver.com o2.pl onet.pl op.pl orange.fr outlook.com outlook.de outlook.es outlook.fr outlook.it
	pm.me posteo.de proton.me protonmail.com qq.com rambler.ru rediffmail.com rogers.com sapo.pt seznam.cz sfr.fr shaw.ca sina.com sky.com sohu.com
	t-online.de tiscali.it tutanota.com tuta.com ukr.net uol.com.br verizon.net virgilio.it wanadoo.fr web.de wp.pl ya.ru yahoo.ca yahoo.co.in
	yahoo.co.jp yahoo.co.uk yahoo.com yahoo.com.ar yahoo.com.au yahoo.com.br yahoo.com.mx yahoo.de yahoo.es yahoo.fr yahoo.it yandex.com yandex.ru
	yeah.net ymail.com zoho.com`)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(words) {
		set[word] = true
	}
	return set
}

// ownDomain returns the domain that somebody has registered for an address; "" if it is a
// provider's, or there is no address.
func ownDomain(key string) string {
	_, domain, _ := strings.Cut(key, "@")
	registered, err := publicsuffix.EffectiveTLDPlusOne(domain)
	if err != nil || providers[registered] {
		return ""
	}
	return registered
}
