package waitlist

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// longestText is the most bytes of a cell: the indexes of PostgreSQL take no more than 2704.
const longestText = 1000

// mostImported is the most priority that an import gives somebody, up or down: what an operator and
// Settings.ReferralMax can have given. What referrals earn here comes on top of it.
const mostImported = MostPriority + 1000

// row is a line of an import.
type row struct {
	arrival

	line     int
	position int                           // where the line has one; else the greatest number
	spot     struct{ from, expires int64 } // of somebody who has been invited
	accepted int64                         // when; 0 if the line does not say
	referrer string                        // a code or an address
	referral string                        // what has become of the referral
}

// readCells reads the cells of a line that are read.
func (c *Columns) readCells(cells []string) (map[string]string, error) {
	cell := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(c.at)) {
		text := strings.TrimSpace(cells[c.at[name]])
		if rest, ok := strings.CutPrefix(text, "'"); ok && formula(rest) {
			text = rest
		}
		switch {
		case !isText(text):
			return nil, fmt.Errorf("%s is not UTF-8", name)
		case len(text) > longestText:
			return nil, fmt.Errorf("%s has more than %d bytes", name, longestText)
		}
		cell[name] = text
	}
	return cell, nil
}

func (c *Columns) readRow(cells []string, now time.Time) (r row, err error) {
	cell, err := c.readCells(cells)
	if err != nil {
		return r, err
	}
	if r.arrival, err = (SignUp{Email: cell["email"], UserID: cell["user_id"], Language: cell["language"]}).arrival(now); err != nil {
		return r, err
	}
	if code := cell["referral_code"]; code != "" {
		r.code = code
	}
	r.referrer, r.referral = cell["referrer"], cell["referral"]
	return r, errors.Join(r.readOrder(cell), r.readTimes(cell), r.readStatus(cell, now.UnixMilli()))
}

// readOrder reads what a line says of the order.
func (r *row) readOrder(cell map[string]string) error {
	if text := cell["priority"]; text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < -math.MaxInt16 || n > math.MaxInt16 {
			return fmt.Errorf("the priority is not a number from %d to %d", -math.MaxInt16, math.MaxInt16)
		}
		r.priority = int64(max(-mostImported, min(n, mostImported)))
	}
	r.position = math.MaxInt
	if text := cell["position"]; text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			return errors.New("the position is not a whole number")
		}
		r.position = n
	}
	return nil
}

// layouts are those of times. One without a zone is in UTC.
var layouts = []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 MST", "2006-01-02 15:04", "2006-01-02"}

// parseMoment reads a time in milliseconds since 1970; 0 for "".
func parseMoment(name, text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	for _, layout := range layouts {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UnixMilli(), nil
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err == nil && len(text) == 10:
		return n * 1000, nil
	case err == nil && len(text) == 13:
		return n, nil
	}
	return 0, fmt.Errorf("%s is not a time such as 2026-11-22T10:00:00Z", name)
}

func (r *row) readTimes(cell map[string]string) error {
	joined := int64(0)
	for name, into := range map[string]*int64{
		"joined_at": &joined, "confirmed_at": &r.confirmed, "invited_at": &r.spot.from, "invite_expires_at": &r.spot.expires, "accepted_at": &r.accepted,
	} {
		at, err := parseMoment(name, cell[name])
		if err != nil {
			return err
		}
		*into = at
	}
	if joined != 0 {
		r.at = joined
	}
	return nil
}

// readStatus reads how far somebody has come. An invite without a time to accept it is none here:
// they wait.
func (r *row) readStatus(cell map[string]string, now int64) error {
	r.status = Status(strings.ToLower(cell["status"]))
	switch verified := strings.ToLower(cell["verified"]); {
	case r.status == "" && (verified == "false" || verified == "no" || verified == "0"):
		r.status = Unconfirmed
	case r.status == "", r.status == Invited && r.spot.expires == 0:
		r.status = Waiting
	case r.status == Invited && r.spot.expires <= now:
		r.status = Expired
	}
	if !slices.Contains([]Status{Unconfirmed, Waiting, Invited, Accepted, Expired}, r.status) {
		return fmt.Errorf("an entry cannot be imported as %s", r.status)
	}
	return nil
}
