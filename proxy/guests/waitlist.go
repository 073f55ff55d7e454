package guests

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/guests/mail"
	"github.com/fairdoor-gate/fairdoor/proxy/guests/operate"
	"github.com/fairdoor-gate/fairdoor/proxy/webhooks"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
	"github.com/fairdoor-gate/fairdoor/templates"
	"github.com/fairdoor-gate/fairdoor/templates/guestpage"
)

// Paths begins the paths of all waitlists. The name of one follows.
const Paths = feature.Paths + "waitlist/"

// Config is what a waitlist is configured with.
type Config struct {
	Name     string // letters, digits, - and _
	Room     string // the name of the room that it belongs to, which is no family
	Settings waitlist.Settings

	// SignUpsPerNetwork is how many sign-ups a minute one network may have at this gate, an IPv4
	// /24 or an IPv6 /56, and a quarter of what an IPv6 /48 may have; 0 is unlimited.
	SignUpsPerNetwork int

	// URL is the address of the site, scheme://host[:port], with which links begin. Without it they
	// begin, in answers, with the address that was asked for, and in mails with Local, which is
	// where the gate listens.
	URL, Local string

	MailTemplates fs.FS      // the operator's; nil for the built-in ones alone
	SMTP          *mail.SMTP // nil for mails that are kept for the admin API
}

// Site is what a waitlist has of its room.
type Site struct {
	Identity templates.Identity
	Language string   // default of pages and mails; "" for en-US
	Frames   []string // the sites that may show the pages in frames, as browsers name them; besides the site itself
	Keys     []cookie.Key
	Cookie   cookie.Attributes

	// Proof is what those bring who sign up and whom the site does not name; default nothing.
	Proof func() feature.Proof
}

// Options are what a waitlist works with, and keeps when it is configured anew.
type Options struct {
	Clock    func() time.Time
	Log      *zap.Logger
	Counters Counters

	// Wait is how what is done each second waits for the next: until ready is closed, or for so
	// long. The default waits in real time.
	Wait func(ready <-chan struct{}, atMost time.Duration)

	// Problem answers somebody with the gate's page for a status.
	Problem func(w http.ResponseWriter, r *http.Request, status int)

	// Survive, when deferred, ends a panic in what a waitlist does by itself.
	Survive func(doing string)

	// Hooks sends what webhooks are told of the waitlist. Tell needs it.
	Hooks func() *webhooks.Sender

	// Enter takes a sign-up off what a network may have, and says whether there was one left. The
	// network is that of the address.
	Enter func(addr netip.Addr, now time.Time, perMinute int) bool
}

// Setup is one configuration of a waitlist at work. It does not change.
type Setup struct {
	cfg      Config
	site     Site
	jar      *cookie.Jar
	referral *cookie.Jar // of the code that somebody signed up with who has not confirmed yet
	pages    *guestpage.Pages
	policy   string // the pages' Content-Security-Policy
	composer *mail.Composer
	sender   *mail.Sender // nil where mails are kept
}

// NewSetup makes a setup. It fails if something in it cannot be used.
func NewSetup(c Config, site Site, o Options) (*Setup, error) {
	c.Settings.Mailed = c.SMTP != nil
	if site.Proof == nil {
		site.Proof = func() feature.Proof { return nil }
	}
	s := &Setup{cfg: c, site: site}
	if err := c.Settings.Validate(); err != nil {
		return nil, err
	}
	var err error
	if s.jar, err = site.newJar(cookieSuffix(c.Name), keepCookie); err != nil {
		return nil, err
	}
	if s.referral, err = site.newJar(cookieSuffix(c.Name)+".referral", c.Settings.ConfirmTTL); err != nil {
		return nil, err
	}
	if s.pages, err = guestpage.New(guestpage.Options{DefaultLanguage: site.Language, Identity: site.Identity}); err != nil {
		return nil, fmt.Errorf("making the pages: %w", err)
	}
	s.policy = s.pages.ContentSecurityPolicy() + "; frame-ancestors " + strings.Join(append([]string{"'self'"}, site.Frames...), " ")
	return s, s.mails(site, o)
}

