package mail_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/guests/mail"
)

func TestEveryLanguageHasEveryStringWithTheSamePlaceholders(t *testing.T) {
	files, err := os.ReadDir("lang")
	require.NoError(t, err)
	assert.Len(t, files, len(codes()), "the languages of package templates, and no others")
	english := must(mail.Strings("en-US"))
	placeholders := func(s string) []string {
		found := regexp.MustCompile(`\{\w*\}`).FindAllString(s, -1)
		slices.Sort(found)
		return found
	}
	for name, want := range map[string][]string{
		"confirm text": {"{siteName}"}, "place text": {"{siteName}"}, "invite text": {"{siteName}"},
		"confirm more": {"{until}"}, "invite more": {"{until}"}, "place more": nil,
	} {
		assert.Equal(t, want, placeholders(english[name]), name)
	}
	for _, code := range codes() {
		said, err := mail.Strings(code)
		require.NoError(t, err)
		for name, s := range english {
			assert.NotEmpty(t, strings.TrimSpace(said[name]), "%s: %s", code, name)
			assert.Equal(t, placeholders(s), placeholders(said[name]), "%s: %s", code, name)
			if code != "en-US" {
				assert.NotEqual(t, s, said[name], "%s: %s was left in English", code, name)
			}
		}
	}
}

// What a template can say is told in no other document.
func TestThePageOfMailsNamesTheVariables(t *testing.T) {
	text, err := os.ReadFile("../../../cmd/fairdoor/docs/mails.md")
	require.NoError(t, err)
	for _, name := range mail.Variables("confirm") {
		assert.Contains(t, string(text), "`"+name+"`")
	}
}
