package main

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/acme"
	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/callback"
	"github.com/fairdoor-gate/fairdoor/proxy/guests"
	"github.com/fairdoor-gate/fairdoor/proxy/guests/mail"
	"github.com/fairdoor-gate/fairdoor/proxy/listen"
	"github.com/fairdoor-gate/fairdoor/proxy/origin"
	"github.com/fairdoor-gate/fairdoor/proxy/outbound"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/proxy/signature"
	"github.com/fairdoor-gate/fairdoor/proxy/subject"
	"github.com/fairdoor-gate/fairdoor/proxy/watch"
	"github.com/fairdoor-gate/fairdoor/proxy/webhooks"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// checkKey checks a cookie key for the configuration.
func checkKey(key string) error {
	_, err := cookie.ParseKey(key)
	return err
}

// checkTemplate checks a room's template for the configuration.
func checkTemplate(_ string, source []byte) []config.TemplateFault {
	list := templateFaults(templates.Doubts(source), true)
	_, err := templates.Parse(source)
	var faults templates.Faults
	if err != nil && !errors.As(err, &faults) {
		faults = templates.Faults{{Message: err.Error()}}
	}
	return append(list, templateFaults(faults, false)...)
}

func templateFaults(faults templates.Faults, harmless bool) []config.TemplateFault {
	list := make([]config.TemplateFault, len(faults))
	for i, f := range faults {
		list[i] = config.TemplateFault{Line: f.Line, Col: f.Col, Message: f.Message, Harmless: harmless}
	}
	return list
}

// checkMails checks the templates of mails for the configuration.
func checkMails(dir string) error {
	if _, err := os.ReadDir(dir); err != nil {
		return err
	}
	_, err := mail.NewComposer(mail.Options{Home: "https://example.com", Templates: os.DirFS(dir)})
	return err
}

// gateConfig turns the program's configuration into the gate's.
func gateConfig(c *config.Config, keys []cookie.Key) (proxy.Config, error) {
	gate := proxy.Config{TrustedProxies: c.TrustedProxies, Keys: keys, OriginTimeout: c.OriginTimeout, Transport: origin.Transport(c.Transport), SignRequests: c.SignRequests, PublicHealth: c.PublicHealth, LoadToken: c.LoadToken}
	gate.File, gate.TrustedProxiesFile = c.File, c.TrustedProxiesFile
	gate.SignatureAgents = map[string]string{}
	for _, host := range c.SignatureAgents {
		gate.SignatureAgents[strings.ToLower(host)] = signature.Directory(strings.ToLower(host))
	}
	for _, line := range c.Operators {
		o, err := admin.ParseOperator(line)
		if err != nil {
			return gate, fmt.Errorf("reading operators: %w", err)
		}
		gate.Operators = append(gate.Operators, o)
	}
	gate.HostHeader = origin.HostHeader(c.HostHeader)
	var err error
	if gate.Origin, gate.Origins, err = origins(c.Origin, c.Origins); err != nil {
		return gate, err
	}
	for i := range c.Rooms {
		room, err := roomConfig(&c.Rooms[i])
		if err != nil {
			return gate, fmt.Errorf("room %q: %w", c.Rooms[i].Name, err)
		}
		gate.Rooms = append(gate.Rooms, room)
	}
	var lists []guests.Config
	for i := range c.Waitlists {
		lists = append(lists, waitlistConfig(&c.Waitlists[i], c))
	}
	pushHosts, err := outbound.ParseHosts(c.PushHosts)
	if err != nil {
		return gate, fmt.Errorf("reading push_hosts: %w", err)
	}
	hooks, err := webhooksOf(c)
	gate.Parts = map[string]any{guests.Name: lists, callback.Name: pushHosts, watch.Name: hooks}
	return gate, err
}

// origins are one origin and several, of which either may be missing.
func origins(one string, several []string) (first *url.URL, all []*url.URL, err error) {
	for _, text := range several {
		u, err := url.Parse(text)
		if err != nil {
			return nil, nil, fmt.Errorf("reading an origin: %w", err)
		}
		all = append(all, u)
	}
	if one == "" {
		return nil, all, nil
	}
	if first, err = url.Parse(one); err != nil {
		return nil, nil, fmt.Errorf("reading the origin: %w", err)
	}
	return first, all, nil
}

