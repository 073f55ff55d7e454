package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"

	"github.com/anteroom-gate/anteroom/cmd/anteroom/config"
	"github.com/anteroom-gate/anteroom/cookie"
	"github.com/anteroom-gate/anteroom/proxy"
	"github.com/anteroom-gate/anteroom/proxy/guests"
	"github.com/anteroom-gate/anteroom/proxy/guests/mail"
	"github.com/anteroom-gate/anteroom/proxy/listen"
	"github.com/anteroom-gate/anteroom/proxy/route"
	"github.com/anteroom-gate/anteroom/proxy/subject"
	"github.com/anteroom-gate/anteroom/proxy/webhooks"
	"github.com/anteroom-gate/anteroom/templates"
)

// checkKey checks a cookie key for the configuration.
func checkKey(key string) error {
	_, err := cookie.ParseKey(key)
	return err
}

// checkTemplate checks a room's template for the configuration.
func checkTemplate(_ string, source []byte) []config.TemplateFault {
	_, err := templates.Parse(source)
	var faults templates.Faults
	switch {
	case err == nil:
		return nil
	case errors.As(err, &faults):
		list := make([]config.TemplateFault, len(faults))
		for i, f := range faults {
			list[i] = config.TemplateFault{Line: f.Line, Col: f.Col, Message: f.Message}
		}
		return list
	default:
		return []config.TemplateFault{{Message: err.Error()}}
	}
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
	gate := proxy.Config{TrustedProxies: c.TrustedProxies, Keys: keys, OriginTimeout: c.OriginTimeout}
	var err error
	if c.Origin != "" {
		if gate.Origin, err = url.Parse(c.Origin); err != nil {
			return gate, fmt.Errorf("reading the origin: %w", err)
		}
	}
	for i := range c.Rooms {
		room, err := roomConfig(&c.Rooms[i])
		if err != nil {
			return gate, fmt.Errorf("room %q: %w", c.Rooms[i].Name, err)
		}
		gate.Rooms = append(gate.Rooms, room)
	}
	for i := range c.Waitlists {
		gate.Waitlists = append(gate.Waitlists, waitlistConfig(&c.Waitlists[i], c))
	}
	gate.Webhooks, gate.WebhookHosts, err = webhooksOf(c)
	return gate, err
}

// webhooksOf are the webhooks, and the hosts that they may be at.
func webhooksOf(c *config.Config) (hooks []webhooks.Hook, hosts webhooks.Hosts, err error) {
	if hosts, err = webhooks.ParseHosts(c.WebhookHosts); err != nil {
		return nil, hosts, fmt.Errorf("reading webhook_hosts: %w", err)
	}
	for _, w := range c.Webhooks {
		h := webhooks.Hook{Name: w.Name, Rooms: w.Rooms}
		for _, kind := range w.Events {
			h.Events = append(h.Events, webhooks.Kind(kind))
		}
		var errURL, errSecret error
		h.URL, errURL = url.Parse(w.URL)
		h.Secret, errSecret = webhooks.ParseSecret(w.Secret)
		if err := errors.Join(errURL, errSecret); err != nil {
			return nil, hosts, fmt.Errorf("reading a webhook: %w", err)
		}
		hooks = append(hooks, h)
	}
	return hooks, hosts, nil
}

// waitlistConfig turns a waitlist of the program's configuration into the gate's.
func waitlistConfig(l *config.Waitlist, c *config.Config) guests.Config {
	list := guests.Config{
		Name: l.Name, Room: l.Room, Settings: l.Settings, SignUpsPerNetwork: l.SignUpsPerNetwork, URL: l.URL,
		Local: localURL(c.Listen, len(c.TLS.Certificates) > 0),
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
		StatusCode: c.QueueingStatusCode, JSON: c.JSONResponseEnabled, CORSOrigins: c.CORSOrigins,
		Language: string(c.DefaultTemplateLanguage), CookieSuffix: c.CookieSuffix,
		CookieAttributes: cookie.Attributes{
			SameSite: cookie.SameSite(c.CookieAttributes.SameSite),
			Secure:   cookie.Secure(c.CookieAttributes.Secure),
			Domain:   c.CookieAttributes.Domain,
		},
		Revoke:   slices.Contains(c.EnabledOriginCommands, "revoke"),
		Left:     slices.Contains(c.EnabledOriginCommands, "left"),
		Identity: templates.Identity{SiteName: c.SiteName, Accent: c.Accent, HelpURL: c.HelpURL},
		Logo:     c.LogoSource,
		MaxRooms: c.MaxRooms, RoomIdle: c.RoomIdle,
		Settings: c.Settings, Presets: c.Presets,
		Invited: c.Admission == "invited", GuestPriority: int16(c.GuestPriority),
		Events: c.Planned,
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
	room.Origin, errOrigin = url.Parse(c.Origin)
	return room, errors.Join(errPage, errOrigin)
}

func subjectConfig(c *config.Room) subject.Config {
	t := c.Subject.Token
	s := subject.Config{
		Room: c.Name, Header: c.Subject.Header, TokenHeader: t.Header, TokenCookie: t.Cookie,
		PublicKeys: t.PublicKeys, Issuer: t.Issuer, Audience: t.Audience,
		LabelClaim: c.Subject.Label.Claim, LabelHeader: c.Subject.Label.Header,
	}
	for _, secret := range t.Secrets {
		s.Secrets = append(s.Secrets, []byte(secret))
	}
	return s
}

func certificates(c *config.Config) []listen.Certificate {
	var pairs []listen.Certificate
	for _, pair := range c.TLS.Certificates {
		pairs = append(pairs, listen.Certificate{Cert: pair.Cert, Key: pair.Key})
	}
	return pairs
}
