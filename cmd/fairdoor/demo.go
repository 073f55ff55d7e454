package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/demo"
	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy/admin/client"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/event"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

// ticketsCrowd is how many come to the demo's second room, so that its dashboard has something to show.
const ticketsCrowd = 12

// maxCrowd bounds --crowd: with more the demo would be a load test of itself.
const maxCrowd = 10_000

func newDemoCommand() *cobra.Command {
	d := demonstration{settings: pflag.NewFlagSet("demo", pflag.ContinueOnError)}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Try it: a sample site with Fairdoor in front, and the dashboard",
		Long: `Try it: a sample site with Fairdoor in front of it, in one process that leaves
nothing on disk. Three visitors are let in; whoever else comes waits. A crowd
waits for another part of the site, and a sale is planned: the dashboard shows it
all. With --waitlist people sign up first, and only those who were invited are
let in.`,
		Example: "  fairdoor demo\n  fairdoor demo --crowd 12 --queueing-method random\n  fairdoor demo --waitlist",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case d.crowd < 0 || d.crowd > maxCrowd:
				return usageError{fmt.Errorf("--crowd is %d: must be from 0 to %d", d.crowd, maxCrowd)}
			case d.crowd > 0 && d.waitlist:
				return usageError{errors.New("--crowd and --waitlist do not go together: nobody in the crowd has an invite")}
			}
			return d.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	config.BindFlags(d.settings)
	for name, def := range map[string]string{"listen": "127.0.0.1:8080", "admin": "127.0.0.1:9090"} {
		flag := d.settings.Lookup(name)
		flag.DefValue = def
		cmd.Flags().AddFlag(flag)
	}
	cmd.Flags().StringVar(&d.method, "queueing-method", queue.FIFO.String(), "who gets a free slot: fifo, random, line, passthrough or reject")
	takesOneOf(cmd.Flags(), "queueing-method", queue.FIFO.Choices()...)
	cmd.Flags().IntVar(&d.crowd, "crowd", 0, "simulated visitors who come over HTTP, stay a while, and come again")
	cmd.Flags().BoolVar(&d.waitlist, "waitlist", false, "let in only those who were invited from a waitlist; the admin API shows the mails")
	return cmd
}

// demonstration is a run of the demo.
type demonstration struct {
	settings *pflag.FlagSet
	method   string // of the room demo
	crowd    int
	waitlist bool
	dir      string // for passes and the waitlist
}

// run runs the sample site, the gate and the crowd until ctx ends.
func (d *demonstration) run(ctx context.Context, stdout, stderr io.Writer) error {
	out := &lines{w: stdout}
	site, err := startSite(out)
	if err != nil {
		return err
	}
	defer site.stop()
	if d.dir, err = os.MkdirTemp("", "fairdoor-demo-"); err != nil {
		return fmt.Errorf("making a directory for passes and the waitlist: %w", err)
	}
	defer os.RemoveAll(d.dir)
	s, err := d.startGate(ctx, site.addr, stderr)
	if err != nil {
		return err
	}
	if !d.waitlist {
		if err = planSale(ctx, s.at.operators); err != nil {
			return errors.Join(err, s.stop())
		}
	}
	out.print(d.welcome(s.at.visitors, s.at.operators))

	ctx, cancel := context.WithCancel(ctx)
	var crowd sync.WaitGroup
	crowd.Go(func() { demo.Crowd{URL: "http://" + reachable(s.at.visitors), Size: d.crowd}.Run(ctx) })
	if !d.waitlist {
		crowd.Go(func() {
			demo.Crowd{URL: "http://" + reachable(s.at.visitors), Size: ticketsCrowd, Page: "/tickets"}.Run(ctx)
		})
	}
	err = nil
	select {
	case err = <-s.failed:
	case <-ctx.Done():
	}
	cancel()
	crowd.Wait()
	return errors.Join(err, s.stop())
}

// startGate starts a gate in front of the site.
func (d *demonstration) startGate(ctx context.Context, origin net.Addr, stderr io.Writer) (*server, error) {
	outside := map[string]string{"ORIGIN": "http://" + origin.String(), "STATE_DIR": d.dir, "METHOD": d.method}
	c, _, err := config.Load(config.Options{
		File: "demo.yaml", ReadFile: func(string) ([]byte, error) { return demo.Configuration(d.waitlist), nil },
		Flags: d.settings, Env: func(name string) (string, bool) { value, ok := outside[name]; return value, ok },
	})
	if err != nil {
		return nil, err
	}
	log, err := newLog(c.Log, stderr)
	if err != nil {
		return nil, err
	}
	key, err := cookie.ParseKey(cookie.NewKey())
	if err != nil {
		return nil, err
	}
	gate, err := gateConfig(c, []cookie.Key{key})
	if err != nil {
		return nil, err
	}
	listeners, err := inherited{}.listen(c)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%w; is another demo running? try fairdoor demo --listen 127.0.0.1:8081 --admin 127.0.0.1:9091", err)
	}
	if err != nil {
		return nil, err
	}
	s, err := startServer(ctx, c, gate, listeners, memstore.New(), nil, log)
	if err != nil {
		closeListeners(listeners)
	}
	return s, err
}