// webhooksOf are the webhooks.
func webhooksOf(c *config.Config) (w watch.Config, err error) {
	if w.Hosts, err = outbound.ParseHosts(c.WebhookHosts); err != nil {
		return w, fmt.Errorf("reading webhook_hosts: %w", err)
	}
	for _, given := range c.Webhooks {
		h := webhooks.Hook{Name: given.Name, Rooms: given.Rooms}
		for _, kind := range given.Events {
			h.Events = append(h.Events, webhooks.Kind(kind))
		}
		var errURL, errSecret error
		h.URL, errURL = url.Parse(given.URL)
		h.Secret, errSecret = webhooks.ParseSecret(given.Secret)
		if err := errors.Join(errURL, errSecret); err != nil {
			return w, fmt.Errorf("reading a webhook: %w", err)
		}
		w.Hooks = append(w.Hooks, h)
	}
	return w, nil
}

// waitlistConfig turns a waitlist of the program's configuration into the gate's.
func waitlistConfig(l *config.Waitlist, c *config.Config) guests.Config {
	list := guests.Config{
		Name: l.Name, Room: l.Room, Settings: l.Settings, SignUpsPerNetwork: l.SignUpsPerNetwork, URL: l.URL,
		Local: localURL(c.Listen, c.TLS.Enabled()),
	}
	for _, a := range l.Actions {
		list.Settings.Actions = append(list.Settings.Actions, waitlist.Action(a))
	}
	if l.SMTP.Host != "" {
		s := l.SMTP
		list.SMTP = &mail.SMTP{
			Host: s.Host, Port: s.Port, Username: s.Username, Password: s.Password, TLS: mail.TLS(s.TLS), From: s.From, ReplyTo: s.ReplyTo,
		}
	}
	if l.MailTemplates != "" {
		list.MailTemplates = os.DirFS(l.MailTemplates)
	}
	return list
}

// localURL is where a gate is that listens at an address, from its own machine.
func localURL(address string, https bool) string {
	host, port, err := net.SplitHostPort(address)
	if ip, errIP := netip.ParseAddr(host); host == "" || errIP == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	if err == nil {
		address = net.JoinHostPort(host, port)
	}
	if https {
		return "https://" + address
	}
	return "http://" + address
}

func roomConfig(c *config.Room) (proxy.RoomConfig, error) {
	room := proxy.RoomConfig{
		Name: c.Name, Routes: []route.Route{{Host: c.Host, Path: c.Path}},
		Basics: c.Basics, Language: string(c.DefaultTemplateLanguage), Options: c.Features.Options(),
		Identity: c.Identity(),
		Logo:     c.LogoSource,
		Hero:     c.HeroSource,
		MaxRooms: c.MaxRooms, RoomIdle: c.RoomIdle,
		Settings: c.Settings, Events: c.Planned,

		HostHeader: origin.HostHeader(c.HostHeader),
	}
	room.Subject = subjectConfig(c)
	for _, r := range c.AdditionalRoutes {
		room.Routes = append(room.Routes, r.ForGate())
	}
	for _, r := range c.Rules {
		room.Rules = append(room.Rules, r.ForGate())
	}
	var errPage, errOrigin error
	if c.TemplateSource != nil {
		room.Page, errPage = templates.Parse(c.TemplateSource)
	}
	room.Origin, room.Origins, errOrigin = origins(c.Origin, c.Origins)
	return room, errors.Join(errPage, errOrigin)
}

func subjectConfig(c *config.Room) subject.Config {
	t := c.Subject.Token
	s := subject.Config{
		Room: c.Name, Header: c.Subject.Header, TokenHeader: t.Header, TokenCookie: t.Cookie,
		PublicKeys: t.PublicKeys, JWKSURL: t.JWKSURL, Issuer: t.Issuer, Audience: t.Audience,
		LabelClaim: c.Subject.Label.Claim, LabelHeader: c.Subject.Label.Header,
	}
	for _, secret := range t.Secrets {
		s.Secrets = append(s.Secrets, []byte(secret))
	}
	return s
}

// acmeConfig says how certificates come from an authority.
func acmeConfig(c *config.Config, log *zap.Logger) acme.Config {
	a := c.TLS.ACME
	return acme.Config{
		Domains: a.Domains, Email: a.Email, Directory: a.Directory, Roots: a.Roots, Dir: cmp.Or(a.Storage, filepath.Join(c.StateDir, "acme")),
		HTTPS: c.Listen, HTTP: c.TLS.Redirect, Log: log,
	}
}

func certificates(c *config.Config) []listen.Certificate {
	var pairs []listen.Certificate
	for _, pair := range c.TLS.Certificates {
		pairs = append(pairs, listen.Certificate{Cert: pair.Cert, Key: pair.Key})
	}
	return pairs
}
