package accesslog

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/crawler"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/simulate"
)

// Log is what logs held. Its JSON has the fields as tagged here.
type Log struct {
	Lines   int      `json:"lines"` // that are not empty
	Skipped int      `json:"skipped"`
	Reasons []string `json:"reasons,omitempty"` // of the first few that were skipped

	LeftOut struct {
		Parts    int `json:"parts_of_pages"`
		Crawlers int `json:"crawlers"`
		Probes   int `json:"probes"` // HEAD, OPTIONS and the like
		Exempt   int `json:"exempt"` // robots.txt, health checks, the gate's own paths
	} `json:"left_out"`

	Visitors int       `json:"visitors"`
	Visits   int       `json:"visits"`
	Unnamed  int       `json:"without_user_agent"` // requests of visitors that had none
	From     time.Time `json:"from"`               // the first and the last request of visitors
	Until    time.Time `json:"until"`

	Active    Peak `json:"most_active"`     // sessions at a time
	PerMinute Peak `json:"most_per_minute"` // visits that began in a calendar minute

	Stays []simulate.Stay `json:"-"` // from the beginning of the minute in which the first came
}

// Peak is the most that there was of something, and when.
type Peak struct {
	Count int       `json:"count"`
	At    time.Time `json:"at"`
}

// Reader finds the visits in logs.
type Reader struct {
	log      Log
	settings queue.Settings
	exempt   *route.Rules
	visits   *visits
	coarse   bool // all times are whole seconds
}

// NewReader returns a reader whose visits are over when a session of the settings would be.
func NewReader(s queue.Settings) (*Reader, error) {
	var names []route.Preset
	for _, name := range route.Preset("").Choices() {
		names = append(names, route.Preset(name))
	}
	exempt, err := route.NewRules(names, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("making the rules of exempt requests: %w", err)
	}
	return &Reader{settings: s, exempt: exempt, visits: newVisits(s.SessionDuration.Milliseconds()), coarse: true}, nil
}

// maxReasons is how many reasons are told why lines are skipped.
const maxReasons = 5

// Read reads a log, which has a name for people. It fails if in does, and not for lines that
// cannot be read.
func (r *Reader) Read(name string, in io.Reader) error {
	err := Scan(in, func(number int, l Line, fault error) {
		r.log.Lines++
		if fault == nil {
			r.add(l)
			return
		}
		if r.log.Skipped++; len(r.log.Reasons) < maxReasons {
			r.log.Reasons = append(r.log.Reasons, fmt.Sprintf("%s, line %d: %v", name, number, fault))
		}
	})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// add takes up a line, unless it is left out.
func (r *Reader) add(l Line) {
	out := &r.log.LeftOut
	switch {
	case !comes(l.Method):
		out.Probes++
	case crawler.Declared(l.UserAgent):
		out.Crawlers++
	case r.isExempt(l):
		out.Exempt++
	case isPart(l.Target):
		out.Parts++
	default:
		r.visit(l)
	}
}

// visit takes up a visitor's request.
func (r *Reader) visit(l Line) {
	if l.UserAgent == "" {
		r.log.Unnamed++
	}
	if r.log.From.IsZero() || l.At.Before(r.log.From) {
		r.log.From = l.At
	}
	if l.At.After(r.log.Until) {
		r.log.Until = l.At
	}
	r.coarse = r.coarse && l.At.Nanosecond() == 0
	hash := fnv.New64a()
	_, _ = io.WriteString(hash, l.Address+"\x00"+l.UserAgent) // a hash takes everything
	r.visits.add(hash.Sum64(), l.At.UnixMilli())
}

// comes says whether somebody who sends a request of the method is a visitor.
func comes(method string) bool {
	switch method {
	case "GET", "POST", "PUT", "PATCH", "DELETE":
		return true
	}
	return false
}

func (r *Reader) isExempt(l Line) bool {
	if strings.HasPrefix(l.Target, "/.fairdoor/") {
		return true
	}
	_, ok := r.exempt.Match(route.Request{Target: l.Target, Method: l.Method})
	return ok
}

// partSuffixes are those of files that browsers fetch for a page.
var partSuffixes = []string{
	".avif", ".bmp", ".css", ".eot", ".gif", ".ico", ".jpeg", ".jpg", ".js", ".m3u8", ".m4s", ".map", ".mjs", ".mp3", ".mp4", ".ogg", ".otf",
	".png", ".svg", ".ts", ".ttf", ".vtt", ".wasm", ".wav", ".webm", ".webmanifest", ".webp", ".woff", ".woff2",
}

// isPart says whether a target is that of a part of a page.
func isPart(target string) bool {
	file, _, _ := strings.Cut(target, "?")
	_, found := slices.BinarySearch(partSuffixes, strings.ToLower(path.Ext(file)))
	return found
}

// Log returns what the logs held.
func (r *Reader) Log() *Log {
	visits := r.visits.inOrder()
	l := &r.log
	l.Visitors, l.Visits = r.visits.visitors(), len(visits)
	if len(visits) == 0 {
		return l
	}
	start := l.From.Truncate(time.Minute).UnixMilli()
	l.Stays = make([]simulate.Stay, len(visits))
	for i, v := range visits {
		at := v.first - start
		if r.coarse { // spread over the second
			at += int64(v.visitor % 1000)
		}
		l.Stays[i] = simulate.Stay{At: time.Duration(at) * time.Millisecond, For: time.Duration(v.last-v.first) * time.Millisecond}
	}
	slices.SortFunc(l.Stays, func(a, b simulate.Stay) int { return cmp.Compare(a.At, b.At) })
	l.Active, l.PerMinute = r.mostActive(visits), r.mostPerMinute(visits)
	return l
}

// mostActive is when the most sessions are active, each for a second longer than it lasts:
// times in logs are no more exact than that. The session of somebody who sends only one
// request ends sooner, as its ticket does not come back.
func (r *Reader) mostActive(visits []visit) Peak {
	const inexact = time.Second
	ends := make([]int64, len(visits))
	for i, v := range visits {
		lasts := r.settings.SessionDuration
		if v.first == v.last {
			lasts = r.settings.Lease(r.settings.ConfirmWithin, 0)
		}
		ends[i] = v.last + (lasts + inexact).Milliseconds()
	}
	slices.Sort(ends)
	peak, over := Peak{}, 0
	for i, v := range visits {
		for ends[over] <= v.first {
			over++
		}
		if active := i + 1 - over; active > peak.Count {
			peak = Peak{Count: active, At: r.moment(v.first)}
		}
	}
	return peak
}

// mostPerMinute is the minute in which the most visits begin.
func (r *Reader) mostPerMinute(visits []visit) Peak {
	peak, inMinute := Peak{}, 0
	for i, v := range visits {
		minute := time.Minute.Milliseconds()
		if i == 0 || v.first/minute != visits[i-1].first/minute {
			inMinute = 0
		}
		if inMinute++; inMinute > peak.Count {
			peak = Peak{Count: inMinute, At: r.moment(v.first - v.first%minute)}
		}
	}
	return peak
}

// moment is a time in the zone of the first line.
func (r *Reader) moment(milliseconds int64) time.Time {
	return time.UnixMilli(milliseconds).In(r.log.From.Location())
}
