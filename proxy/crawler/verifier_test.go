package crawler_test

import (
	"net/netip"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fairdoor-gate/fairdoor/proxy/crawler"
	"github.com/fairdoor-gate/fairdoor/proxy/crawler/dnstest"
)

const (
	googlebot = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
	bingbot   = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)"
	adsBot    = "AdsBot-Google (+http://www.google.com/adsbot.html)"
	patience  = 20 * time.Second
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// verifier is one that asks a name server on this machine.
type verifier struct {
	*crawler.Verifier
	t   *testing.T
	dns *dnstest.Server

	mu       sync.Mutex
	now      time.Time
	most     int // lookups at a time that its networks may have
	underWay int
}

func start(t *testing.T) *verifier {
	v := &verifier{t: t, dns: dnstest.Start(t), now: time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC), most: 1000}
	v.Verifier = crawler.NewVerifier(crawler.Config{Resolver: v.dns.Resolver(), Clock: v.clock, Enter: v.enter})
	t.Cleanup(v.Close)
	return v
}

func (v *verifier) clock() time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.now
}

func (v *verifier) pass(d time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.now = v.now.Add(d)
}

func (v *verifier) enter(netip.Addr) (func(), bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.underWay == v.most {
		return nil, false
	}
	v.underWay++
	return v.leave, true
}

func (v *verifier) leave() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.underWay--
}

// idle says whether nothing is looked up.
func (v *verifier) idle() bool { return v.looksUp() == 0 }

// looksUp is how many addresses are looked up.
func (v *verifier) looksUp() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.underWay
}

// verified is what is known of an address once it was looked up.
func (v *verifier) verified(userAgent, addr string) bool {
	v.t.Helper()
	v.Verified(userAgent, netip.MustParseAddr(addr))
	require.Eventually(v.t, v.idle, patience, time.Millisecond)
	return v.Verified(userAgent, netip.MustParseAddr(addr))
}

func TestAnAddressIsACrawlersIfDNSSaysSoBothWays(t *testing.T) {
	v := start(t)
	v.dns.Machine("crawl-66-249-66-1.googlebot.com", "66.249.66.1")
	v.dns.Machine("rate-limited-proxy-66-249-90-77.google.com", "66.249.90.77")
	v.dns.Machine("crawl.googlebot.com", "2001:4860:4801:10::1")
	v.dns.Machine("msnbot-157-55-39-1.search.msn.com", "157.55.39.1")
	v.dns.Name("198.51.100.1", "crawl-198-51-100-1.googlebot.com") // whoever has an address may call it as they like
	v.dns.Name("198.51.100.2", "crawl-66-249-66-1.googlebot.com")
	v.dns.Machine("crawl.googlebot.com.evil.test", "198.51.100.3")
	v.dns.Machine("notgooglebot.com", "198.51.100.4")
	v.dns.Machine("google-proxy-66-249-81-1.google.com", "66.249.81.1") // of a service that passes on what others send
	v.dns.Machine("1.2.3.4.bc.googleusercontent.com", "34.1.2.3")       // anybody may rent it
	for i := range 4 {
		v.dns.Name("198.51.100.5", "a"+string(rune('a'+i))+".evil.test")
	}
	v.dns.Machine("crawl-198-51-100-5.googlebot.com", "198.51.100.5")
	for name, c := range map[string]struct {
		userAgent, addr string
		want            bool
	}{
		"Google's":                           {googlebot, "66.249.66.1", true},
		"Google's for advertisers":           {adsBot, "66.249.90.77", true},
		"Google's by IPv6":                   {googlebot, "2001:4860:4801:10::1", true},
		"Bing's":                             {bingbot, "157.55.39.1", true},
		"a name that does not know it":       {googlebot, "198.51.100.1", false},
		"a name of another address":          {googlebot, "198.51.100.2", false},
		"a name below another one":           {googlebot, "198.51.100.3", false},
		"a name that ends like it":           {googlebot, "198.51.100.4", false},
		"no name":                            {googlebot, "198.51.100.9", false},
		"a proxy":                            {googlebot, "66.249.81.1", false},
		"a machine for rent":                 {googlebot, "34.1.2.3", false},
		"one name of many":                   {googlebot, "198.51.100.5", false},
		"Bing's, by somebody else's name":    {googlebot, "157.55.39.1", false},
		"Google's, by somebody else's name":  {bingbot, "66.249.66.1", false},
		"Google's, by a browser's name":      {"Mozilla/5.0", "66.249.66.1", false},
		"Google's, by one that is not there": {"DuckDuckBot/1.1", "66.249.66.1", false},
	} {
		assert.Equal(t, c.want, v.verified(c.userAgent, c.addr), name)
	}
}

