package templates_test

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/templates"
)

func codes(t testing.TB) []string {
	t.Helper()
	list, err := templates.LanguageCodes()
	require.NoError(t, err)
	return list
}

func languages(t testing.TB, defaultCode string) *templates.Languages {
	t.Helper()
	l, err := templates.NewLanguages(defaultCode)
	require.NoError(t, err)
	return l
}

func TestThereAreAllLanguages(t *testing.T) {
	want := strings.Fields(`en-US es-ES de-DE fr-FR it-IT ja-JP ko-KR pt-BR zh-CN zh-TW nl-NL pl-PL id-ID
		tr-TR ar-EG ru-RU fa-IR bg-BG hr-HR cs-CZ da-DK fi-FI lt-LT ms-MY nb-NO ro-RO el-GR he-IL hi-IN
		hu-HU sr-BA sk-SK sl-SI sv-SE tl-PH th-TH uk-UA vi-VN`)
	slices.Sort(want)
	assert.Equal(t, want, codes(t))
}

func TestEveryLanguageHasEveryStringWithTheSameVariables(t *testing.T) {
	texts, err := templates.Texts()
	require.NoError(t, err)
	english := texts["en-US"]
	variables := func(s string) []string {
		found := regexp.MustCompile(`\{\w+\}`).FindAllString(strings.ReplaceAll(s, "Ordinal}", "}"), -1)
		slices.Sort(found)
		return found
	}
	for code, text := range texts {
		assert.NotEmpty(t, text.Language, code)
		assert.Contains(t, []string{"ltr", "rtl"}, text.Dir, code)
		for _, section := range [][2]map[string]string{{english.Page, text.Page}, {english.Guests, text.Guests}, {english.Passes, text.Passes}} {
			original, translated := section[0], section[1]
			assert.Len(t, translated, len(original), code)
			for key, s := range original {
				assert.NotEmpty(t, strings.TrimSpace(translated[key]), "%s: %s", code, key)
				assert.Equal(t, variables(s), variables(translated[key]), "%s: %s", code, key)
				assert.NotContains(t, translated[key], "{{", "%s: %s", code, key)
			}
		}
		for key := range text.Guests {
			assert.NotContains(t, text.Page, key, "%s: a key is in one section", code)
		}
		assert.Len(t, text.Problems, len(english.Problems), code)
		for key := range english.Problems {
			assert.NotEmpty(t, text.Problems[key].Title, "%s: %s", code, key)
			assert.NotEmpty(t, text.Problems[key].Detail, "%s: %s", code, key)
		}
	}
}

func TestEveryLanguageLeavesOutMinutesThatAreZero(t *testing.T) {
	said := regexp.MustCompile(`<p id="wait" class="number">([^<]*)</p>`)
	for _, code := range codes(t) {
		wholeHours, hours := said.FindStringSubmatch(pageOf(t, code, "fifo, whole hours")), said.FindStringSubmatch(pageOf(t, code, "fifo, hours"))
		require.Len(t, wholeHours, 2, code)
		require.Len(t, hours, 2, code)
		assert.Regexp(t, `^[^0-9]*2[^0-9]*$`, wholeHours[1], code)
		assert.Regexp(t, `^[^0-9]*1[^0-9]*35[^0-9]*$`, hours[1], code)
		assert.NotContains(t, hours[1]+wholeHours[1], "[", code)
		before, _, _ := strings.Cut(hours[1], "35")
		assert.Contains(t, before, strings.Replace(wholeHours[1], "2", "1", 1), code)
	}
}

func TestNoStringWasLeftInEnglish(t *testing.T) {
	texts, err := templates.Texts()
	require.NoError(t, err)
	english := texts["en-US"]
	for code, text := range texts {
		if code == "en-US" {
			continue
		}
		for _, section := range [][2]map[string]string{{english.Page, text.Page}, {english.Guests, text.Guests}, {english.Passes, text.Passes}} {
			for key, s := range section[1] {
				assert.NotEqual(t, section[0][key], s, "%s: %s", code, key)
			}
		}
		for key, p := range text.Problems {
			assert.NotEqual(t, english.Problems[key], p, "%s: %s", code, key)
		}
	}
}

