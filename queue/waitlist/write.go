package waitlist

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// mostJobs is how many jobs share a transaction.
const mostJobs = 256

// job is a change that somebody waits for.
type job struct {
	now  int64
	do   func(*tx) error
	done chan error
}

// tx is a transaction on one waitlist. It begins by taking the list's row, so that the transactions of a list follow one another,
// on all nodes. The counters of the row are in memory meanwhile.
type tx struct {
	ctx      context.Context
	on       runner
	list     string
	settings *Settings
	now      int64 // of the job, in milliseconds since 1970
	version  int64

	paused                        int64 // 1 if it is
	held, accepted, expired       int64
	lastEntry, lastSpot, lastMail int64
}

// write does a job and returns when its transaction is durable. Jobs that come at the same time share a transaction. An error of
// do takes back what its job did, and no other. A refusal that has to leave traces is no error of do: it is told otherwise.
func (l *List) write(ctx context.Context, now time.Time, do func(*tx) error) error {
	j := &job{now: now.UnixMilli(), do: do, done: make(chan error, 1)}
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
			l.commit(l.gather(j))
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

// commit writes the jobs together. If one of them fails, each is done again alone. What a commit that failed has done is not
// known, so nothing is done again then.
func (l *List) commit(batch []*job) {
	err := l.transact(batch)
	if errors.As(err, &failed{}) && len(batch) > 1 {
		for _, j := range batch {
			l.commit([]*job{j})
		}
		return
	}
	if err == nil {
		// If it fails here, the next one reads the same changes again.
		_ = l.Follow(context.Background())
	}
	for _, j := range batch {
		j.done <- err
	}
}

func (l *List) transact(batch []*job) error {
	return l.db.inTransaction(context.Background(), func(ctx context.Context, on runner) error {
		t := &tx{ctx: ctx, on: on, list: l.name, settings: l.settings.Load()}
		if err := t.begin(); err != nil {
			return fmt.Errorf("taking waitlist %s: %w", l.name, err)
		}
		for _, j := range batch {
			t.now = max(t.now, j.now)
			if err := j.do(t); err != nil {
				return err
			}
		}
		return t.end()
	})
}

func (t *tx) begin() error {
	return t.must(`UPDATE waitlists SET version = version + 1 WHERE name = $1
		RETURNING version, paused, held, accepted, expired, last_entry, last_spot, last_mail`, []any{t.list},
		&t.version, &t.paused, &t.held, &t.accepted, &t.expired, &t.lastEntry, &t.lastSpot, &t.lastMail)
}

// end gives the spots that have become free to the next, and writes the counters.
func (t *tx) end() error {
	if err := t.fill(); err != nil {
		return err
	}
	return t.exec(`UPDATE waitlists SET paused = $2, held = $3, accepted = $4, expired = $5, last_entry = $6, last_spot = $7, last_mail = $8
		WHERE name = $1`, t.list, t.paused, t.held, t.accepted, t.expired, t.lastEntry, t.lastSpot, t.lastMail)
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
