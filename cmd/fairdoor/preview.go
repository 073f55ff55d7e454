package main

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// preview is what a page is to show, and where it comes from.
type preview struct {
	file, room, template   string // of the configuration, of the room in it, and of the page
	state, method, lang    string
	wait, ahead            int
	queueAll, paused, full bool
	unknown, rejoined      bool
	message                string
	event                  string
	shuffle, held, soldOut bool
	itemsLeft              int
	items                  string
	json                   bool
}

func newPreviewCommand() *cobra.Command {
	var p preview
	cmd := &cobra.Command{
		Use:   "preview [FILE]",
		Short: "Write the waiting page as visitors would see it",
		Long: `Write the waiting page as visitors would see it, with made-up numbers, to FILE or to
the standard output: the built-in page, one of your own (--template), or that of a
room of a configuration (--config, --room).

A state has a name (--state), or is made of flags.`,
		Example: `  fairdoor preview page.html
  fairdoor preview --template page.mustache --method random --wait-time 25 page.html
  fairdoor preview --config fairdoor.yaml --room shop --queue-all page.html
  fairdoor preview --event prequeueing --shuffle page.html
  fairdoor preview --state "fifo, hours" --lang de-DE page.html`,
		Args: takes("this takes: fairdoor preview [FILE]", func(args []string) bool { return len(args) <= 1 }),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := p.render(cmd)
			if err != nil {
				return err
			}
			if len(args) == 1 {
				return os.WriteFile(args[0], text, 0o644)
			}
			_, err = cmd.OutOrStdout().Write(text)
			return err
		},
	}
	p.bind(cmd)
	return cmd
}

func (p *preview) bind(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	configFlag(cmd, &p.file)
	f.StringVar(&p.room, "room", "", "room of the configuration (default: the first)")
	f.StringVar(&p.template, "template", "", "Mustache file, in the place of the room's page")
	f.StringVar(&p.lang, "lang", "", "language of the built-in page, as in Accept-Language")
	f.StringVar(&p.state, "state", "", "state by name; the flags below change it. --state list lists them")
	_ = cmd.RegisterFlagCompletionFunc("state", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return stateNames(), cobra.ShellCompDirectiveNoFileComp
	}) // the flag is there
	f.StringVar(&p.method, "method", "", "fifo, random, line, passthrough, reject")
	takesOneOf(f, "method", queue.FIFO.Choices()...)
	f.IntVar(&p.wait, "wait-time", 10, "estimated wait in minutes")
	f.BoolVar(&p.unknown, "wait-unknown", false, "the wait is not known")
	f.IntVar(&p.ahead, "users-ahead", 214, "people ahead; not in random")
	f.BoolVar(&p.full, "queue-is-full", false, "the queue takes nobody any more")
	f.BoolVar(&p.queueAll, "queue-all", false, "everybody is held")
	f.BoolVar(&p.paused, "paused", false, "the site does not answer")
	f.BoolVar(&p.rejoined, "rejoined", false, "the visitor came back too late for their place")
	f.StringVar(&p.event, "event", "none", "event of the room: none, prequeueing, started")
	takesOneOf(f, "event", "none", "prequeueing", "started")
	f.BoolVar(&p.shuffle, "shuffle", false, "the order of the event's prequeue is drawn")
	f.BoolVar(&p.held, "held", false, "the visitor is in, and those who are in are held")
	f.BoolVar(&p.soldOut, "sold-out", false, "nothing is left, and the room is closed")
	f.IntVar(&p.itemsLeft, "items-left", 0, "how much is left, as the site says")
	f.StringVar(&p.items, "items", "", `what there is to buy, as in [{"name": "Standing", "price": "49 €", "left": 120}]`)
	f.StringVar(&p.message, "message", "", "what the operator tells everybody")
	f.BoolVar(&p.json, "json", false, "the JSON for apps in the place of the page")
}

