// Package accesslog writes a line about requests to a gate: who sent it, what was decided and
// answered, and how long that took. The line has no cookies, no queries, and of the gate's own paths
// only what they are for: these may hold secrets.
package accesslog

import (
	"bytes"
	"cmp"
	"context"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/handover"
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/proxy/requestid"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// Config says what is written where.
type Config struct {
	To       zapcore.WriteSyncer // required
	Combined bool                // in the combined format of Apache and nginx, not in JSON
	Sample   float64             // which part of the requests, up to 1; 0 for all
}

// Feature writes the access log of a gate.
type Feature struct {
	gate   feature.Gate
	sample float64
	core   zapcore.Core // that writes a line's message, or its fields
	lines  lines
	format func(*request) (message string, fields []zap.Field)
}

// NewFeature returns what writes an access log.
func NewFeature(g feature.Gate, c Config) *Feature {
	f := &Feature{gate: g, sample: cmp.Or(c.Sample, 1), format: inJSON, lines: lines{handover.New(func(line []byte) error {
		_, err := c.To.Write(line)
		return err
	})}}
	encoder := zapcore.NewJSONEncoder(zapcore.EncoderConfig{
		TimeKey: "time", EncodeTime: zapcore.RFC3339NanoTimeEncoder, EncodeDuration: zapcore.SecondsDurationEncoder,
	})
	if c.Combined {
		encoder, f.format = zapcore.NewConsoleEncoder(zapcore.EncoderConfig{MessageKey: "line"}), inCombined
	}
	f.core = zapcore.NewCore(encoder, f.lines, zapcore.InfoLevel)
	return f
}

// Run implements [feature.Runner]: it writes the lines.
func (f *Feature) Run(ctx context.Context) {
	f.lines.Run(ctx, f.gate.Now, func(lost int64) {
		f.gate.Log().Warn("lines of the access log are left out: they cannot be written, or not as fast as they come", zap.Int64("lines", lost))
	})
}

// lines takes lines for the goroutine that writes them.
type lines struct{ *handover.Queue[[]byte] }

// Write implements [zapcore.WriteSyncer]. It never waits.
func (l lines) Write(line []byte) (int, error) {
	l.Give(bytes.Clone(line))
	return len(line), nil
}

// Sync does nothing: no line is held back.
func (lines) Sync() error { return nil }

// Part implements [feature.Feature]: no room has a say.
func (*Feature) Part(context.Context, *feature.Setup) (feature.Part, error) { return nil, nil }

// request is one that is written about, from its beginning.
type request struct {
	feature.Noted
	in      *http.Request
	feature *Feature
	began   time.Time

	room     string // that it was for; "" for none
	decision string // about it, as the metrics have it; "" for none
	setup    *feature.Setup
	visitor  queue.ID
}

// statusUnanswered stands in a line about a request that was broken off without an answer, as nginx
// has it.
const statusUnanswered = 499

type requestKey struct{}

// Begin implements [feature.Escort].
func (f *Feature) Begin(w http.ResponseWriter, r *http.Request) (http.ResponseWriter, *http.Request, feature.Ender) {
	if rand.Float64() >= f.sample {
		return w, r, nil
	}
	of := &request{Noted: feature.Noted{ResponseWriter: w}, feature: f, began: f.gate.Now()}
	of.in = r.WithContext(context.WithValue(r.Context(), requestKey{}, of))
	return of, of.in, of
}

// End implements [feature.Ender]: it writes the line.
func (q *request) End() {
	if q.Status == 0 {
		q.Status = statusUnanswered
	}
	message, fields := q.feature.format(q)
	_ = q.feature.core.Write(zapcore.Entry{Time: q.began, Message: message}, fields) // which lines never refuses
}

// note notes what is decided about a request: where a proxy asks, about that of the visitor.
func note(r *http.Request, room string, what metrics.Result) *request {
	q, _ := r.Context().Value(requestKey{}).(*request)
	if q == nil {
		return new(request) // which nobody writes about
	}
	q.in, q.room, q.decision = r, room, what.String()
	return q
}

// Visit implements [feature.Witness].
func (f *Feature) Visit(r *http.Request, v *feature.Visit, d *room.Decision) {
	q := note(r, v.Room.Queue.Name(), v.Result(d))
	q.setup, q.visitor = v.Setup, d.Ticket.ID
}

// Aside implements [feature.Witness]: of such a request nothing is decided.
func (*Feature) Aside(*http.Request) {}

// Withheld implements [feature.Witness].
func (*Feature) Withheld(r *http.Request, by feature.Counted) { note(r, by.Of(), metrics.Withheld) }

// Exempt implements [feature.Witness].
func (*Feature) Exempt(r *http.Request, by feature.Counted) { note(r, by.Of(), metrics.Exempt) }

// Renewal implements [feature.Witness]: a line tells of the first of the rooms that are asked about.
func (f *Feature) Renewal(r *http.Request, visitors []*feature.Visit, decisions []room.Decision) {
	if len(visitors) > 0 {
		f.Visit(r, visitors[0], &decisions[0])
	}
}

// path is an address's, without what may be secret.
func path(u *url.URL) string {
	below, own := strings.CutPrefix(u.Path, feature.Paths)
	if !own {
		return u.EscapedPath()
	}
	name, _, _ := strings.Cut(below, "/")
	return feature.Paths + url.PathEscape(name)
}

// address is the visitor's.
func (q *request) address() string { return q.feature.gate.Trust().ClientAddr(q.in).String() }

// inJSON has the names by which fairdoor simulate, and tools for Caddy's and nginx's logs, know them.
func inJSON(q *request) (message string, fields []zap.Field) {
	about := requestid.Field(q.in)
	if q.setup != nil {
		about = q.setup.About(q.in, q.visitor)
	}
	return "", []zap.Field{
		zap.String("client_ip", q.address()), zap.String("method", q.in.Method), zap.String("host", q.in.Host), zap.String("uri", path(q.in.URL)), zap.String("proto", q.in.Proto),
		zap.Int("status", q.Status), zap.Int64("bytes", q.Bytes), zap.Duration("duration", q.feature.gate.Now().Sub(q.began)), zap.String("user_agent", q.in.UserAgent()),
		zap.String("room", q.room), zap.String("decision", q.decision), about,
	}
}
