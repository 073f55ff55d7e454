package mail

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"sync"
	"time"

	gomail "github.com/wneessen/go-mail"
	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

const (
	// batch is how many mails are leased at once, and lease is for how long: they have time to be
	// sent twice each.
	batch, lease = 5, batch * 2 * patience
	// firstPause and longestPause are between two attempts to reach a mail server.
	firstPause, longestPause = 5 * time.Second, 5 * time.Minute
	// recording is how long the outbox may take to note what has become of a mail, also when
	// sending is to end.
	recording = 10 * time.Second
)

// Sender sends the mails of a waitlist. It has no connection while there is nothing to send.
type Sender struct {
	smtp          SMTP
	from, replyTo *mail.Address // replyTo is nil if it is from
	composer      *Composer
	log           *zap.Logger
	clock         func() time.Time

	mu    sync.Mutex // held while mails are sent
	pause time.Duration
	next  time.Time // the mail server is not asked before
}

// NewSender returns a Sender. The clock is the one by which the waitlist is kept. The log has
// neither addresses nor tokens, but at the level debug.
func NewSender(s SMTP, c *Composer, log *zap.Logger, clock func() time.Time) (*Sender, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	sender := &Sender{smtp: s, composer: c, log: log, clock: clock}
	sender.from, _ = address(s.From) // as Validate has
	sender.from.Name = cmp.Or(sender.from.Name, c.siteName)
	if s.ReplyTo != "" {
		sender.replyTo, _ = address(s.ReplyTo)
	}
	return sender, nil
}

// SendDue sends what is due, over one connection, and returns when nothing is due any more, or when
// ctx ends. A mail that was not taken is counted as failed, and is no error. The error is of the
// database or the connection. After one of the connection, SendDue does nothing for a pause: five
// seconds, and twice as long after each further one, up to five minutes. A server that refuses the
// sender counts as one that cannot be reached.
func (s *Sender) SendDue(ctx context.Context, l *waitlist.List) (sent, failed int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clock().Before(s.next) {
		return 0, 0, nil
	}
	if due, err := l.HasMail(ctx, s.clock()); err != nil || !due {
		return 0, 0, err
	}
	r := &round{Sender: s, list: l}
	if err := r.connect(ctx); err != nil {
		return 0, 0, err
	}
	err = r.run(ctx)
	r.connection.quit()
	if r.failed > 0 {
		s.log.Warn("mails were not taken by the mail server", zap.String("waitlist", l.Name()),
			zap.Int("mails", r.failed), zap.Int("dropped", r.dropped), zap.Int("code", r.last.code), zap.String("enhancedCode", r.last.enhanced))
	}
	return r.sent, r.failed, err
}

// round is one call of SendDue.
type round struct {
	*Sender
	list       *waitlist.List
	connection *connection

	sent, failed, dropped int   // those that were dropped have failed too
	last                  reply // of the refusals
}

func (r *round) connect(ctx context.Context) error {
	c, err := r.smtp.dial(ctx)
	if err != nil {
		return r.rest(err)
	}
	r.connection = c
	return nil
}

// rest begins a pause, and returns why.
func (s *Sender) rest(why error) error {
	s.pause = min(max(firstPause, 2*s.pause), longestPause)
	s.next = s.clock().Add(s.pause)
	return why
}

// run sends until nothing is due.
func (r *round) run(ctx context.Context) error {
	for ctx.Err() == nil {
		mails, err := r.list.Lease(ctx, batch, lease, r.clock())
		if err != nil || len(mails) == 0 {
			return err
		}
		if err := r.sendAll(ctx, mails); err != nil {
			return err
		}
	}
	return nil
}

// sendAll sends mails that are leased. Those that it does not come to are given back as they were:
// ctx has ended, or the mail server takes no other mail.
func (r *round) sendAll(ctx context.Context, mails []waitlist.Mail) error {
	for i, m := range mails {
		if ctx.Err() != nil {
			return r.giveBack(ctx, mails[i:])
		}
		leased, err := r.list.HasLease(ctx, m)
		if err != nil {
			return err
		}
		if !leased {
			continue
		}
		refused, unreachable := r.deliver(ctx, m)
		if err := r.note(ctx, m, refused); err != nil {
			return err
		}
		if unreachable != nil {
			return errors.Join(unreachable, r.giveBack(ctx, mails[i+1:]))
		}
	}
	return nil
}

func (r *round) giveBack(ctx context.Context, mails []waitlist.Mail) error {
	ctx, cancel := toRecord(ctx)
	defer cancel()
	return r.list.GiveBack(ctx, mails, r.clock())
}

// toRecord gives the outbox its time, also when sending is to end.
func toRecord(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), recording)
}

// deliver hands a mail to the mail server. If the connection breaks, which servers do after some
// mails, it does so once more on a new one. With unreachable no other mail would be taken either.
func (r *round) deliver(ctx context.Context, m waitlist.Mail) (refused, unreachable error) {
	switch m.Kind {
	case waitlist.MailConfirm:
		m.ExpiresAt = r.clock().Add(r.list.Settings().ConfirmTTL)
	case waitlist.MailInvite:
		m.ExpiresAt = r.clock().Add(r.list.Settings().InviteTTL)
	default:
	}
	message, err := r.composer.Compose(m)
	if err != nil {
		return err, nil
	}
	letter, err := r.letter(message)
	if err != nil {
		return err, nil
	}
	refused = r.connection.send(letter)
	if refused != nil && replyOf(refused).lost() {
		r.connection.drop()
		if err := r.connect(ctx); err != nil {
			return refused, err
		}
		refused = r.connection.send(letter)
	}
	if reply := replyOf(refused); reply.sender && !reply.lost() {
		return refused, r.rest(fmt.Errorf("the mail server refuses mails from %s: %d %s", r.from.Address, reply.code, reply.enhanced))
	}
	return refused, nil
}

// letter is a mail as it travels.
func (s *Sender) letter(m Message) (*gomail.Msg, error) {
	to, err := address(m.To)
	if err != nil {
		return nil, fmt.Errorf("reading the address of a mail: %w", err)
	}
	letter := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	letter.FromMailAddress(s.from)
	letter.ToMailAddress(to)
	if s.replyTo != nil {
		letter.ReplyToMailAddress(s.replyTo)
	}
	letter.SetMessageIDWithValue(m.ID + s.from.Address[strings.LastIndexByte(s.from.Address, '@'):])
	letter.SetDateWithValue(s.clock())
	letter.Subject(m.Subject)
	letter.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834
	letter.SetGenHeader(gomail.HeaderContentLang, m.Language)
	letter.SetListUnsubscribe(m.Leave)
	letter.SetListUnsubscribePost() // mail programs ask for it by https
	letter.SetBodyString(gomail.TypeTextPlain, m.Text)
	letter.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	return letter, nil
}

// note tells the outbox what has become of a mail: it was sent, or refused.
func (r *round) note(ctx context.Context, m waitlist.Mail, refused error) error {
	ctx, cancel := toRecord(ctx)
	defer cancel()
	if refused == nil {
		r.sent++
		r.pause = 0
		return r.list.Sent(ctx, m, r.clock())
	}
	r.failed++
	r.last = replyOf(refused)
	r.log.Debug("a mail was not sent", zap.String("waitlist", r.list.Name()), zap.String("mail", m.DedupeID()),
		zap.String("kind", string(m.Kind)), zap.Int("attempts", m.Attempts), zap.Error(refused))
	if r.last.forGood(m.Attempts) {
		r.dropped++
		return r.list.Drop(ctx, m, r.clock())
	}
	return r.list.Failed(ctx, m, refused, r.clock())
}
