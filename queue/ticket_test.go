package queue_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/queue"
)

var waitingTicket = queue.Ticket{
	State: queue.Waiting, ID: queue.ID{1, 2, 3, 15: 9}, LastCheckIn: start + 20_001, ArrivedAt: start + 1, RefreshInterval: 17_123 * time.Millisecond,
}

var lineTicket = queue.Ticket{
	State: queue.Waiting, ID: queue.ID{1, 2, 3, 15: 9}, LastCheckIn: start + 20_001, ArrivedAt: start + 1, RefreshInterval: 17_123 * time.Millisecond,
	Number: 412, Priority: -3,
}

var acceptedTicket = queue.Ticket{
	State: queue.Accepted, ID: queue.ID{1, 2, 3, 15: 9}, LastCheckIn: start + 20_001, AcceptedAt: start + 20_000, Expires: start + 320_001,
}

var leasedTicket = queue.Ticket{
	State: queue.Accepted, ID: queue.ID{1, 2, 3, 15: 9}, LastCheckIn: start + 20_001, AcceptedAt: start + 20_000, Expires: start + 80_000,
	Leased: true, ArrivedAt: start + 1, Number: 412,
}

func TestTicketSurvivesItsBinaryForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		instant := rapid.Map(rapid.Int64Range(0, 1<<48-1), func(i int64) queue.Instant { return queue.Instant(i) })
		want := queue.Ticket{State: queue.Waiting, LastCheckIn: instant.Draw(t, "last")}
		copy(want.ID[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
		if rapid.Bool().Draw(t, "accepted") {
			want.State, want.AcceptedAt, want.Expires = queue.Accepted, instant.Draw(t, "at"), instant.Draw(t, "expires")
			want.Uncounted = rapid.Bool().Draw(t, "uncounted")
			want.Leased = rapid.Bool().Draw(t, "leased")
		} else {
			want.AcceptedAt = instant.Draw(t, "gone back")
			want.RefreshInterval = time.Duration(rapid.Uint32().Draw(t, "interval")) * time.Millisecond
		}
		if want.State == queue.Waiting || want.Leased {
			want.ArrivedAt, want.CameAt = instant.Draw(t, "arrived"), instant.Draw(t, "came")
			if want.Number = rapid.Uint64Range(0, 1<<48-1).Draw(t, "number"); want.Number != 0 {
				want.Priority = rapid.Int16().Draw(t, "priority")
			}
		}
		want.Moved = rapid.Uint8().Draw(t, "moved")
		b, err := want.AppendBinary([]byte("before"))
		require.NoError(t, err)
		require.True(t, bytes.HasPrefix(b, []byte("before")))
		var got queue.Ticket
		require.NoError(t, got.UnmarshalBinary(b[len("before"):]))
		require.Equal(t, want, got)
	})
}

func TestTicketIsSmall(t *testing.T) {
	for _, c := range []struct {
		ticket queue.Ticket
		bytes  int
	}{{waitingTicket, 34}, {lineTicket, 42}, {acceptedTicket, 36}, {leasedTicket, 50}} {
		b, err := c.ticket.AppendBinary(nil)
		require.NoError(t, err)
		assert.Len(t, b, c.bytes)
	}
}

func TestTicketThatCannotBeWrittenIsAnError(t *testing.T) {
	with := func(t queue.Ticket, change func(*queue.Ticket)) queue.Ticket {
		change(&t)
		return t
	}
	for name, ticket := range map[string]queue.Ticket{
		"no state":                    {},
		"an unknown state":            {State: 9},
		"a check-in before 1970":      with(waitingTicket, func(t *queue.Ticket) { t.LastCheckIn = -1 }),
		"an arrival too far ahead":    with(waitingTicket, func(t *queue.Ticket) { t.ArrivedAt = 1 << 48 }),
		"an end too far ahead":        with(acceptedTicket, func(t *queue.Ticket) { t.Expires = 1 << 48 }),
		"an acceptance before 1970":   with(acceptedTicket, func(t *queue.Ticket) { t.AcceptedAt = -1 }),
		"an interval below none":      with(waitingTicket, func(t *queue.Ticket) { t.RefreshInterval = -time.Second }),
		"an interval of many weeks":   with(waitingTicket, func(t *queue.Ticket) { t.RefreshInterval = 1000 * 24 * time.Hour }),
		"a waiting one not counted":   with(waitingTicket, func(t *queue.Ticket) { t.Uncounted = true }),
		"a number too high":           with(lineTicket, func(t *queue.Ticket) { t.Number = 1 << 48 }),
		"a number of one let in":      with(acceptedTicket, func(t *queue.Ticket) { t.Number = 1 }),
		"a waiting one leased":        with(waitingTicket, func(t *queue.Ticket) { t.Leased = true }),
		"an interval with fine grain": with(waitingTicket, func(t *queue.Ticket) { t.RefreshInterval = time.Second + time.Microsecond }),
	} {
		_, err := ticket.AppendBinary(nil)
		assert.Error(t, err, name)
	}
}

