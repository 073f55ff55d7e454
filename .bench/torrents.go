package main

import (
	"fmt"
	"slices"
	"strings"
)

// torrent is a kind of flood: connections that ask as fast as they can. It is a row of the report.
type torrent struct {
	name, title string
	connections int
	streams     int      // so many on each connection, by HTTP/2; 0 for HTTP/1.1
	target      string   // what is asked for
	headers     []header // besides cookies
	newcomers   bool     // nobody brings a ticket; otherwise it is one connection or stream in withoutCookies
	anew        bool     // each request comes over a connection of its own
}

var torrents = []torrent{
	{name: "http1", title: "2,500 connections", connections: 2500, target: target, headers: poll},
	{name: "http2", title: "20 connections of 100 streams", connections: 20, streams: 100, target: target, headers: poll},
	{name: "http2-100", title: "100 connections of 100 streams", connections: 100, streams: 100, target: target, headers: poll},
	{name: "http1-1900", title: "1,900 connections", connections: 1900, target: target, headers: poll},
	{name: "renew", title: "2,500 that renew a session", connections: 2500, target: "/.fairdoor/session?renew=1", headers: poll},
	{name: "image", title: "2,500 for parts of pages", connections: 2500, target: target, headers: without("Sec-Fetch-Dest", header{"Sec-Fetch-Dest", "image"})},
	{name: "prefetch", title: "2,500 that prefetch", connections: 2500, target: target, headers: without("", header{"Sec-Purpose", "prefetch"})},
	{name: "anew", title: "2,500 newcomers, a connection each time", connections: 2500, target: target, headers: poll, newcomers: true, anew: true},
}

// without is the header of a poll without one of its lines, and with another.
func without(name string, other header) []header {
	return append(slices.DeleteFunc(slices.Clone(poll), func(h header) bool { return h.name == name }), other)
}

// secure says whether a torrent comes by TLS.
func (t *torrent) secure() bool { return t.streams > 0 }

// torrentsNamed returns those that are named, by commas; all without a name.
func torrentsNamed(names string) ([]torrent, error) {
	if names == "" {
		return torrents, nil
	}
	var some []torrent
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(torrents, func(t torrent) bool { return t.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no flood %q", name)
		}
		some = append(some, torrents[i])
	}
	return some, nil
}