// newJar makes the jar of a cookie that browsers keep for a time.
func (s Site) newJar(suffix string, keep time.Duration) (*cookie.Jar, error) {
	codec, err := cookie.New(cookie.Config{Name: cookie.Name(suffix), Keys: s.Keys})
	if err != nil {
		return nil, fmt.Errorf("making the cookie's codec: %w", err)
	}
	s.Cookie.MaxAge = keep
	jar, err := cookie.NewJar(codec, s.Cookie)
	if err != nil {
		return nil, fmt.Errorf("reading the cookie's attributes: %w", err)
	}
	return jar, nil
}

// mails makes what composes mails, and what sends them.
func (s *Setup) mails(site Site, o Options) (err error) {
	home := s.cfg.URL
	if home == "" {
		home = s.cfg.Local
	}
	s.composer, err = mail.NewComposer(mail.Options{
		List: s.cfg.Name, Path: home + s.path(), Home: home, Identity: site.Identity, DefaultLanguage: site.Language,
		Templates: s.cfg.MailTemplates,
	})
	if err != nil {
		return fmt.Errorf("reading the mails' templates: %w", err)
	}
	if s.cfg.SMTP == nil {
		return nil
	}
	if s.sender, err = mail.NewSender(*s.cfg.SMTP, s.composer, o.Log, o.Clock); err != nil {
		return fmt.Errorf("reading how mails are sent: %w", err)
	}
	return nil
}

// path is that of the waitlist's page.
func (s *Setup) path() string { return Paths + s.cfg.Name }

// Waitlist is a waitlist at work. It outlives its configurations.
type Waitlist struct {
	o      Options
	record *waitlist.List
	setup  atomic.Pointer[Setup]
}

// Open opens the waitlist of a setup in a store, where it is made if it is not there.
func Open(ctx context.Context, store *waitlist.Store, s *Setup, o Options) (*Waitlist, error) {
	record, err := store.List(ctx, s.cfg.Name, s.cfg.Settings)
	if err != nil {
		return nil, err
	}
	if o.Wait == nil {
		o.Wait = waitFor
	}
	l := &Waitlist{o: o, record: record}
	l.setup.Store(s)
	return l, nil
}

// Use has the waitlist go by a setup.
func (l *Waitlist) Use(s *Setup) {
	if err := l.record.Configure(s.cfg.Settings); err != nil { // which NewSetup has ruled out
		l.o.Log.Error("settings of a waitlist refused", zap.String("waitlist", s.cfg.Name), zap.Error(err))
	}
	l.setup.Store(s)
}

// Name returns the name of the waitlist.
func (l *Waitlist) Name() string { return l.setup.Load().cfg.Name }

// Room returns the name of the room that the waitlist belongs to.
func (l *Waitlist) Room() string { return l.setup.Load().cfg.Room }

// Record returns the record of the waitlist.
func (l *Waitlist) Record() *waitlist.List { return l.record }

// Mails returns what composes mails, and whether they are kept for operators, because there is no
// SMTP.
func (l *Waitlist) Mails() (compose func(waitlist.Mail) (mail.Message, error), kept bool) {
	s := l.setup.Load()
	return s.composer.Compose, s.sender == nil
}

// Sweep does each second what is due, until the context ends: see waitlist.List.Sweep. What fails
// is logged once, until it works again.
func (l *Waitlist) Sweep(ctx context.Context) {
	failing := false
	l.eachSecond(ctx, func(log *zap.Logger) {
		swept, err := l.record.Sweep(ctx, l.o.Clock())
		if swept.Undelivered > 0 {
			log.Error("invites could not be delivered in time and go to the next", zap.Int("invites", swept.Undelivered))
		}
		switch {
		case err != nil && !failing && ctx.Err() == nil:
			log.Error("the record does not answer", zap.Error(err))
		case err == nil && failing:
			log.Info("the record answers again")
		}
		failing = err != nil
	})
}

// Send sends each second the mails that are due, until the context ends.
func (l *Waitlist) Send(ctx context.Context) {
	l.eachSecond(ctx, func(log *zap.Logger) {
		sender := l.setup.Load().sender
		if sender == nil {
			return
		}
		sent, failed, err := sender.SendDue(ctx, l.record)
		l.o.Counters.CountMails(sent, failed)
		if err != nil && ctx.Err() == nil {
			log.Warn("mails are not sent now, and will be later", zap.Error(err))
		}
	})
}

