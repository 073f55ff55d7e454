package room_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// holder is somebody with a pass.
type holder struct {
	id     queue.ID
	ahead  queue.Ahead
	ticket queue.Ticket
}

func newHolder(name string, a queue.Ahead) *holder {
	return &holder{id: room.SubjectID("shop", name), ahead: a}
}

// comes brings what the holder has, and keeps what they get.
func (d *door) comes(h *holder) room.Decision {
	got := d.room.Visit(context.Background(), d.now.Time(), room.Request{Ticket: h.ticket, Subject: h.id, Ahead: h.ahead})
	if got.Issue {
		h.ticket = got.Ticket
	}
	return got
}

// crowd has people join and come back once.
func (d *door) crowd(n int) []queue.Ticket {
	tickets := make([]queue.Ticket, n)
	for i := range tickets {
		tickets[i] = d.arrive().Ticket
		d.now = d.now.Add(10 * time.Millisecond)
	}
	d.pass(interval + time.Second)
	for i := range tickets {
		tickets[i] = d.visit(tickets[i]).Ticket
	}
	d.pass(time.Second)
	return tickets
}

func inOrder(m queue.Method) queue.Settings {
	s := settings(1, 1000)
	s.Method, s.SessionDuration, s.DisableSessionRenewal = m, 30*time.Second, true
	return s
}

func TestAPassPutsItsVisitorAheadOfTheLine(t *testing.T) {
	for _, m := range []queue.Method{queue.FIFO, queue.Line} {
		t.Run(m.String(), func(t *testing.T) {
			d := full(t, inOrder(m))
			people := d.crowd(5)
			line, all := newHolder("line", queue.AheadOfLine), newHolder("all", queue.AheadOfAll)
			require.Equal(t, room.Queued, d.comes(line).Outcome, "no slot is open")
			require.Equal(t, room.Queued, d.comes(all).Outcome)
			d.pass(8 * time.Second) // the session ends
			for i := range people {
				require.Equal(t, room.Queued, d.visit(people[i]).Outcome)
			}
			require.Equal(t, room.Queued, d.comes(line).Outcome, "somebody is ahead of all")
			require.Equal(t, room.Admitted, d.comes(all).Outcome)
			for d.comes(line).Outcome != room.Admitted {
				d.pass(time.Second)
				for i := range people {
					got := d.visit(people[i])
					people[i] = got.Ticket
					require.Equal(t, room.Queued, got.Outcome)
				}
			}

			d.pass(31 * time.Second)
			assert.Equal(t, room.Admitted, d.comes(all).Outcome, "a pass that lasts puts its visitor ahead again")
		})
	}
}

func TestAPassLetsItsVisitorInAtOnceWhereASlotIsOpen(t *testing.T) {
	for _, m := range []queue.Method{queue.FIFO, queue.Line} {
		t.Run(m.String(), func(t *testing.T) {
			d := full(t, inOrder(m))
			people := d.crowd(3)
			d.pass(8 * time.Second) // nobody has come for the open slot yet
			require.Equal(t, room.Queued, d.arrive().Outcome)
			assert.Equal(t, room.Admitted, d.comes(newHolder("all", queue.AheadOfAll)).Outcome)
			assert.Equal(t, room.Queued, d.visit(people[0]).Outcome)
		})
	}
}

func TestInRandomAPassDrawsEverySecond(t *testing.T) {
	d := full(t, inOrder(queue.Random))
	d.crowd(3)
	h := newHolder("all", queue.AheadOfAll)
	got := d.comes(h)
	require.Equal(t, room.Queued, got.Outcome)
	assert.Equal(t, time.Second, got.Ticket.RefreshInterval)
	d.pass(8 * time.Second)
	assert.Equal(t, room.Admitted, d.comes(h).Outcome)
}

// However many come with passes, they take half of the admissions, and the others go on.
func TestPassesLeaveHalfOfTheAdmissionsToOthers(t *testing.T) {
	for _, m := range []queue.Method{queue.FIFO, queue.Line} {
		t.Run(m.String(), func(t *testing.T) {
			s := settings(10, 60)
			s.Method, s.SessionDuration, s.DisableSessionRenewal, s.RefreshInterval, s.Pacing = m, 10*time.Second, true, 2*time.Second, queue.PacingMinute
			d := full(t, s)
			people, holders := make([]queue.Ticket, 200), make([]*holder, 200)
			for i := range people {
				people[i] = d.arrive().Ticket
			}
			d.pass(time.Second)
			for i := range holders {
				holders[i] = newHolder(fmt.Sprint(i), queue.AheadOfLine)
				d.comes(holders[i])
			}
			var with, without int
			for range 120 {
				d.pass(time.Second)
				for _, h := range holders {
					if h.ticket.State == queue.Waiting && d.comes(h).Outcome == room.Admitted {
						with++
					}
				}
				for i := range people {
					if people[i].State == queue.Waiting {
						got := d.visit(people[i])
						people[i] = got.Ticket
						if got.Outcome == room.Admitted {
							without++
						}
					}
				}
			}
			assert.Greater(t, with, 25)
			assert.Greater(t, without, 40)
			assert.Less(t, with, without+20, "half, and what the burst adds")
		})
	}
}
