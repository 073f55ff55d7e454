package waitlist

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// PassKind says what a pass is good for.
type PassKind string

// The kinds of passes.
const (
	PassIn    PassKind = "in"    // its holder takes the next slot
	PassAhead PassKind = "ahead" // its holder is ahead of everybody without a pass
	PassJoin  PassKind = "join"  // its holder may join the line of a room that lets in holders of passes only
)

// Pass lets people into a room, or ahead in its line: so many, each once.
type Pass struct {
	ID        string
	Room      string
	Name      string // by which operators know it; several passes may share one
	Kind      PassKind
	Uses      int // how many people may use it
	Used      int // how many have
	MadeAt    time.Time
	MadeBy    Operator
	ExpiresAt time.Time
	RevokedAt time.Time // zero unless it is
	RevokedBy Operator
	Code      string // that people type; known only when the pass is made
}

// PassUse is one person's use of a pass. The same person comes back by it until the pass expires.
type PassUse struct {
	Pass    string // the id
	Number  int    // of those of the pass, from 1
	Kind    PassKind
	Expires time.Time
}

// The bounds of passes.
const (
	MostPassUses = 100_000
	MostPasses   = 10_000 // that are made at once
)

// Passes are those of all rooms. Every call is one transaction, on all nodes: a pass is never used
// more often than it may be.
type Passes struct{ db *database }

// Passes returns the passes in the store.
func (s *Store) Passes() *Passes { return &Passes{s.db} }

// at is a time of this node's clock, by the database's, in milliseconds.
func (p *Passes) at(now time.Time) int64 {
	return now.Add(time.Duration(p.db.ahead.Load())).UnixMilli()
}

