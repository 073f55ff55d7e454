package passes

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/http"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// ahead is where the kinds put their holders.
var ahead = map[waitlist.PassKind]queue.Ahead{waitlist.PassIn: queue.AheadOfAll, waitlist.PassAhead: queue.AheadOfLine, waitlist.PassJoin: queue.NotAhead}

// kinds are the kinds by the byte that a cookie has for them.
var kinds = [...]waitlist.PassKind{waitlist.PassIn, waitlist.PassAhead, waitlist.PassJoin}

// Holder is somebody who has used a pass that is still good.
type Holder struct {
	ID    queue.ID // of the visitor that they are by it
	Ahead queue.Ahead
}

// The cookie has the kind, the number of the use, the end of the pass, its id, and to whom the
// cookie is bound, if it is.
const holderLength = 1 + 4 + 8 + 8

// Holder returns whose use of a pass the cookie of a request is for. It asks memory alone. Owns
// says whether a cookie that is bound, and was sealed with one of the keys, belongs to the sender
// of the request.
func (r *Room) Holder(h http.Header, owns func(bound []byte, key int) bool) (Holder, bool) {
	u, found := r.useIn(h, owns)
	if !found {
		return Holder{}, false
	}
	return Holder{ID: r.visitor(u.Pass, u.Number), Ahead: ahead[u.Kind]}, true
}

// BelongsTo says whether a use belongs to a user of the site; the zero ID is a visitor whom the
// site does not name. A use is one person's, so that it belongs to one user alone: the first who
// brings it to this gate.
func (r *Room) BelongsTo(h Holder, user queue.ID) bool {
	return user == (queue.ID{}) || r.known.belongsTo(h.ID, user)
}

// useIn is the use that the cookie of a request is for, of a pass that is still good.
func (r *Room) useIn(h http.Header, owns func(bound []byte, key int) bool) (u waitlist.PassUse, found bool) {
	sealed, err := r.jar.Read(h)
	b := sealed.Payload
	if err != nil || len(b) < holderLength || int(b[0]) >= len(kinds) || !owns(b[holderLength:], sealed.Key) {
		return u, false
	}
	u = waitlist.PassUse{
		Kind: kinds[b[0]], Number: int(binary.BigEndian.Uint32(b[1:])), Expires: time.UnixMilli(int64(binary.BigEndian.Uint64(b[5:]))), Pass: hex.EncodeToString(b[13:holderLength]),
	}
	if !r.o.Clock().Before(u.Expires) || r.known.isRevoked(u.Pass) {
		return u, false
	}
	r.jar.Remember(sealed, 0)
	return u, true
}

// visitor is who somebody is by a use of a pass.
func (r *Room) visitor(pass string, number int) queue.ID {
	return room.SubjectID(r.Config.Room, fmt.Sprintf("\x00pass %s %d", pass, number))
}

// keep has a browser keep the cookie of a use.
func (r *Room) keep(h http.Header, u waitlist.PassUse, v *feature.Requester) error {
	id, err := hex.DecodeString(u.Pass)
	if err != nil {
		return fmt.Errorf("reading the id of a pass: %w", err)
	}
	payload := make([]byte, 0, holderLength+len(v.Bound))
	for i, kind := range kinds {
		if kind == u.Kind {
			payload = append(payload, byte(i))
		}
	}
	payload = binary.BigEndian.AppendUint32(payload, uint32(u.Number))
	payload = binary.BigEndian.AppendUint64(payload, uint64(u.Expires.UnixMilli()))
	value, err := r.jar.Seal(append(append(payload, id...), v.Bound...), v.HTTPS)
	if err == nil {
		h["Set-Cookie"] = append(h["Set-Cookie"], value)
	}
	return err
}