// render is the page, or the JSON.
func (p *preview) render(cmd *cobra.Command) ([]byte, error) {
	if p.state == "list" {
		return []byte(strings.Join(stateNames(), "\n") + "\n"), nil
	}
	data, err := p.data(cmd)
	if err != nil {
		return nil, err
	}
	set, err := p.templates(cmd.ErrOrStderr(), &data)
	if err != nil {
		return nil, err
	}
	if data.QueueingMethod == queue.Random.String() {
		data.UsersAheadKnown = false
	}
	rendered := set.JSON(data)
	if !p.json {
		language := set.Match(p.lang)
		if read, err := templates.Read(language); err == nil && !read {
			fmt.Fprintf(cmd.ErrOrStderr(), "nobody who speaks %s has read this translation yet (warning)\n", language)
		}
		rendered = set.Page(language, data)
	}
	return rendered.AppendTo(nil, templates.MadeUp(time.Now().UTC(), data)), nil
}

func stateNames() (names []string) {
	for _, s := range templates.States() {
		names = append(names, s.Name)
	}
	return names
}

// data is the state that the flags describe.
func (p *preview) data(cmd *cobra.Command) (templates.Data, error) {
	d, err := p.base()
	if err != nil {
		return d, err
	}
	given := cmd.Flags().Changed
	made := p.state == ""
	if made || given("wait-time") {
		p.setWait(&d)
	}
	if made || given("users-ahead") {
		d.UsersAheadKnown, d.UsersAhead, d.UsersQueued = true, p.ahead, p.ahead+40
		d.Place.Position, d.Place.UsersQueued = p.ahead+1, p.ahead+40
	}
	if p.unknown {
		d.WaitTimeKnown, d.Place.WaitTimeKnown = false, false
	}
	d.QueueIsFull, d.QueueAll = d.QueueIsFull || p.full, d.QueueAll || p.queueAll
	d.Paused, d.Rejoined = d.Paused || p.paused, d.Rejoined || p.rejoined
	if p.message != "" {
		d.Message = p.message
	}
	items, err := queue.ParseItems([]byte(p.items))
	if p.items != "" && err != nil {
		return d, usageError{fmt.Errorf("--items %w", err)}
	}
	d.Items = cmp.Or(string(items), d.Items)
	if given("items-left") {
		d.ItemsLeftKnown, d.ItemsLeft = true, p.itemsLeft
	}
	d.ItemsLeftKnown = d.ItemsLeftKnown || p.soldOut
	d.QueueAll = d.QueueAll || p.held
	d.Held, d.SoldOut = d.Held || p.held, d.SoldOut || p.soldOut
	return d, p.setEvent(&d, given("event"))
}

// setEvent puts the page into an event: eight minutes before its start, or eight after it.
func (p *preview) setEvent(d *templates.Data, given bool) error {
	if given {
		d.Event, d.Drawn = eventIn(p.event, time.Now().UTC()), false
	}
	if !p.shuffle {
		return nil
	}
	if d.Event == (templates.Event{}) {
		return usageError{errors.New("--shuffle: say --event prequeueing, or --event started, beside it")}
	}
	d.Event.Shuffle, d.Drawn = true, true
	d.Event.SeedHash = "66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925" // of the next
	if !d.Event.Prequeueing {
		d.Event.Seed = strings.Repeat("0", 64)
	}
	return nil
}

// eventIn is an event of two hours in a phase.
func eventIn(phase string, now time.Time) templates.Event {
	const near, long = 8, 120 // minutes
	start := now.Truncate(time.Minute)
	e := templates.Event{UntilEnd: long - near}
	switch phase {
	case "none":
		return templates.Event{}
	case "prequeueing":
		start = start.Add(near * time.Minute)
		e.Prequeueing, e.UntilStart, e.UntilEnd = true, near, near+long
	default:
		start = start.Add(-near * time.Minute)
	}
	e.Start, e.End = start.Format(time.RFC3339), start.Add(long*time.Minute).Format(time.RFC3339)
	return e
}