func TestTheLanguageIsTheOneThatTheVisitorReads(t *testing.T) {
	cases := map[string]string{
		"":                                    "it-IT",
		"de":                                  "de-DE",
		"de-CH":                               "de-DE",
		"de-AT,de;q=0.9,en;q=0.8":             "de-DE",
		"en-GB,en;q=0.9":                      "en-US",
		"EN-us":                               "en-US",
		"es-MX":                               "es-ES",
		"es-419,es;q=0.9":                     "es-ES",
		"pt-BR":                               "pt-BR",
		"zh-CN":                               "zh-CN",
		"zh-Hans":                             "zh-CN",
		"zh":                                  "zh-CN",
		"zh-TW":                               "zh-TW",
		"zh-Hant":                             "zh-TW",
		"zh-HK":                               "zh-TW",
		"no":                                  "nb-NO",
		"nb":                                  "nb-NO",
		"fil":                                 "tl-PH",
		"tl":                                  "tl-PH",
		"iw":                                  "he-IL",
		"in":                                  "id-ID",
		"sr":                                  "sr-BA",
		"ar":                                  "ar-EG",
		"ar-SA":                               "ar-EG",
		"fr;q=0.5, nl;q=0.7":                  "nl-NL",
		"ca, es;q=0.5":                        "es-ES",
		"fr;q=0, sv;q=0.1":                    "sv-SE",
		"xx-nonsense-everywhere, pl;q=0.4":    "pl-PL",
		"fr;q=x, pl":                          "pl-PL",
		"tlh":                                 "it-IT",
		"*":                                   "it-IT",
		"*;q=0.5":                             "it-IT",
		"de;q=0":                              "it-IT",
		"de;q=nan":                            "it-IT",
		";;;,,,=":                             "it-IT",
		"\x00\xff":                            "it-IT",
		strings.Repeat("a", 100_000):          "it-IT",
		strings.Repeat("de-DE,", 2000):        "de-DE",
		strings.Repeat("-", 5000):             "it-IT",
		strings.Repeat("x", 300) + ",de":      "it-IT",
		"ko," + strings.Repeat("x-y-z,", 500): "ko-KR",
	}
	l := languages(t, "it-IT")
	for header, want := range cases {
		assert.Equal(t, want, l.Match(header), "%.40q", header)
		assert.Equal(t, want, l.Match(header), "%.40q, remembered", header)
	}
}

func TestEveryLanguageMatchesItself(t *testing.T) {
	l := languages(t, "")
	assert.Equal(t, "en-US", l.Default())
	for _, code := range codes(t) {
		assert.Equal(t, code, l.Match(code))
		short, _, _ := strings.Cut(code, "-")
		if short != "zh" {
			assert.Equal(t, code, l.Match(short+";q=0.9,*;q=0.1"))
		}
		assert.Equal(t, code, languages(t, code).Match("x-none"), "as the default")
	}
}

func TestAnUnknownDefaultLanguageIsRefused(t *testing.T) {
	_, err := templates.NewLanguages("de-CH")
	assert.ErrorContains(t, err, `unknown language "de-CH"; did you mean "de-DE"?`)
	_, err = templates.NewSet(templates.Options{DefaultLanguage: "klingon"})
	assert.ErrorContains(t, err, `unknown language "klingon"; there are ar-EG, bg-BG`)
}

func TestARememberedLanguageCostsNoAllocation(t *testing.T) {
	l := languages(t, "")
	const header = "de-AT,de;q=0.9,en;q=0.8"
	l.Match(header)
	assert.Zero(t, testing.AllocsPerRun(100, func() { l.Match(header) }))
}

func TestLanguagesAreMatchedConcurrently(t *testing.T) {
	l := languages(t, "")
	want := map[string]string{}
	for _, code := range codes(t) {
		for _, tail := range []string{"", ";q=0.9", ",en;q=0.1", ",*;q=0.1", ", xx;q=0.3"} {
			want[code+tail] = code
		}
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for header, code := range want {
				assert.Equal(t, code, l.Match(header))
			}
		})
	}
	wait.Wait()
}

func FuzzAcceptLanguage(f *testing.F) {
	for _, seed := range []string{"de", "*", "en-US,en;q=0.5", "zh-Hant-HK;q=1", ",,;q=", strings.Repeat("a-b,", 100)} {
		f.Add(seed)
	}
	l := languages(f, "fi-FI")
	known := codes(f)
	f.Fuzz(func(t *testing.T, header string) {
		code := l.Match(header)
		require.Contains(t, known, code)
		require.Equal(t, code, l.Match(header))
	})
}

func BenchmarkMatch(b *testing.B) {
	l := languages(b, "")
	b.ReportAllocs()
	for b.Loop() {
		l.Match("de-AT,de;q=0.9,en-US;q=0.8,en;q=0.7")
	}
}
