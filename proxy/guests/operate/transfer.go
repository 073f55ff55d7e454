package operate

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/fairdoor-gate/fairdoor/proxy/reply"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// maxImport bounds the body of an import, in bytes: about a million lines.
const maxImport = 64 << 20

// ColumnsJSON says what an import would read from which column.
type ColumnsJSON struct {
	Columns map[string]string `json:"columns"`
	Ignored []string          `json:"ignored"`
}

// importEntries adds the entries of a CSV. It reads as it adds.
func (o *operators) importEntries(w http.ResponseWriter, r *http.Request, l Waitlist) {
	if !mayBeCSV(r.Header.Get("Content-Type")) {
		reply.Problem(w, http.StatusUnsupportedMediaType, "Nothing was imported: send the CSV itself as the body, as text/csv.")
		return
	}
	body, chosen := &source{Reader: http.MaxBytesReader(w, r.Body, maxImport)}, chosenIn(r.URL.Query()["column"])
	if r.URL.Query().Get("dry_run") == "true" {
		columns, err := waitlist.ReadColumns(body, chosen)
		if errors.Is(err, waitlist.ErrColumns) {
			noColumns(w, err)
			return
		}
		if err != nil {
			reply.Problem(w, http.StatusBadRequest, "The first line could not be read.")
			return
		}
		reply.JSON(w, ColumnsJSON{columns.Read, append([]string{}, columns.Ignored...)})
		return
	}
	done, err := l.Record().Import(r.Context(), body, chosen, o.by(r), o.Clock())
	tooLarge := new(http.MaxBytesError)
	switch {
	case err == nil:
		done.Faults = append([]waitlist.LineFault{}, done.Faults...) // a list, not null
		reply.JSON(w, done)
	case errors.Is(err, waitlist.ErrColumns):
		noColumns(w, err)
	case errors.As(body.failed, &tooLarge):
		reply.Problem(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("An import can have 64 MiB. %d entries were added before that. Send the rest in parts, each with the first line.", done.Added))
	case body.failed != nil:
		reply.Problem(w, http.StatusBadRequest, fmt.Sprintf("The body could not be read. %d entries were added before that. Send it again: who is on the list stays as they are.", done.Added))
	default:
		o.refused(w, r, l, err)
	}
}

// chosenIn are the columns of a list such as joined_at=Signup Date, as [waitlist.ReadColumns] takes them.
func chosenIn(list []string) map[string]string {
	chosen := map[string]string{}
	for _, c := range list {
		name, column, _ := strings.Cut(c, "=")
		chosen[name] = column
	}
	return chosen
}

// noColumns answers where a file has not the columns that it has to have.
func noColumns(w http.ResponseWriter, err error) {
	if _, chosen, is := strings.Cut(err.Error(), ": "); is {
		reply.Problem(w, http.StatusUnprocessableEntity, "Nothing was imported: there is no such column or nothing of this name to read: "+chosen)
		return
	}
	reply.Problem(w, http.StatusUnprocessableEntity, "Nothing was imported: the first line has to name the columns, email or user_id among them, with commas between them.")
}

// mayBeCSV says whether a Content-Type leaves it open that a body is CSV. That of a form is what
// curl says of any text.
func mayBeCSV(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return contentType == "" || err == nil && !strings.HasPrefix(kind, "multipart/") && kind != "application/json"
}

// source is a body that remembers why it could not be read.
type source struct {
	io.Reader
	failed error
}

// Read implements io.Reader.
func (s *source) Read(into []byte) (int, error) {
	n, err := s.Reader.Read(into)
	if err != nil && !errors.Is(err, io.EOF) {
		s.failed = err
	}
	return n, err
}

// stream is an answer that has begun as soon as something of it is written, so that it can be a
// problem before.
type stream struct {
	w           http.ResponseWriter
	contentType string
	filename    string // under which browsers and curl keep it; "" for none
	begun       bool
}

// Write implements io.Writer.
func (s *stream) Write(text []byte) (int, error) {
	if !s.begun {
		s.begun = true
		s.w.Header().Set("Content-Type", s.contentType)
		s.w.Header().Set("Cache-Control", "no-store")
		if s.filename != "" {
			s.w.Header().Set("Content-Disposition", `attachment; filename="`+s.filename+`"`)
		}
	}
	return s.w.Write(text)
}

// broken ends a stream that has failed. One that has begun is broken off, so that nobody takes it
// for a whole one.
func (o *operators) broken(s *stream, r *http.Request, l Waitlist, err error) {
	if s.begun {
		o.recordFailed(r, l, err)
		panic(http.ErrAbortHandler)
	}
	o.refused(s.w, r, l, err)
}

// exportEntries answers with all entries as CSV.
func (o *operators) exportEntries(w http.ResponseWriter, r *http.Request, l Waitlist) {
	out := &stream{w: w, contentType: "text/csv; charset=utf-8", filename: l.Name() + ".csv"}
	if err := l.Record().Export(r.Context(), out, o.by(r), o.Clock()); err != nil {
		o.broken(out, r, l, err)
	}
}

// AuditJSON is the audit log, the latest line first.
type AuditJSON struct {
	Audit []waitlist.Audit `json:"audit"`
}

// getAudit answers with what operators have done, the latest first.
func (o *operators) getAudit(w http.ResponseWriter, r *http.Request, l Waitlist) {
	p, ok := readPage(w, r, "before")
	if !ok {
		return
	}
	lines, err := l.Record().Log(r.Context(), p.from, p.most)
	if err != nil {
		o.refused(w, r, l, err)
		return
	}
	reply.JSON(w, AuditJSON{append([]waitlist.Audit{}, lines...)})
}
