package crawler_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/proxy/crawler"
)

func TestCrawlersThatSayWhatTheyAre(t *testing.T) {
	for _, userAgent := range []string{
		"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Googlebot/2.1; +http://www.google.com/bot.html) Chrome/140.0.0.0 Safari/537.36",
		"Googlebot-Image/1.0",
		"GOOGLEBOT",
		"Mediapartners-Google",
		"AdsBot-Google-Mobile (+http://www.google.com/mobile/adsbot.html)",
		"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
		"DuckDuckBot/1.1; (+http://duckduckgo.com/duckduckbot.html)",
		"Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)",
		"Mozilla/5.0 (compatible; Baiduspider/2.0; +http://www.baidu.com/search/spider.html)",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 13_4_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/13.1 Mobile/15E148 Safari/604.1 (Applebot/0.1)",
		"Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)",
		"facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)",
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot",
		"Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
		"Mozilla/5.0 (compatible; archive.org_bot +http://archive.org/details/archive.org_bot)",
	} {
		assert.True(t, crawler.Declared(userAgent), userAgent)
	}
}

func TestWhatPeopleUseIsNoCrawler(t *testing.T) {
	for _, userAgent := range []string{
		"",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
		"Mozilla/5.0 (Linux; Android 9; CUBOT_X19) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/91.0.4472.101 Mobile Safari/537.36",
		"Mozilla/5.0 (Linux; Android 12; CUBOT-P60) AppleWebKit/537.36",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [FBAN/FBIOS;FBAV/440.0]",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [Pinterest/iOS]",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15 Ddg/17.4 DuckDuckGo/7",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 YaBrowser/24.1 Yowser/2.5 Safari/537.36",
		"Mozilla/5.0 (Linux; Android 13) AppleWebKit/537.36 baidubrowser/8.7 BaiduBoxApp",
		"Mozilla/5.0 (Macintosh) AppleWebKit/537.36 (KHTML, like Gecko) ChatGPT/1.2025 Chrome/140.0.0.0 Safari/537.36",
		"Go-http-client/1.1", "okhttp/4.12.0", "curl/8.5.0", "python-requests/2.32", "Shop/3.1 (+https://shop.test)",
		"notGooglebot/2.1", "Googlebots", "----", "a-b-c-d-e-f-g-h-i-j-k-l-m-n-o-p-q-r-s-t-u-v-w-x-y-z",
	} {
		assert.False(t, crawler.Declared(userAgent), userAgent)
	}
}

func TestToLookAtAUserAgentAllocatesNothing(t *testing.T) {
	const browser = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"
	assert.Zero(t, testing.AllocsPerRun(100, func() { crawler.Declared(browser) }))
}

func BenchmarkDeclared(b *testing.B) {
	const browser = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"
	b.ReportAllocs()
	for b.Loop() {
		crawler.Declared(browser)
	}
}
