package templates

import (
	"bytes"
	"net/http"
)

// Kind tells apart problems that have the same status.
type Kind string

// The kinds of problems.
const (
	Plain       Kind = ""
	SlotKept    Kind = "slot"  // of an origin that does not answer a visitor who is in; their page loads itself again
	NoMoreRooms Kind = "rooms" // of a family that has as many rooms as it may
)

// problem is an answer of the gate's own, which it gives in the place of the site's.
type problem struct {
	status int
	kind   Kind
	detail string // in English, for programs
	words  string // key of the words for people, in the files of lang
}

// problemKey is what names a problem.
type problemKey struct {
	kind   Kind
	status int
}

func (p problem) key() problemKey { return problemKey{p.kind, p.status} }

// problems are all problems that the gate answers with. Their texts are fixed, and have
// nothing of a request or of an error.
var problems = [...]problem{
	{http.StatusBadRequest, Plain, "The request could not be understood.", "request"},
	{http.StatusNotFound, Plain, "No room and no site is configured for this address.", "address"},
	{http.StatusMethodNotAllowed, Plain, "This method is not supported here.", "request"},
	{http.StatusRequestTimeout, Plain, "The rest of the request did not arrive in time.", "request"},
	{http.StatusMisdirectedRequest, Plain, "This gate does not serve the host that was asked for.", "address"},
	{http.StatusTooManyRequests, Plain, "Everyone new is held in the waiting room, so this request was not passed on and nothing of it was stored. A place in line that you have is kept. Try again once you have been let in.", "often"},
	{http.StatusRequestHeaderFieldsTooLarge, Plain, "The header of the request is too large or holds too many cookies.", "size"},
	{http.StatusInternalServerError, Plain, "The gate could not answer this request.", "origin"},
	{http.StatusBadGateway, Plain, "The site behind the waiting room could not be reached or gave no valid answer.", "origin"},
	{http.StatusServiceUnavailable, Plain, "Nobody new is let in at the moment, so this was not passed on. Try again later.", "origin"},
	{http.StatusGatewayTimeout, Plain, "The site behind the waiting room did not answer in time.", "origin"},
	{http.StatusBadGateway, SlotKept, "The site behind the waiting room could not be reached or gave no valid answer. You keep your slot. Try again.", "origin"},
	{http.StatusGatewayTimeout, SlotKept, "The site behind the waiting room did not answer in time. You keep your slot. Try again.", "origin"},
	{http.StatusServiceUnavailable, NoMoreRooms, "There are as many rooms here as there may be. Try again later.", "rooms"},
}

// Problems writes the gate's own error answers, as pages and as problem+json
// (RFC 9457). It is immutable and safe for concurrent use.
type Problems struct {
	pages  map[string]map[problemKey][]byte
	json   map[problemKey][]byte
	policy string
}

// NewProblems returns the error answers in all languages.
func NewProblems() (*Problems, error) {
	b, err := builtIn()
	if err != nil {
		return nil, err
	}
	p := &Problems{pages: b.errors, json: make(map[problemKey][]byte, len(problems)), policy: b.policyFor(Identity{})}
	for _, problem := range problems {
		if p.json[problem.key()], err = problem.encode(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Page is the page for a status in a language of [LanguageCodes], or in
// [DefaultLanguage] if it is none of them. The bytes are shared: they must not
// be changed. The statuses are 400, 404, 405, 408, 421, 429, 431, 500, 502, 503 and
// 504; any other is answered as 400 below 500 and as 500 from there on.
func (p *Problems) Page(status int, code string) []byte { return p.PageOf(Plain, status, code) }

// PageOf is Page for a problem of a kind. A kind that the status does not have is Plain.
func (p *Problems) PageOf(kind Kind, status int, code string) []byte {
	pages, ok := p.pages[code]
	if !ok {
		pages = p.pages[DefaultLanguage]
	}
	return nearest(pages, kind, status)
}

// noCode stands for the support code of a visitor in the problems of the kind SlotKept.
var noCode = SupportCode([]byte("....-...."))

// WithCode returns what PageOf or JSONOf has returned for a problem of the kind SlotKept, with the
// support code of its visitor.
func WithCode(problem []byte, code SupportCode) []byte {
	return bytes.Replace(problem, noCode[:], code[:], 1)
}

// JSON is the problem+json for a status, of the same list as [Problems.Page].
// The bytes are shared: they must not be changed.
func (p *Problems) JSON(status int) []byte { return p.JSONOf(Plain, status) }

// JSONOf is JSON for a problem of a kind, as in [Problems.PageOf].
func (p *Problems) JSONOf(kind Kind, status int) []byte { return nearest(p.json, kind, status) }

// nearest returns the text for a problem, or for the nearest that there is.
func nearest(texts map[problemKey][]byte, kind Kind, status int) []byte {
	for _, key := range [...]problemKey{{kind, status}, {Plain, status}} {
		if text, ok := texts[key]; ok {
			return text
		}
	}
	return texts[problemKey{Plain, nearestStatus(status)}]
}

// ContentSecurityPolicy is the value of that header for the error pages.
func (p *Problems) ContentSecurityPolicy() string { return p.policy }

func nearestStatus(status int) int {
	if status < http.StatusInternalServerError {
		return http.StatusBadRequest
	}
	return http.StatusInternalServerError
}

// problemFields are the members of problem+json.
type problemFields struct {
	Type   string `json:"type,omitempty"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`

	SupportCode string `json:"supportCode,omitempty"`
}

// waitingProblem is the problem of a request that cannot wait, whose sender has to.
var waitingProblem = problemFields{
	Type:   "https://github.com/fairdoor-gate/fairdoor/blob/main/cmd/fairdoor/docs/requests.md#requests-that-cannot-wait",
	Title:  "You have to wait",
	Status: http.StatusTooManyRequests,
	Detail: "Visitors wait in line, so this request was not passed on and nothing of it was stored. A place in line that you have is kept. Try again once you have been let in.",
}

// encode leaves the type out, which RFC 9457 reads as "about:blank": the title
// is the status in words.
func (p problem) encode() ([]byte, error) {
	fields := problemFields{Title: http.StatusText(p.status), Status: p.status, Detail: p.detail}
	if p.kind == SlotKept {
		fields.SupportCode = string(noCode[:])
	}
	return encodeLine(fields)
}