func TestWhatIsNotKnownYetIsNotVerifiedAndWaitsForNobody(t *testing.T) {
	v := start(t)
	v.dns.Hold()
	v.dns.Machine("crawl-66-249-66-1.googlebot.com", "66.249.66.1")
	asked := time.Now()
	assert.False(t, v.Verified(googlebot, netip.MustParseAddr("66.249.66.1")))
	assert.Less(t, time.Since(asked), time.Second)
	v.dns.Release()
	assert.Eventually(t, func() bool { return v.Verified(googlebot, netip.MustParseAddr("66.249.66.1")) }, patience, time.Millisecond)
}

func TestAnAddressIsAskedForOnce(t *testing.T) {
	v := start(t)
	v.dns.Machine("crawl-66-249-66-1.googlebot.com", "66.249.66.1")
	for range 20 {
		v.verified(googlebot, "66.249.66.1")
		v.verified(googlebot, "198.51.100.1")
		v.verified(bingbot, "198.51.100.1")
	}
	assert.Equal(t, 2, v.dns.Asked())

	v.pass(time.Hour)
	v.verified(googlebot, "66.249.66.1")
	v.verified(googlebot, "198.51.100.1")
	assert.Equal(t, 3, v.dns.Asked(), "a stranger is one for an hour")

	v.pass(11 * time.Hour)
	v.dns.Hold()
	assert.True(t, v.Verified(googlebot, netip.MustParseAddr("66.249.66.1")), "the old answer holds while it is asked again")
	v.dns.Forget()
	v.dns.Release()
	require.Eventually(t, v.idle, patience, time.Millisecond)
	assert.False(t, v.Verified(googlebot, netip.MustParseAddr("66.249.66.1")), "the address has another owner now")
}

func TestNobodyIsAskedAboutThoseWhoCannotBeVerified(t *testing.T) {
	v := start(t)
	for userAgent, addr := range map[string]string{
		"Mozilla/5.0 (X11; Linux x86_64)": "66.249.66.1", "DuckDuckBot/1.1": "66.249.66.1", "facebookexternalhit/1.1": "66.249.66.1",
		googlebot: "127.0.0.1", bingbot: "10.0.0.1", adsBot: "fd00::1",
	} {
		assert.False(t, v.verified(userAgent, addr))
	}
	assert.False(t, v.Verified(googlebot, netip.Addr{}))
	assert.Zero(t, v.dns.Asked())
}

func TestStrangersStartABoundedNumberOfLookups(t *testing.T) {
	v := start(t)
	v.dns.Hold()
	addr := netip.MustParseAddr("198.51.0.1")
	for range 1000 {
		v.Verified(googlebot, addr)
		addr = addr.Next()
	}
	assert.Equal(t, 64, v.looksUp(), "at a time")
	v.Close()
	assert.True(t, v.idle(), "none goes on when the verifier is closed")
	assert.False(t, v.verified(googlebot, "66.249.66.1"))
}

func TestANetworkMayHaveHadItsShare(t *testing.T) {
	v := start(t)
	v.dns.Machine("crawl-66-249-66-1.googlebot.com", "66.249.66.1")
	v.most = 0
	assert.False(t, v.verified(googlebot, "66.249.66.1"))
	assert.Zero(t, v.dns.Asked())
	v.most = 1
	assert.True(t, v.verified(googlebot, "66.249.66.1"), "and may be asked about later")
}

func TestSilenceIsNoAnswer(t *testing.T) {
	v := start(t)
	v.dns.Machine("crawl-66-249-66-1.googlebot.com", "66.249.66.1")
	v.dns.Hold()
	assert.False(t, v.verified(googlebot, "66.249.66.1"))
	v.dns.Release()
	v.pass(time.Minute)
	assert.True(t, v.verified(googlebot, "66.249.66.1"), "it is asked again a minute later")
}

func TestStrangersAreForgottenWhenThereAreTooMany(t *testing.T) {
	v := start(t)
	v.dns.Machine("crawl-66-249-66-1.googlebot.com", "66.249.66.1")
	require.True(t, v.verified(googlebot, "66.249.66.1"))
	addr := netip.MustParseAddr("198.18.0.0")
	for range 8192 {
		for v.looksUp() > 32 {
			runtime.Gosched()
		}
		v.Verified(googlebot, addr)
		addr = addr.Next()
	}
	require.Eventually(t, v.idle, patience, time.Millisecond)
	before := v.dns.Asked()
	assert.True(t, v.verified(googlebot, "66.249.66.1"), "who was verified stays so")
	assert.Equal(t, before, v.dns.Asked())
	v.verified(googlebot, "198.18.0.0")
	assert.Equal(t, before+1, v.dns.Asked(), "the first strangers are not known any more")
}