// mostTold is how many events a webhook is told of in one turn, and longestTurn how long a turn
// goes on beginning to tell it of one: with the time of that one, the turn ends before the record
// gives it to another gate. Turns follow one another for as long at most: then the webhook is what
// the configuration says of it now.
const mostTold, longestTurn = 100, 30 * time.Second

// Tell has webhooks told each second of what has happened to entries, until the context ends. Each
// is told in order, by one gate at a time, and waits for no other.
func (l *Waitlist) Tell(ctx context.Context) {
	var telling sync.WaitGroup
	defer telling.Wait()
	var busy sync.Map // has the ids of those that are being told
	tell := func(log *zap.Logger) {
		for _, to := range l.o.Hooks().Receivers(webhooks.OfWaitlist, l.Room()) {
			if _, is := busy.LoadOrStore(to.ID(), true); is {
				continue
			}
			telling.Go(func() {
				defer l.o.Survive("waitlist")
				defer busy.Delete(to.ID())
				if err := l.tell(ctx, to); err != nil && ctx.Err() == nil {
					log.Warn("a webhook is not told now, and will be later", zap.Error(err))
				}
			})
		}
	}
	tell(l.o.Log)
	l.eachSecond(ctx, tell)
}

// tell tells a webhook of all that there is, turn by turn.
func (l *Waitlist) tell(ctx context.Context, to webhooks.Receiver) error {
	for began := time.Now(); ctx.Err() == nil && time.Since(began) < longestTurn; {
		if more, err := l.turn(ctx, to); err != nil || !more {
			return err
		}
	}
	return nil
}

// turn tells a webhook of what is next, and says whether there may be more. A turn that has been
// taken is ended also if the context ends meanwhile: other gates would wait for it.
func (l *Waitlist) turn(ctx context.Context, to webhooks.Receiver) (more bool, err error) {
	taking, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	turn, err := l.record.TakeTurn(taking, to.ID(), mostTold, l.o.Clock())
	if err != nil || turn == nil {
		return false, err
	}
	told, tries, wait, full := int64(0), turn.Tries, time.Duration(0), len(turn.Events) == mostTold
	for began := time.Now(); len(turn.Events) > 0 && ctx.Err() == nil && time.Since(began) < longestTurn; turn.Events = turn.Events[1:] {
		e := &turn.Events[0]
		if wait = to.Tell(ctx, l.event(e), tries); wait > 0 {
			break
		}
		told, tries = e.ID, 0
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return full && wait == 0, l.record.EndTurn(ending, turn, told, wait, wait > 0, l.o.Clock())
}

// event is what webhooks are told of an event. Its key is the same at all gates.
func (l *Waitlist) event(e *waitlist.Event) webhooks.Event {
	h := operate.Happened(e)
	return webhooks.Event{
		Kind: webhooks.Kind(webhooks.OfWaitlist + string(e.Kind)), Room: l.Room(), At: e.At,
		Details: map[string]any{"waitlist": l.Name(), "id": h.ID, "entry": h.Entry},
		Key:     fmt.Sprintf("waitlist %s %d %d", l.Name(), e.ID, e.At.UnixMilli()),
	}
}

// eachSecond does something until the context ends, a second after the last time.
func (l *Waitlist) eachSecond(ctx context.Context, do func(*zap.Logger)) {
	log := l.o.Log.With(zap.String("waitlist", l.Name()))
	for {
		l.o.Wait(ctx.Done(), time.Second)
		if ctx.Err() != nil {
			return
		}
		func() {
			defer l.o.Survive("waitlist")
			do(log)
		}()
	}
}

// waitFor waits in real time.
func waitFor(ready <-chan struct{}, atMost time.Duration) {
	timer := time.NewTimer(atMost)
	defer timer.Stop()
	select {
	case <-ready:
	case <-timer.C:
	}
}

// base is what links in the answer to a request begin with.
func (s *Setup) base(host string, https bool) string {
	if s.cfg.URL != "" {
		return s.cfg.URL
	}
	return addressOf(host, https)
}

func addressOf(host string, https bool) string {
	if https {
		return "https://" + host
	}
	return "http://" + host
}