// setWait has the page tell the wait of the flag. In random, a quarter of the people are in after
// half of it, and three quarters after twice as long.
func (p *preview) setWait(d *templates.Data) {
	d.WaitTimeKnown, d.WaitTime = true, p.wait
	d.WaitTime25Percentile, d.WaitTime50Percentile, d.WaitTime75Percentile = max(p.wait/2, 1), p.wait, 2*p.wait
	d.Place.WaitTimeKnown, d.Place.WaitTime = true, p.wait
}

// base is the state by its name, or the plain one of a method.
func (p *preview) base() (templates.Data, error) {
	var method queue.Method
	if p.method != "" {
		_ = method.UnmarshalText([]byte(p.method)) // the flag has no other words
	}
	if p.state == "" {
		d := templates.Data{RoomName: "shop", QueueingMethod: method.String(), PlaceKeptSeconds: 1800}
		if method.HasExactLine() {
			d.Place = templates.Place{TicketNumber: 1210 + uint64(max(p.ahead, 0)), FirstWaitingNumber: 1210, LastWaitingNumber: 1250 + uint64(max(p.ahead, 0))}
		}
		return d, nil
	}
	names := stateNames()
	i := slices.Index(names, p.state)
	if i < 0 {
		return templates.Data{}, usageError{fmt.Errorf("--state: there is no state %q%s; fairdoor preview --state list lists them", p.state, didYouMean(p.state, names))}
	}
	d := templates.States()[i].Data
	if p.method != "" {
		d.QueueingMethod = method.String()
	}
	return d, nil
}

// templates are those of the room, or the built-in ones, with the page of the flag. What the
// configuration has of the room goes into the data.
func (p *preview) templates(warnings io.Writer, d *templates.Data) (*templates.Set, error) {
	var o templates.Options
	source, err := p.ofRoom(warnings, d, &o)
	if err != nil {
		return nil, err
	}
	if p.template != "" {
		if source, err = os.ReadFile(p.template); err != nil {
			return nil, fmt.Errorf("reading the page: %w", err)
		}
		for _, doubt := range templates.Doubts(source) {
			fmt.Fprintf(warnings, "%s:%s (warning)\n", p.template, doubt)
		}
	}
	if source != nil {
		if o.Custom, err = templates.Parse(source); err != nil {
			return nil, fmt.Errorf("reading the page: %w", err)
		}
	}
	return templates.NewSet(o)
}

// ofRoom takes what the configuration has of the room, and returns the source of its page; nil for
// the built-in one.
func (p *preview) ofRoom(warnings io.Writer, d *templates.Data, o *templates.Options) ([]byte, error) {
	if p.file == "" {
		return nil, nil
	}
	c, found, err := newSources(p.file, nil).load()
	printWarnings(warnings, found)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(c.Rooms, func(r config.Room) bool { return p.room == "" || r.Name == p.room })
	if i < 0 {
		return nil, usageError{fmt.Errorf("--room: %s has no room %q", p.file, p.room)}
	}
	r := &c.Rooms[i]
	d.RoomName = r.Name
	if p.method == "" && p.state == "" {
		d.QueueingMethod = r.Settings.Method.String()
	}
	if p.message == "" {
		d.Message = r.Settings.Message
	}
	o.DefaultLanguage = string(r.DefaultTemplateLanguage)
	o.Identity = r.Identity()
	o.Identity.Logo, o.Identity.Hero = inPage(r.LogoSource), inPage(r.HeroSource)
	return r.TemplateSource, nil
}

// inPage is the address that has a picture in it; "" for none.
func inPage(p *templates.Picture) string {
	if p == nil {
		return ""
	}
	return "data:" + p.Type + ";base64," + base64.StdEncoding.EncodeToString(p.Source)
}
