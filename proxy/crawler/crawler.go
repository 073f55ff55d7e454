// Package crawler knows the crawlers that say in User-Agent what they are, and finds out by DNS
// which addresses are theirs.
//
// It has a list of names, and no patterns: whoever is taken for a crawler cannot wait in line. A
// brand of phones is called Cubot, and apps send the User-Agent of their HTTP library. A crawler
// that is not in the list is a visitor like any other who keeps no cookies.
package crawler

import (
	"path"
	"strings"
)

// operator runs crawlers.
type operator struct {
	// crawlers are words of the User-Agents, in lower case. A word stands for itself with anything
	// behind a dash, too: googlebot for Googlebot-Image.
	crawlers []string
	// hosts are patterns of the names that the operator's documentation gives its machines, by
	// which addresses are confirmed; none where there is no such documentation. A pattern covers no
	// machine that others may rent, nor a proxy that passes on the User-Agent of others.
	hosts []string
}

var operators = []operator{
	{ // https://developers.google.com/search/docs/crawling-indexing/verifying-googlebot
		crawlers: []string{"googlebot", "google-inspectiontool", "googleother", "storebot-google", "adsbot-google", "mediapartners-google", "apis-google"},
		hosts:    []string{"*.googlebot.com", "rate-limited-proxy-*.google.com"},
	},
	{ // https://www.bing.com/webmasters/help/how-to-verify-bingbot-3905dc26
		crawlers: []string{"bingbot", "bingpreview", "msnbot", "adidxbot"},
		hosts:    []string{"*.search.msn.com"},
	},
	{ // https://support.apple.com/en-us/119829
		crawlers: []string{"applebot"},
		hosts:    []string{"*.applebot.apple.com"},
	},
	{ // https://yandex.com/support/webmaster/robot-workings/check-yandex-robots.html
		crawlers: []string{"yandexbot", "yandexmobilebot", "yandeximages", "yandexaccessibilitybot", "yandexrenderresourcesbot"},
		hosts:    []string{"*.yandex.ru", "*.yandex.net", "*.yandex.com"},
	},
	{ // https://help.baidu.com/question?prod_id=99&class=0&id=3001
		crawlers: []string{"baiduspider"},
		hosts:    []string{"*.crawl.baidu.com", "*.crawl.baidu.jp"},
	},
	{ // https://developer.amazon.com/amazonbot
		crawlers: []string{"amazonbot"},
		hosts:    []string{"*.crawl.amazonbot.amazon"},
	},
	{ // https://webmaster.petalsearch.com/site/petalbot
		crawlers: []string{"petalbot"},
		hosts:    []string{"petalbot-*.petalsearch.com"},
	},
	{crawlers: []string{
		// Search engines and archives.
		"duckduckbot", "duckassistbot", "slurp", "seznambot", "qwantbot", "mojeekbot", "sogou", "yisouspider", "360spider", "yeti", "coccocbot",
		"archive.org_bot", "ia_archiver", "ccbot",
		// Readers for language models.
		"gptbot", "oai-searchbot", "chatgpt-user", "claudebot", "claude-user", "claude-searchbot", "perplexitybot", "perplexity-user",
		"bytespider", "meta-externalagent", "meta-externalfetcher", "cohere-ai",
		// Previews of links.
		"facebookexternalhit", "facebot", "twitterbot", "linkedinbot", "pinterestbot", "slackbot", "discordbot", "telegrambot",
		"redditbot", "skypeuripreview", "vkshare",
		// Tools of search engine optimisers.
		"ahrefsbot", "semrushbot", "mj12bot", "dotbot", "dataforseobot", "blexbot", "rogerbot",
	}},
}

// byName has the operator of each crawler.
var byName = func() map[string]*operator {
	all := map[string]*operator{}
	for i := range operators {
		for _, name := range operators[i].crawlers {
			all[name] = &operators[i]
		}
	}
	return all
}()

// Declared says whether a User-Agent names a crawler.
func Declared(userAgent string) bool { return operatorOf(userAgent) != nil }

// operatorOf returns whose crawler a User-Agent names, or nil. It looks at the User-Agent word by
// word.
func operatorOf(userAgent string) *operator {
	for begin := 0; begin < len(userAgent); {
		if !inWord(userAgent[begin]) {
			begin++
			continue
		}
		end := begin + 1
		for end < len(userAgent) && inWord(userAgent[end]) {
			end++
		}
		if o := operatorNamed(userAgent[begin:end]); o != nil {
			return o
		}
		begin = end
	}
	return nil
}

func inWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '.'
}

// longest is the length that no word of the list exceeds.
const longest = 32

// operatorNamed returns the operator of the crawler that a word names: the word itself, or what is
// before one of its dashes.
func operatorNamed(word string) *operator {
	var buf [longest]byte
	n := min(len(word), longest)
	for i := range n {
		buf[i] = word[i]
		if 'A' <= word[i] && word[i] <= 'Z' {
			buf[i] += 'a' - 'A'
		}
		if i+1 == len(word) || word[i+1] == '-' {
			if o := byName[string(buf[:i+1])]; o != nil {
				return o
			}
		}
	}
	return nil
}

// ownerOf returns the operator who has a machine of the name, or nil.
func ownerOf(host string) *operator {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	for i := range operators {
		for _, pattern := range operators[i].hosts {
			if ok, _ := path.Match(pattern, host); ok {
				return &operators[i]
			}
		}
	}
	return nil
}
