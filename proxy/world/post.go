package world

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"regexp"
	"strings"
	"sync"
	"time"
)

// postOffice is the mail server, and everybody's mailbox.
type postOffice struct {
	world *world
	link  *link

	mu     sync.Mutex
	tokens map[string][]letter // by recipient
	codes  map[int]string      // which guests tell others
}

// letter is what matters of a mail: its kind and its token.
type letter struct{ kind, token string }

func newPostOffice(w *world) *postOffice {
	return &postOffice{
		world: w, link: newLink(w.plan.Seed, "mail", time.Millisecond, 200*time.Millisecond), tokens: map[string][]letter{}, codes: map[int]string{},
	}
}

// state is how the mail server is now.
func (o *postOffice) state() string {
	now := o.world.history.now()
	for _, out := range o.world.plan.Waitlist.Outages {
		if now >= out.At && now < out.At+out.Lasts {
			return out.Way
		}
	}
	return ""
}

// dial opens connections of a process to the mail server.
func (o *postOffice) dial(p *process) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		o.link.pass()
		switch {
		case p.dead.Load():
			return nil, errDead
		case o.state() == "down":
			return nil, errRefused
		}
		near, far := net.Pipe()
		ended := context.AfterFunc(p.lives, func() { near.Close() })
		o.world.wires.Go(func() {
			defer ended()
			defer far.Close()
			o.serve(far)
		})
		return near, nil
	}
}

// serve speaks SMTP (RFC 5321) as far as a gate does.
func (o *postOffice) serve(conn net.Conn) {
	lines, to := bufio.NewReader(conn), ""
	say := func(reply string) bool {
		o.link.pass()
		if o.state() == "slow" {
			wait(3 * time.Second)
		}
		_, err := fmt.Fprint(conn, reply+"\r\n")
		return err == nil
	}
	for going := say("220 mail.example"); going; {
		line, err := lines.ReadString('\n')
		command := strings.ToUpper(line)
		switch {
		case err != nil || o.state() == "down":
			return
		case strings.HasPrefix(command, "QUIT"):
			say("221 bye")
			return
		case strings.HasPrefix(command, "RCPT"):
			to = recipient.FindString(line)
			if o.state() == "refusing" {
				going = say("451 4.3.0 later")
			} else {
				going = say("250 2.1.5 ok")
			}
		case strings.HasPrefix(command, "DATA"):
			going = say("354 go on") && o.read(lines, to) && say("250 2.0.0 ok")
		default:
			going = say("250 ok")
		}
	}
}

var (
	recipient   = regexp.MustCompile(`[^<:\s]+@[^>\s]+`)
	linkInMails = regexp.MustCompile(`/beta(/confirm|/invite)?\?(?:token|secret)=([\w-]{22})`)
)

// read takes a mail.
func (o *postOffice) read(lines *bufio.Reader, to string) bool {
	var text bytes.Buffer
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return false
		}
		if line == ".\r\n" {
			break
		}
		text.WriteString(line)
	}
	plain := strings.NewReplacer("=\r\n", "", "=3D", "=").Replace(text.String()) // quoted-printable
	l := letter{kind: "place"}
	if found := linkInMails.FindStringSubmatch(plain); found != nil {
		l.token = found[2]
		if found[1] != "" {
			l.kind = found[1][1:]
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tokens[to] = append(o.tokens[to], l)
	o.world.history.add(Event{What: Mailed, Who: nobody, Guest: o.world.guestAt(to), Text: l.kind})
	return true
}

// tokenOf is the token of the latest mail of a kind to somebody; "" for none.
func (o *postOffice) tokenOf(to, kind string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := len(o.tokens[to]) - 1; i >= 0; i-- {
		if l := o.tokens[to][i]; l.kind == kind {
			return l.token
		}
	}
	return ""
}

// tell has others know a code, and code is what they know.
func (o *postOffice) tell(guest int, code string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.codes[guest] = code
}

func (o *postOffice) code(guest int) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.codes[guest]
}
