package waitlist

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// columnNames are the names that columns have in the files of other programs, without all but
// letters and digits: of GetWaitlist, Viral Loops, LaunchList and Mailchimp. Viral Loops and
// LaunchList publish no list of theirs: those here are likely, and who imports is shown what is
// read from which column. Of several that a file has, the first here counts.
var columnNames = map[string][]string{
	"email":             {"email", "emailaddress", "mail"},
	"user_id":           {"userid"},
	"status":            {"status"},
	"verified":          {"verified", "emailverified", "isverified", "emailconfirmed"},
	"priority":          {"priority"},
	"position":          {"position", "waitlistposition", "currentposition", "queueposition"},
	"rank":              {"rank"},
	"referral_code":     {"referralcode", "referraltoken", "refcode", "uniquecode"},
	"language":          {"language", "locale"},
	"joined_at":         {"joinedat", "createdat", "signupdate", "signedupat", "submittedat", "submissiondate", "optintime", "signuptime", "datejoined", "datecreated", "date"},
	"confirmed_at":      {"confirmedat", "confirmtime", "verifiedat"},
	"invited_at":        {"invitedat"},
	"invite_expires_at": {"inviteexpiresat"},
	"accepted_at":       {"acceptedat"},
	"referrer":          {"referrer", "referredby", "referredbysignuptoken", "referrerreferralcode", "referrercode", "referreremail", "referredbyemail"},
	"referral":          {"referral"},
}

// Readable lists what can be read from a column.
func Readable() []string { return slices.Sorted(maps.Keys(columnNames)) }

// Columns are those of a file that is imported.
type Columns struct {
	Read    map[string]string // what is read, and the column that it is read from
	Ignored []string          // columns that are not read
	at      map[string]int
}

// has reports whether a file has something to read.
func (c *Columns) has(name string) bool {
	_, found := c.at[name]
	return found
}

// ReadColumns reads the first line of a file, and returns what an import reads from which column.
// Chosen are columns that the caller knows better: by what is read from them, the name in the file,
// or "" for none. The error is ErrColumns, or one of the reader. Where all that lacks is an email or a
// user_id, the columns are those that were found.
func ReadColumns(r io.Reader, chosen map[string]string) (Columns, error) {
	return readColumns(csv.NewReader(r), chosen)
}

func readColumns(in *csv.Reader, chosen map[string]string) (Columns, error) {
	header, err := in.Read()
	if fault := new(csv.ParseError); errors.Is(err, io.EOF) || errors.As(err, &fault) {
		return Columns{}, ErrColumns
	}
	if err != nil {
		return Columns{}, fmt.Errorf("importing CSV: %w", err)
	}
	for i, name := range header {
		header[i] = strings.TrimSpace(strings.TrimPrefix(name, "\ufeff"))
	}
	c := Columns{Read: map[string]string{}, at: map[string]int{}}
	for name, spellings := range columnNames {
		if own, is := chosen[name]; is {
			if spellings = []string{own}; own == "" {
				spellings = nil
			}
		}
		c.find(name, spellings, header)
	}
	for name, own := range chosen {
		if _, known := columnNames[name]; !known || own != "" && !c.has(name) {
			return Columns{}, fmt.Errorf("%w: %s=%s", ErrColumns, name, own)
		}
	}
	c.choose(header)
	c.ignore(header)
	if !c.has("email") && !c.has("user_id") {
		return c, ErrColumns
	}
	return c, nil
}

// find finds the column of something.
func (c *Columns) find(name string, spellings, header []string) {
	for _, spelling := range spellings {
		i := slices.IndexFunc(header, func(s string) bool { return s != "" && bare(s) == bare(spelling) })
		if i >= 0 {
			c.at[name] = i
			return
		}
	}
}

// choose takes the priority of GetWaitlist, of which 0 is the best, for the position that it is;
// and where a file says more than one thing of the order, the one that says most.
func (c *Columns) choose(header []string) {
	ofGetWaitlist := slices.ContainsFunc(header, func(s string) bool { return bare(s) == "referraltoken" })
	if ofGetWaitlist && c.has("priority") && !c.has("position") {
		c.at["position"] = c.at["priority"]
		delete(c.at, "priority")
	}
	if c.has("rank") && !c.has("priority") && !c.has("position") {
		c.at["position"] = c.at["rank"]
		delete(c.at, "rank")
	}
}

// ignore lists what is read, and what is not. A rank beside a priority follows from it, so nothing
// is lost with it.
func (c *Columns) ignore(header []string) {
	derived, hasRank := c.at["rank"]
	delete(c.at, "rank")
	read := map[int]bool{}
	for name, i := range c.at {
		c.Read[name], read[i] = header[i], true
	}
	for i, name := range header {
		if !read[i] && (!hasRank || i != derived) {
			c.Ignored = append(c.Ignored, name)
		}
	}
}

// bare is a name without all but letters and digits, in small letters.
func bare(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}
