package mail

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"

	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

//go:embed lang/*.json
var languageFiles embed.FS

// words are those of the mails in one language, as its file in lang has them. Names in braces are
// replaced: {siteName} in each Text, and {until}, the time until which the link works, in More of
// kinds that have one.
type words struct {
	Dir     string `json:"dir"` // "ltr" or "rtl"
	Confirm phrase `json:"confirm"`
	Place   phrase `json:"place"`
	Invite  phrase `json:"invite"`
	Address string `json:"address"` // what stands before the link in text
	Leave   string `json:"leave"`   // to leave the list
}

// phrase is what a mail of one kind says.
type phrase struct {
	Title  string `json:"title"`
	Text   string `json:"text"`
	Button string `json:"button"`
	More   string `json:"more"`
}

// of returns what a mail of a kind says.
func (w words) of(kind waitlist.MailKind) phrase {
	switch kind {
	case waitlist.MailConfirm:
		return w.Confirm
	case waitlist.MailInvite:
		return w.Invite
	default:
		return w.Place
	}
}

// readWords reads the words of a language.
func readWords(code string) (w words, err error) {
	source, err := languageFiles.ReadFile("lang/" + code + ".json")
	if err != nil {
		return words{}, fmt.Errorf("reading the words of mails: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(source))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&w); err != nil {
		return words{}, fmt.Errorf("reading the words of mails in %s: %w", code, err)
	}
	return w, nil
}
