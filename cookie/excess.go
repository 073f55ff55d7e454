package cookie

import (
	"net/http"
	"strings"
)

// Excess returns Set-Cookie header values that make the browser forget cookies of
// rooms that belong together: of those that have this room's name up to its last
// dot, all but keep, this one among them. The first go, which are the oldest (RFC
// 6265, section 5.4). It returns nil where there are not more, or the name has no
// dot. Without it someone who has been in very many rooms could come into none:
// see ErrUnreadable.
func (j *Jar) Excess(header http.Header, keep int, https bool) []string {
	dot := strings.LastIndexByte(j.codec.name, '.')
	if dot < 0 {
		return nil
	}
	var names []string
	for _, line := range header["Cookie"] {
		for cookie := range strings.SplitSeq(line, ";") {
			name, _, _ := strings.Cut(strings.Trim(cookie, " \t"), "=")
			bare := strings.TrimPrefix(name, hostPrefix)
			if strings.HasPrefix(bare, j.codec.name[:dot+1]) && bare != j.codec.name && checkName(bare) == nil {
				names = append(names, name)
			}
		}
	}
	f := j.format(https)
	deletion := strings.TrimPrefix(f.delete, f.name)
	var values []string
	for len(names) > max(keep-1, 0) {
		values = append(values, names[0]+deletion)
		names = names[1:]
	}
	return values
}