// planSale plans a sale of tickets, as operators do: they can change and cancel it.
func planSale(ctx context.Context, operators net.Addr) error {
	start := time.Now().Add(30 * time.Minute).Truncate(time.Minute)
	sale := event.Event{Name: "sale", Description: "The last tickets", Prequeue: start.Add(-10 * time.Minute), Start: start, End: start.Add(time.Hour), Shuffle: true}
	api := client.API{URL: "http://" + reachable(operators), As: "the demo"}
	if err := api.Order(ctx, http.MethodPost, client.Path("rooms", "tickets", "events"), sale, nil); err != nil {
		return fmt.Errorf("planning a sale: %w", err)
	}
	return nil
}

// site is the sample site at work.
type site struct {
	addr   net.Addr
	origin *demo.Origin
	server *http.Server
	done   sync.WaitGroup
}

// startSite serves the sample site on a port of its own, and writes its log to out.
func startSite(out *lines) (*site, error) {
	origin, err := demo.NewOrigin(demo.Config{Log: func(e demo.Event) { out.print(e.String() + "\n") }})
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for the sample site: %w", err)
	}
	s := &site{addr: l.Addr(), origin: origin, server: &http.Server{Handler: origin, ReadHeaderTimeout: 5 * time.Second}}
	// Serve ends when the server is closed. If it fails before, the gate shows that to visitors.
	s.done.Go(func() { _ = s.server.Serve(l) })
	return s, nil
}

func (s *site) stop() {
	// No request is worth waiting for: the gate in front has ended.
	_ = s.server.Close()
	s.done.Wait()
	s.origin.Close()
}

// lines writes to w for several goroutines.
type lines struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lines) print(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	// If nobody reads the output, the demo goes on.
	_, _ = io.WriteString(l.w, text)
}

// welcome returns the text that says what there is to try.
func (d *demonstration) welcome(visitors, operators net.Addr) string {
	at, admin := local(visitors), local(operators)
	if d.waitlist {
		return welcomeToWaitlist(at, admin)
	}
	names := "another browser, or a private window"
	if other := demo.OtherVisitor(at, "ada"); other != "" {
		names = strings.Join([]string{other, demo.OtherVisitor(at, "ben"), demo.OtherVisitor(at, "cleo")}, "  ")
	}
	others := "Send a crowd    fairdoor demo --crowd 12"
	if d.crowd > 0 {
		others = fmt.Sprintf("The crowd       %d simulated visitors who come, stay a while, and come again", d.crowd)
	}
	return fmt.Sprintf(`A sample site, and Fairdoor in front of it. It guards two parts of the site: each is a room,
which so many people may be in at once. Whoever else comes waits in its line.

  The dashboard   http://%[2]s/
                  See who waits and why, let more people in, hold everybody, change the planned sale.
  Visit           http://%[1]s/         the room demo: three may be in at once
                  http://%[1]s/tickets  the room tickets: a crowd waits there
  As others       %[3]s
                  Each of these addresses is another visitor. Tabs of one browser are the same visitor.
  In a terminal   fairdoor status --admin %[2]s
  %[4]s
  Stop            Ctrl-C

`, at, admin, names, others)
}

// welcomeToWaitlist is welcome with a waitlist.
func welcomeToWaitlist(at, admin string) string {
	return fmt.Sprintf(`A sample site for those who were invited, and Fairdoor with a waitlist in front of it.

  The dashboard   http://%[2]s/rooms/demo/waitlist
                  See who is on the waitlist, invite them, plan invites.
  Sign up         http://%[1]s/
                  With any address: no mail leaves this machine.
  Read the mails  http://%[2]s/rooms/demo/waitlist/mails
                  The links in them confirm the address, bring you back, and accept the invite.
  In a terminal   fairdoor waitlist release demo --count 1 --admin %[2]s
  Stop            Ctrl-C

`, at, admin)
}

// local is an address to connect to from this machine, by the name localhost if it is that of IPv4.
func local(a net.Addr) string {
	at := reachable(a)
	if host, port, err := net.SplitHostPort(at); err == nil && host == "127.0.0.1" {
		return "localhost:" + port
	}
	return at
}

// reachable is an address to connect to from this machine.
func reachable(a net.Addr) string {
	at, err := netip.ParseAddrPort(a.String())
	if err != nil || !at.Addr().IsUnspecified() {
		return a.String()
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port()).String()
}