func TestTicketOfAnotherFormIsAnError(t *testing.T) {
	waiting, err := waitingTicket.AppendBinary(nil)
	require.NoError(t, err)
	accepted, err := acceptedTicket.AppendBinary(nil)
	require.NoError(t, err)
	placed, err := lineTicket.AppendBinary(nil)
	require.NoError(t, err)
	changed := func(b []byte, at int, to byte) []byte {
		b = bytes.Clone(b)
		b[at] = to
		return b
	}
	for name, b := range map[string][]byte{
		"nothing":              nil,
		"a version alone":      {1},
		"another version":      changed(waiting, 0, 2),
		"no state":             changed(waiting, 1, 0),
		"an unknown state":     changed(waiting, 1, 3),
		"an unknown flag":      changed(accepted, 1, 0x06),
		"let in, with a draw":  changed(accepted, 1, 0x0a),
		"drawn, and not when":  append(changed(waiting, 1, 0x09), make([]byte, 6)...),
		"leased, no place":     changed(accepted, 1, 0x12),
		"gone back from none":  append(changed(waiting, 1, 0x11), make([]byte, 6)...),
		"let in, with a place": changed(accepted, 1, 0x42),
		"no number, flagged":   changed(waiting, 1, 0x41),
		"a number, unflagged":  changed(placed, 1, 1),
		"the number none":      append(bytes.Clone(placed[:34]), make([]byte, 8)...),
		"waiting, not counted": changed(waiting, 1, 0x81),
		"another's length":     changed(waiting, 1, 2),
		"one byte short":       waiting[:len(waiting)-1],
		"one byte long":        append(bytes.Clone(accepted), 0),
	} {
		var ticket queue.Ticket
		assert.Error(t, ticket.UnmarshalBinary(b), name)
		assert.Zero(t, ticket, name)
	}
}

func TestIDIsShownInHexadecimal(t *testing.T) {
	assert.Equal(t, "01020300000000000000000000000009", waitingTicket.ID.String())
}

func FuzzTicket(f *testing.F) {
	for _, ticket := range []queue.Ticket{waitingTicket, lineTicket, acceptedTicket} {
		b, err := ticket.AppendBinary(nil)
		require.NoError(f, err)
		f.Add(b)
		f.Add(b[:len(b)/2])
	}
	f.Add([]byte{1, 0x82})
	f.Fuzz(func(t *testing.T, b []byte) {
		var ticket queue.Ticket
		if ticket.UnmarshalBinary(b) != nil {
			return
		}
		again, err := ticket.AppendBinary(nil)
		require.NoError(t, err)
		require.Equal(t, b, again)
	})
}

// BenchmarkTicket is the binary form, which a codec encrypts.
func BenchmarkTicket(b *testing.B) {
	b.Run("encode", func(b *testing.B) {
		buffer := make([]byte, 0, 64)
		b.ReportAllocs()
		for b.Loop() {
			_, err := waitingTicket.AppendBinary(buffer)
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode", func(b *testing.B) {
		form, err := waitingTicket.AppendBinary(nil)
		require.NoError(b, err)
		var t queue.Ticket
		b.ReportAllocs()
		for b.Loop() {
			if err := t.UnmarshalBinary(form); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func TestReadingAndWritingATicketDoesNotAllocate(t *testing.T) {
	buffer := make([]byte, 0, 64)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		b, _ := waitingTicket.AppendBinary(buffer)
		var ticket queue.Ticket
		_ = ticket.UnmarshalBinary(b)
	}))
}
