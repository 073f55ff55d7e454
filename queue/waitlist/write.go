package waitlist

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// mostJobs is how many jobs share a transaction, and longestTurn how long a transaction goes on
// beginning jobs.
const mostJobs, longestTurn = 256, 2 * time.Second

// job is a change that somebody waits for, until the context ends.
type job struct {
	ctx  context.Context
	now  int64
	do   func(*tx) error
	done chan error

	skipped error // why the job was not done
}

// tx is a transaction on one waitlist. It begins by taking the list's row, so that the transactions
// of a list follow one another, on all nodes. The counters of the row are in memory meanwhile.
type tx struct {
	ctx      context.Context
	on       runner
	list     string
	settings *Settings
	mailKey  []byte // of the hashes of mailboxes
	now      int64  // of the latest job, by the database's clock, in milliseconds since 1970
	version  int64
	invited  int64 // by this transaction
	erased   bool  // it has erased personal data

	paused                  int64 // 1 if it is
	held, accepted, expired int64
	undelivered             int64
	lastEntry, lastSpot     int64
	lastMail, lastPlan      int64
	lastEvent               int64
	events                  [][]any // that the transaction is to write
}

// write does a job and returns when its transaction is durable. Jobs that come at the same time
// share a transaction. An error of do takes back what its job did, and no other. A refusal that has
// to leave traces is no error of do: it is told otherwise. If the context ends meanwhile, do may
// still run after write has returned: what do writes to is to be read only if write has succeeded.
func (l *List) write(ctx context.Context, now time.Time, do func(*tx) error) error {
	if !l.opened.Load() {
		return ErrAway
	}
	j := &job{ctx: ctx, now: l.at(now).UnixMilli(), do: do, done: make(chan error, 1)}
	select {
	case l.jobs <- j:
	case <-ctx.Done():
		return ctx.Err()
	case <-l.closing:
		return ErrClosed
	}
	select {
	case err := <-j.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// work is the one goroutine of the list that writes.
func (l *List) work() {
	defer close(l.closed)
	for {
		select {
		case j := <-l.jobs:
			for batch := l.gather(j); len(batch) > 0; {
				batch = batch[l.commit(batch):]
			}
		case <-l.closing:
			return
		}
	}
}

// gather takes the jobs that wait already.
func (l *List) gather(first *job) []*job {
	batch := []*job{first}
	for len(batch) < mostJobs {
		select {
		case j := <-l.jobs:
			batch = append(batch, j)
		default:
			return batch
		}
	}
	return batch
}

// commit writes jobs of the batch together, as many as a transaction may begin, answers them, and
// counts them. If a job fails, it and those before it are done again, each alone. What a commit
// that failed has done is not known, so nothing is done again then.
func (l *List) commit(batch []*job) (done int) {
	done, err := l.transact(batch)
	if done > 1 && errors.As(err, &failed{}) {
		l.commitEach(batch[:done])
	} else {
		l.answer(batch[:done], err)
	}
	return done
}

// commitEach writes each job in a transaction of its own. If the database fails, it fails for all
// that are left.
func (l *List) commitEach(jobs []*job) {
	for i := range jobs {
		_, err := l.transact(jobs[i : i+1])
		if err != nil && !errors.As(err, &failed{}) {
			l.answer(jobs[i:], err)
			return
		}
		l.answer(jobs[i:i+1], err)
	}
}

func (l *List) answer(jobs []*job, err error) {
	if err == nil {
		// If it fails here, the next one reads the same changes again.
		_ = l.Follow(context.Background())
	}
	for _, j := range jobs {
		j.done <- cmp.Or(j.skipped, err)
	}
}

// transact does jobs of the batch in a transaction, and counts those that it is the answer to.
func (l *List) transact(batch []*job) (done int, err error) {
	t := &tx{list: l.name, settings: l.settings.Load(), mailKey: l.mailKey}
	err = l.db.inTransaction(context.Background(), func(ctx context.Context, on runner) error {
		t.ctx, t.on = ctx, on
		if err := t.begin(); err != nil {
			done = len(batch)
			return fmt.Errorf("taking waitlist %s: %w", l.name, err)
		}
		for began := time.Now(); done < len(batch) && (done == 0 || time.Since(began) < l.db.turn); done++ {
			if err := t.do(batch[done]); err != nil {
				done++
				return err
			}
		}
		return t.end()
	})
	if err == nil && t.erased {
		l.erased.Store(true)
	}
	if done == 0 {
		done = len(batch) // there was no transaction
	}
	return done, err
}

// failed is the fault of a job, rather than of the database or of a time that has run out. The
// transaction is taken back.
type failed struct{ error }

func (f failed) Unwrap() error { return f.error }

// do does a job, unless nobody waits for it any more.
func (t *tx) do(j *job) error {
	if j.skipped = j.ctx.Err(); j.skipped != nil {
		return nil
	}
	t.now = max(t.now, j.now)
	err := j.do(t)
	if err != nil && t.ctx.Err() == nil {
		return failed{err}
	}
	return err
}

func (t *tx) begin() error {
	return t.must(`UPDATE waitlists SET version = version + 1 WHERE name = $1
		RETURNING version, paused, held, accepted, expired, undelivered, last_entry, last_spot, last_mail, last_plan, last_event`, []any{t.list},
		&t.version, &t.paused, &t.held, &t.accepted, &t.expired, &t.undelivered, &t.lastEntry, &t.lastSpot, &t.lastMail, &t.lastPlan, &t.lastEvent)
}

// end gives the spots that have become free to the next, and writes the events and the counters.
func (t *tx) end() error {
	if err := t.fill(); err != nil {
		return err
	}
	if err := t.writeEvents(); err != nil {
		return err
	}
	return t.exec(`UPDATE waitlists SET paused = $2, held = $3, accepted = $4, expired = $5, last_entry = $6, last_spot = $7, last_mail = $8,
		last_plan = $9, undelivered = $10, last_event = $11 WHERE name = $1`,
		t.list, t.paused, t.held, t.accepted, t.expired, t.lastEntry, t.lastSpot, t.lastMail, t.lastPlan, t.undelivered, t.lastEvent)
}

// count executes a statement and counts the rows that it has changed.
func (t *tx) count(query string, args ...any) (int64, error) {
	result, err := t.on.ExecContext(t.ctx, query, args...)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", query, err)
	}
	return result.RowsAffected()
}

func (t *tx) exec(query string, args ...any) error {
	_, err := t.count(query, args...)
	return err
}

// scan reads one row and reports whether there is one.
func (t *tx) scan(query string, args []any, into ...any) (found bool, err error) {
	return one(t.ctx, t.on, query, args, into...)
}

// must reads one row, which has to be there.
func (t *tx) must(query string, args []any, into ...any) error {
	found, err := t.scan(query, args, into...)
	if err == nil && !found {
		err = fmt.Errorf("%s: the row is missing", query)
	}
	return err
}

// numbers reads a column of numbers.
func (t *tx) numbers(query string, args ...any) (list []int64, err error) {
	err = each(t.ctx, t.on, query, args, func(scan func(into ...any) error) error {
		list = append(list, 0)
		return scan(&list[len(list)-1])
	})
	return list, err
}