// Make makes so many passes like one, and returns them with their codes. Of the one, Room, Name,
// Kind, Uses, MadeBy and ExpiresAt count.
func (p *Passes) Make(ctx context.Context, like Pass, count int, now time.Time) ([]Pass, error) {
	made := make([]Pass, count)
	err := p.db.inTransaction(ctx, func(ctx context.Context, on runner) error {
		for i := range made {
			made[i] = like
			made[i].ID, made[i].Code, made[i].MadeAt = newPassID(), newPassCode(), when(p.at(now))
			made[i].ExpiresAt = when(like.ExpiresAt.UnixMilli())
			m := &made[i]
			if _, err := on.ExecContext(ctx, `INSERT INTO passes (id, room, name, kind, code, uses, made_at, made_by, expires_at)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, m.ID, m.Room, m.Name, string(m.Kind), hash(NormalCode(m.Code)), m.Uses,
				m.MadeAt.UnixMilli(), string(m.MadeBy), m.ExpiresAt.UnixMilli()); err != nil {
				return fmt.Errorf("writing a pass: %w", err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

// newPassID returns an id of 64 bits. It is no secret by itself.
func newPassID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// newPassCode returns a code of 60 bits, in groups of four.
func newPassCode() string {
	t := rand.Text()
	return t[:4] + "-" + t[4:8] + "-" + t[8:12]
}

// NormalCode is a code as people may type it, in one form: without dashes and spaces, in capitals,
// and with letters in the place of the digits that look like them, which no code has.
func NormalCode(typed string) string {
	return strings.NewReplacer("-", "", " ", "", "0", "O", "1", "I", "8", "B").Replace(strings.ToUpper(typed))
}

// passColumns are those that scanPass reads.
const passColumns = `id, room, name, kind, uses, used, made_at, made_by, expires_at, revoked_at, revoked_by`

func scanPass(scan func(into ...any) error) (p Pass, err error) {
	var made, expires, revoked int64
	err = scan(&p.ID, &p.Room, &p.Name, &p.Kind, &p.Uses, &p.Used, &made, &p.MadeBy, &expires, &revoked, &p.RevokedBy)
	p.MadeAt, p.ExpiresAt, p.RevokedAt = when(made), when(expires), when(revoked)
	return p, err
}

// List returns the passes of a room in the order in which they were made, after the one with that
// id, or from the first; at most so many.
func (p *Passes) List(ctx context.Context, room, after string, most int) ([]Pass, error) {
	return p.listed(ctx, `room = $1 AND ($2 = '' OR (made_at, id) > (SELECT made_at, id FROM passes WHERE id = $2)) ORDER BY made_at, id LIMIT $3`, room, after, most)
}

// Latest returns the passes of a room that were made last, the last first; at most so many.
func (p *Passes) Latest(ctx context.Context, room string, most int) ([]Pass, error) {
	return p.listed(ctx, `room = $1 ORDER BY made_at DESC, id DESC LIMIT $2`, room, most)
}

// Called returns the passes of a room that have an id, a name or a code; at most so many.
func (p *Passes) Called(ctx context.Context, room, text string, most int) ([]Pass, error) {
	return p.listed(ctx, `room = $1 AND (id = $2 OR name = $2 OR code = $3) ORDER BY made_at DESC, id DESC LIMIT $4`, room, text, hash(NormalCode(text)), most)
}

func (p *Passes) listed(ctx context.Context, condition string, values ...any) (list []Pass, err error) {
	err = each(ctx, p.db.reader, `SELECT `+passColumns+` FROM passes WHERE `+condition, values, func(scan func(into ...any) error) error {
		one, err := scanPass(scan)
		list = append(list, one)
		return err
	})
	return list, err
}

// Usable returns the pass of an id that can still be used by somebody. The error is ErrExpired for
// every other.
func (p *Passes) Usable(ctx context.Context, room, id string, now time.Time) (found Pass, err error) {
	return p.find(ctx, room, `id = $3 AND used < uses`, id, now)
}

// ByCode returns the pass of a code, as people type it. It may be used up, and still be that of
// somebody who has used it. The error is ErrExpired for a pass that has expired or was revoked, and
// for none.
func (p *Passes) ByCode(ctx context.Context, room, code string, now time.Time) (Pass, error) {
	return p.find(ctx, room, `code = $3`, hash(NormalCode(code)), now)
}

func (p *Passes) find(ctx context.Context, room, condition string, value any, now time.Time) (Pass, error) {
	found, err := Pass{}, ErrExpired
	failed := each(ctx, p.db.reader, `SELECT `+passColumns+` FROM passes WHERE room = $1 AND expires_at > $2 AND revoked_at = 0 AND `+condition,
		[]any{room, p.at(now), value}, func(scan func(into ...any) error) error {
			found, err = scanPass(scan)
			return err
		})
	if failed != nil {
		return Pass{}, failed
	}
	return found, err
}

// Use counts a use of a pass. A form that is sent again is the same use. The error is ErrExpired
// for a pass that cannot be used any more.
func (p *Passes) Use(ctx context.Context, room, id, form string, now time.Time) (u PassUse, err error) {
	u.Pass = id
	err = p.db.inTransaction(ctx, func(ctx context.Context, on runner) error {
		var expires int64
		// Taking the row first makes the uses of a pass follow one another.
		found, err := one(ctx, on, `UPDATE passes SET used = used WHERE id = $1 AND room = $2 AND expires_at > $3 AND revoked_at = 0 RETURNING kind, expires_at`,
			[]any{id, room, p.at(now)}, &u.Kind, &expires)
		if err != nil || !found {
			return refusal(err)
		}
		u.Expires = when(expires)
		if again, err := one(ctx, on, `SELECT number FROM pass_uses WHERE pass = $1 AND form = $2`, []any{id, hash(form)}, &u.Number); err != nil || again {
			return err
		}
		found, err = one(ctx, on, `UPDATE passes SET used = used + 1 WHERE id = $1 AND used < uses RETURNING used`, []any{id}, &u.Number)
		if err != nil || !found {
			return refusal(err)
		}
		_, err = on.ExecContext(ctx, `INSERT INTO pass_uses (pass, number, form, used_at) VALUES ($1, $2, $3, $4)`, id, u.Number, hash(form), p.at(now))
		return err
	})
	return u, err
}

// refusal is the error of what failed, or of a pass that cannot be used.
func refusal(err error) error {
	if err == nil {
		return ErrExpired
	}
	return err
}

// Revoke ends the passes of a room that have an id or a name. It returns them, with those that were
// revoked before, and says how many it has ended.
func (p *Passes) Revoke(ctx context.Context, room, idOrName string, by Operator, now time.Time) (named []Pass, ended int, err error) {
	const which = ` WHERE room = $1 AND (id = $2 OR name = $2)`
	err = p.db.inTransaction(ctx, func(ctx context.Context, on runner) error {
		named, ended = nil, 0
		err := each(ctx, on, `UPDATE passes SET revoked_at = $3, revoked_by = $4`+which+` AND revoked_at = 0 RETURNING id`,
			[]any{room, idOrName, p.at(now), string(by)}, func(scan func(into ...any) error) error {
				ended++
				return scan(new(string))
			})
		if err != nil {
			return err
		}
		return each(ctx, on, `SELECT `+passColumns+` FROM passes`+which, []any{room, idOrName}, func(scan func(into ...any) error) error {
			one, err := scanPass(scan)
			named = append(named, one)
			return err
		})
	})
	return named, ended, err
}

// Revoked returns the ids of the passes of a room that were revoked and have not expired.
func (p *Passes) Revoked(ctx context.Context, room string, now time.Time) (map[string]bool, error) {
	revoked := map[string]bool{}
	err := each(ctx, p.db.reader, `SELECT id FROM passes WHERE room = $1 AND revoked_at <> 0 AND expires_at > $2`, []any{room, p.at(now)},
		func(scan func(into ...any) error) error {
			var id string
			err := scan(&id)
			revoked[id] = true
			return err
		})
	p.db.heard(err)
	return revoked, err
}

// passesKept is for how long an expired pass is listed.
const passesKept = 30 * 24 * time.Hour

// Forget erases the passes of a room that have expired long ago.
func (p *Passes) Forget(ctx context.Context, room string, now time.Time) error {
	return p.db.inTransaction(ctx, func(ctx context.Context, on runner) error {
		const old = ` room = $1 AND expires_at < $2`
		for _, query := range []string{`DELETE FROM pass_uses WHERE pass IN (SELECT id FROM passes WHERE` + old + `)`, `DELETE FROM passes WHERE` + old} {
			if _, err := on.ExecContext(ctx, query, room, p.at(now.Add(-passesKept))); err != nil {
				return fmt.Errorf("erasing old passes: %w", err)
			}
		}
		return nil
	})
}
