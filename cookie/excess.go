package cookie

import (
	"net/http"
	"strings"
)

// Excess returns Set-Cookie header values that make the browser forget some cookies of rooms
// that belong together: their names are the same up to the last dot. So many as keep stay,
// this room's among them. The first ones go, which are the oldest (RFC 6265, section 5.4).
// Excess returns nil if there are no more than keep, or if the name has no dot. Without it
// a visitor who has been in very many rooms could not enter any: see ErrUnreadable.
func (j *Jar) Excess(header http.Header, keep int, https bool) []string {
	dot := strings.LastIndexByte(j.codec.name, '.')
	if dot < 0 {
		return nil
	}
	names := j.others(header, j.codec.name[:dot+1])
	f := j.format(https)
	deletion := strings.TrimPrefix(f.delete, f.name)
	var values []string
	for len(names) > max(keep-1, 0) {
		values = append(values, names[0]+deletion)
		names = names[1:]
	}
	return values
}

// others returns the names, as browsers see them, of the cookies whose names begin with the
// prefix, but for this room's.
func (j *Jar) others(header http.Header, prefix string) (names []string) {
	for _, line := range header["Cookie"] {
		for cookie := range strings.SplitSeq(line, ";") {
			name, _, _ := strings.Cut(strings.Trim(cookie, " \t"), "=")
			bare := strings.TrimPrefix(name, hostPrefix)
			if strings.HasPrefix(bare, prefix) && bare != j.codec.name && checkName(bare) == nil {
				names = append(names, name)
			}
		}
	}
	return names
}
