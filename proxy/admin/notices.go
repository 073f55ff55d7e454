package admin

import (
	"crypto/rand"
	"net/http"
	"strings"
	"sync"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/dashboard"
)

// maxNotices is how many notices are kept of what operators have done.
const maxNotices = 1000

// notices are what operators have just done, until they have seen it: each is shown by the page that
// comes after it. Nothing else needs them: what was done stands in the record.
type notices struct {
	mu     sync.Mutex
	kept   map[string]*dashboard.Done
	oldest []string
}

// keep keeps a notice, and returns its id.
func (n *notices) keep(d *dashboard.Done) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.oldest) == maxNotices {
		delete(n.kept, n.oldest[0])
		n.oldest = n.oldest[1:]
	}
	id := rand.Text()
	n.kept[id], n.oldest = d, append(n.oldest, id)
	return id
}

// get is the notice of an id; nil if there is none.
func (n *notices) get(id string) *dashboard.Done {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.kept[id]
}

// tell sends an operator to a page, which says what they have done.
func (a *api) tell(w http.ResponseWriter, r *http.Request, page string, d *dashboard.Done) {
	between := "?"
	if strings.Contains(page, "?") {
		between = "&"
	}
	http.Redirect(w, r, page+between+"done="+a.notices.keep(d), http.StatusSeeOther)
}
