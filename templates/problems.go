package templates

import (
	"net/http"
)

// problem is an answer of the gate's own, which it gives in the place of the site's.
type problem struct {
	status int
	detail string // in English, for programs
	words  string // key of the words for people, in the files of lang
}

// problems are all problems that the gate answers with. Their texts are fixed, and have
// nothing of a request or of an error.
var problems = [...]problem{
	{http.StatusBadRequest, "The request could not be understood.", "request"},
	{http.StatusNotFound, "No room and no site is configured for this address.", "address"},
	{http.StatusMethodNotAllowed, "This method is not supported here.", "request"},
	{http.StatusRequestTimeout, "The rest of the request did not arrive in time.", "request"},
	{http.StatusMisdirectedRequest, "This gate does not serve the host that was asked for.", "address"},
	{http.StatusTooManyRequests, "Everyone new is held in the waiting room, so this request was not passed on and nothing of it was stored. A place in line that you have is kept. Try again once you have been let in.", "often"},
	{http.StatusRequestHeaderFieldsTooLarge, "The header of the request is too large or holds too many cookies.", "size"},
	{http.StatusInternalServerError, "The gate could not answer this request.", "origin"},
	{http.StatusBadGateway, "The site behind the waiting room could not be reached or gave no valid answer.", "origin"},
	{http.StatusServiceUnavailable, "Nobody new is let in at the moment, so this was not passed on. Try again later.", "origin"},
	{http.StatusGatewayTimeout, "The site behind the waiting room did not answer in time.", "origin"},
}

// Problems writes the gate's own error answers, as pages and as problem+json
// (RFC 9457). It is immutable and safe for concurrent use.
type Problems struct {
	pages  map[string]map[int][]byte
	json   map[int][]byte
	policy string
}

// NewProblems returns the error answers in all languages.
func NewProblems() (*Problems, error) {
	b, err := builtIn()
	if err != nil {
		return nil, err
	}
	p := &Problems{pages: b.errors, json: make(map[int][]byte, len(problems)), policy: b.policyFor(Identity{})}
	for _, problem := range problems {
		if p.json[problem.status], err = problem.encode(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Page is the page for a status in a language of [LanguageCodes], or in
// [DefaultLanguage] if it is none of them. The bytes are shared: they must not
// be changed. The statuses are 400, 404, 405, 408, 421, 429, 431, 500, 502, 503 and
// 504; any other is answered as 400 below 500 and as 500 from there on.
func (p *Problems) Page(status int, code string) []byte {
	pages, ok := p.pages[code]
	if !ok {
		pages = p.pages[DefaultLanguage]
	}
	if page, ok := pages[status]; ok {
		return page
	}
	return pages[nearestStatus(status)]
}

// JSON is the problem+json for a status, of the same list as [Problems.Page].
// The bytes are shared: they must not be changed.
func (p *Problems) JSON(status int) []byte {
	if text, ok := p.json[status]; ok {
		return text
	}
	return p.json[nearestStatus(status)]
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
}

// waitingProblem is the problem of a request that cannot wait, whose sender has to.
var waitingProblem = problemFields{
	Type:   "https://github.com/anteroom-gate/anteroom/blob/main/proxy/README.md#requests-that-cannot-wait",
	Title:  "You have to wait",
	Status: http.StatusTooManyRequests,
	Detail: "Visitors wait in line, so this request was not passed on and nothing of it was stored. A place in line that you have is kept. Try again once you have been let in.",
}

// encode leaves the type out, which RFC 9457 reads as "about:blank": the title
// is the status in words.
func (p problem) encode() ([]byte, error) {
	return encodeLine(problemFields{Title: http.StatusText(p.status), Status: p.status, Detail: p.detail})
}
