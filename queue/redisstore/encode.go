package redisstore

import (
	"encoding/binary"
	"math"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// reportArgs writes the report as the scripts read it.
func (s *Store) reportArgs(p *queue.Report) []any {
	args := s.headArgs(p)
	for _, n := range p.Nodes {
		args = append(args, n)
	}
	if p.Whole {
		args = append(args, packedBoundaries(p.Boundaries))
	}
	for _, c := range p.Cells {
		args = append(args, int64(c.Bucket), int64(c.Until), c.People)
	}
	for _, list := range [...][]queue.Session{p.Sessions, p.Revoked} {
		for _, session := range list {
			args = append(args, string(session.ID[:]), int64(session.Expires))
		}
	}
	for _, d := range p.Left {
		args = append(args, string(d.ID[:]), int64(d.At))
	}
	for _, list := range [...][]queue.ID{p.Unanswered, p.Told} {
		for _, id := range list {
			args = append(args, string(id[:]))
		}
	}
	for _, n := range p.Notes {
		args = append(args, string(n.ID[:]), int64(n.At), n.Text)
	}
	for _, c := range p.Priorities {
		args = append(args, string(c.ID[:]), c.Priority)
	}
	if p.Stock.Known() {
		args = append(args, string(p.Stock.Items))
	}
	return args
}

// headArgs writes the arguments that every script but configure begins with. Its numbers
// are packed, because a script reads one long argument faster than many.
func (s *Store) headArgs(p *queue.Report) []any {
	whole := 0.
	if p.Whole {
		whole = 1
	}
	numbers := [...]float64{
		float64(p.Seq), float64(p.Now), float64(p.Since), float64(p.Version), float64(s.slack.Milliseconds()), whole,
		float64(len(p.Nodes)), float64(len(p.Cells)), float64(len(p.Sessions)), float64(len(p.Revoked)),
		float64(p.Admitted.Minute), float64(p.Admitted.Visitors), float64(p.LastNumber),
		float64(len(p.Left)), float64(len(p.Unanswered)), float64(len(p.Told)), float64(len(p.Priorities)), p.Factor, float64(p.Newcomers), float64(p.Stock.At), float64(p.Stock.Left), float64(p.Final), float64(len(p.Notes)),
	}
	packed := make([]byte, 0, 8*len(numbers))
	for _, n := range numbers {
		packed = binary.BigEndian.AppendUint64(packed, math.Float64bits(n))
	}
	return append(make([]any, 0, 16), p.Node, p.Epoch, packed)
}

// packedBoundaries are boundaries as boundaries.lua keeps them.
func packedBoundaries(list queue.Boundaries) []byte {
	packed := make([]byte, 0, 16*len(list))
	for _, b := range list {
		for _, at := range [...]queue.Instant{b.At, b.Settles} {
			packed = binary.BigEndian.AppendUint64(packed, math.Float64bits(float64(at)))
		}
	}
	return packed
}

// packedClaim is a claim as admit.lua reads it: the id, instants and the number in 6 bytes
// each, the priority in 2, the switches in 1.
func packedClaim(c *queue.Claim) []byte {
	b := append(make([]byte, 0, 79), c.ID[:]...)
	for _, n := range [...]uint64{
		uint64(c.Cell.Bucket), uint64(c.Cell.Until), uint64(c.Moved.Bucket), uint64(c.Moved.Until), uint64(c.Due), uint64(c.ArrivedAt), uint64(c.LastCheckIn), uint64(c.AcceptedAt),
		uint64(c.Lease.Milliseconds()), c.Number,
	} {
		b = append(b, byte(n>>40), byte(n>>32), byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	}
	b = binary.BigEndian.AppendUint16(b, uint16(c.Priority))
	switches := byte(0)
	for i, on := range [...]bool{c.Raise, c.NoSlot, c.NoPlace, c.HeldOnly, c.Renew, c.KeepCell} {
		if on {
			switches |= 1 << i
		}
	}
	return append(b, switches)
}
