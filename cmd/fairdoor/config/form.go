package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/mail"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/challenge"
	"github.com/fairdoor-gate/fairdoor/proxy/listen"
	"github.com/fairdoor-gate/fairdoor/proxy/origin"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/proxy/subject"
	"github.com/fairdoor-gate/fairdoor/proxy/webhooks"
	"github.com/fairdoor-gate/fairdoor/queue/event"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// form is what a text has to be.
type form struct {
	want    string // for those who wrote something else
	example bool   // the default is one
	kind    string // for help, "" for string
	// A problem is a sentence of its own, as the text may be a secret.
	sentence bool
	empty    bool // "" is one, and stands for none
	check    func(d *loader, text string, from layer) (canonical, problem string)
}

// plain is the check of a form whose texts are taken as they are.
func plain(check func(string) string) func(*loader, string, layer) (string, string) {
	return func(_ *loader, text string, _ layer) (string, string) { return text, check(text) }
}

// forms are the forms by the names that the tags of Config have for them.
var forms = map[string]form{
	"address":         {want: "an address", example: true, check: plain(listen.CheckAddress)},
	"further address": {want: `an address such as ":80"`, empty: true, check: plain(listen.CheckAddress)},
	"certified name":  {want: "a name such as shop.example.com", check: plain(checkCertifiedName)},
	"account address": {want: "an e-mail address", empty: true, check: plain(checkAccountAddress)},
	"directory":       {want: "an https URL", kind: "url", check: plain(checkDirectory)},
	"token":           {want: "a string", check: plain(checkToken)},
	"operator": {want: "an operator", sentence: true, check: plain(func(s string) string {
		_, err := admin.ParseOperator(s)
		return problemOf(err)
	})},
	"file":              {want: "the path of a file", kind: "file", empty: true, check: (*loader).path},
	"log file":          {want: "stdout, or the path of a file", empty: true, check: (*loader).logFile},
	"dir":               {want: "the path of a directory", kind: "dir", empty: true, check: (*loader).path},
	"store":             {want: "memory, or a URL such as redis://host:6379", sentence: true, check: (*loader).store},
	"database":          {want: "the path of a file, or a URL such as postgres://host/name", sentence: true, empty: true, check: (*loader).database},
	"url":               {want: "an URL such as http://127.0.0.1:3000", kind: "url", check: originURL},
	"health path":       {want: "a path such as /healthz", check: plain(origin.CheckHealthPath)},
	"host header":       {want: "visitor, origin or a host", check: hostHeader},
	"web origin":        {want: "an origin such as https://app.example.com", check: webOrigin},
	"network":           {want: "a network such as 10.0.0.0/8", check: network},
	"line":              {want: "a network such as 10.0.0.0/8", check: networkLine},
	"key":               {want: "a key", sentence: true, check: (*loader).key},
	"token hash":        {want: "the SHA-256 of a token, as sha256sum prints it", empty: true, check: tokenHash},
	"secret":            {want: "a secret", sentence: true, check: plain(func(s string) string { return problemOf(subject.CheckSecret(s)) })},
	"name":              {want: "a name", check: plain(checkName)},
	"suffix":            {want: "a name", empty: true, check: plain(checkName)},
	"host":              {want: "a host", check: plain(route.CheckHost)},
	"path":              {want: "a path", check: plain(route.CheckPath)},
	"domain":            {want: "a domain", empty: true, check: plain(cookie.CheckDomain)},
	"header":            {want: "the name of a header", empty: true, check: plain(subject.CheckHeader)},
	"cookie":            {want: "the name of a cookie", empty: true, check: plain(subject.CheckCookie)},
	"title":             {want: "a name", empty: true, check: plain(templates.CheckSiteName)},
	"colour":            {want: "a colour such as #0a7d55", empty: true, check: plain(templates.CheckAccent)},
	"paper":             {want: "a colour such as #fff4e0", empty: true, check: plain(templates.CheckPaper)},
	"font":              {want: "fonts such as Georgia, serif", empty: true, check: plain(templates.CheckFont)},
	"link":              {want: "a URL such as https://help.example.com/", kind: "url", empty: true, check: plain(templates.CheckHelpURL)},
	"password":          {want: "a password", sentence: true, check: plain(checkPassword)},
	"provider secret":   {want: "a secret", sentence: true, empty: true, check: plain(checkProviderSecret)},
	"program's key":     {want: "a key", sentence: true, check: plain(checkProgramKey)},
	"mail address":      {want: "an e-mail address", check: plain(checkMailAddress)},
	"time":              {want: "a time such as 2026-12-01T09:00:00+01:00", kind: "time", check: plain(checkMoment)},
	"zone":              {want: "a zone such as Europe/Oslo", check: plain(checkZone)},
	"condition":         {want: "a string", check: plain(checkCondition)},
	"webhook host":      {want: "a host such as hooks.example.com", check: plain(checkWebhookHost)},
	"webhook":           {want: "a URL such as https://hooks.example.com/fairdoor", kind: "url", check: plain(checkWebhook)},
	"room of a webhook": {want: "the name of a room", check: plain(checkCondition)},
	"service":           {want: "a URL such as https://challenges.example.com/siteverify", kind: "url", empty: true, check: plain(challenge.CheckURL)},
	"source":            {want: "an origin such as https://challenges.example.com", check: plain(challenge.CheckSource)},
	"signing secret": {want: "a secret", sentence: true, check: plain(func(s string) string {
		_, err := webhooks.ParseSecret(s)
		return problemOf(err)
	})},
}

// checkCondition refuses the empty string: it would be a condition that looks given and is not.
func checkCondition(s string) string {
	if s == "" {
		return "is empty: take the line out, or say what to match"
	}
	return ""
}

// checkZone wants a zone of the IANA database.
func checkZone(s string) string {
	_, problem := event.Zone(s)
	return problem
}

// checkMoment wants a time, with or without an offset.
func checkMoment(s string) string {
	_, problem := event.Moment(s, time.UTC)
	return problem
}

// checkName wants what can stand in the name of a cookie, a metric and a path.
func checkName(s string) string {
	switch {
	case plainName.MatchString(s):
		return ""
	case s == "":
		return "is empty"
	case plainName.MatchString(s[:min(len(s), 64)]):
		return "is too long: at most 64 characters"
	default:
		return "may hold letters, digits, - and _ only"
	}
}

// checkToken wants what fits into an Authorization header. It does not repeat a character that may
// belong to a secret.
func checkToken(s string) string {
	i := strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
	what := "a control character"
	switch {
	case i < 0:
		return ""
	case s[i] > '~':
		what = "a character that is not ASCII"
	case unicode.IsSpace(rune(s[i])):
		what = "white space"
	}
	return fmt.Sprintf("holds %s: letters, digits and punctuation are allowed", what)
}

// checkProgramKey wants a token that nobody guesses.
func checkProgramKey(s string) string {
	if len(s) < 24 {
		return "is too short: a key is 24 characters or more, such as openssl rand -hex 16 prints"
	}
	return checkToken(s)
}

// path makes a path of the configuration file relative to that file, and any other to the working
// directory.
func (d *loader) path(p string, from layer) (canonical, problem string) {
	switch {
	case strings.ContainsFunc(p, unicode.IsControl):
		return p, "is no path"
	case filepath.IsAbs(p):
		return p, ""
	case from == fromFile:
		p = filepath.Join(filepath.Dir(d.File), p)
	}
	if !filepath.IsAbs(p) {
		p = filepath.Join(d.WorkDir, p)
	}
	return filepath.Clean(p), ""
}

// store never shows what was written: the address of a store may hold a password.
func (d *loader) store(text string, _ layer) (canonical, problem string) {
	switch {
	case text == "memory":
		return text, ""
	case d.CheckStore == nil:
		return text, "the supported store is memory, which keeps the queue in this process and its journal in state_dir"
	default:
		return text, problemOf(d.CheckStore(text))
	}
}

// logFile is where a log is written.
func (d *loader) logFile(text string, from layer) (canonical, problem string) {
	if text == Stdout {
		return text, ""
	}
	return d.path(text, from)
}

// database never shows what was written, like store.
func (d *loader) database(text string, from layer) (canonical, problem string) {
	switch {
	case waitlist.IsURL(text):
		return text, problemOf(waitlist.CheckURL(text))
	case strings.Contains(text, "://"):
		return text, "the supported databases are an SQLite file, by its path, and PostgreSQL: postgres://user:password@host/name"
	}
	return d.path(text, from)
}

func checkProviderSecret(s string) string {
	if problem := checkToken(s); problem != "" {
		return "the secret " + problem
	}
	return ""
}

func checkPassword(s string) string {
	if s == "" {
		return "the password is empty"
	}
	return ""
}

// checkMailAddress wants an address, with or without a name: Nordlys <tickets@example.com>.
func checkMailAddress(s string) string {
	if _, err := mail.ParseAddress(s); err != nil {
		return "is not an e-mail address such as tickets@example.com, or Tickets <tickets@example.com>"
	}
	return ""
}

// checkAccountAddress wants an address without a name.
func checkAccountAddress(s string) string {
	if a, err := mail.ParseAddress(s); err != nil || a.Address != s {
		return "is not an e-mail address such as admin@example.com"
	}
	return ""
}

// checkCertifiedName wants a name for which a certificate authority gives a certificate without
// looking into DNS.
func checkCertifiedName(s string) string {
	if strings.Contains(s, "*") {
		return "is a wildcard, for which authorities want to see an entry in DNS: name each host, or use tls.certificates"
	}
	if _, err := netip.ParseAddr(s); err == nil || s == "" {
		return "is no name such as shop.example.com"
	}
	return route.CheckHost(s)
}

// checkDirectory wants the address of a certificate authority.
func checkDirectory(s string) string {
	if u, err := url.Parse(s); err != nil || u.Scheme != "https" || u.Host == "" {
		return "is not an https URL such as https://acme-v02.api.letsencrypt.org/directory"
	}
	return ""
}

// problemOf is what an error says, "" for none.
func problemOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// key has a cookie key checked. An error that repeats the key is not passed on.
func (d *loader) key(text string, _ layer) (canonical, problem string) {
	switch {
	case strings.TrimSpace(text) == "":
		return text, "the key is empty"
	case d.CheckKey == nil:
		return text, ""
	}
	problem = problemOf(d.CheckKey(text))
	switch {
	case strings.Contains(problem, text):
		problem = "not a cookie key as `fairdoor keygen` prints it"
	case problem != "":
		problem = "not a cookie key: " + problem
	}
	return text, problem
}

func originURL(_ *loader, text string, _ layer) (canonical, problem string) {
	u, problem := origin.ParseURL(text)
	if problem != "" {
		return text, problem
	}
	return u.String(), ""
}

// hostHeader reads which Host origins get.
func hostHeader(_ *loader, text string, _ layer) (canonical, problem string) {
	switch {
	case text == string(origin.VisitorsHost):
		return "", ""
	case text == "":
		return text, "is empty: expects visitor, origin or a host such as shop.internal"
	case text == string(origin.OwnHost):
		return text, ""
	}
	if _, ok := route.ParseHost(text); !ok {
		return text, "is neither visitor, nor origin, nor a host such as shop.internal"
	}
	return text, ""
}

func webOrigin(_ *loader, text string, _ layer) (canonical, problem string) {
	return origin.ParseSite(text)
}

// tokenHash reads the SHA-256 of a token.
func tokenHash(_ *loader, text string, _ layer) (canonical, problem string) {
	if b, err := hex.DecodeString(text); err != nil || len(b) != sha256.Size {
		return text, fmt.Sprintf("has to be %d hexadecimal digits", hex.EncodedLen(sha256.Size))
	}
	return strings.ToLower(text), ""
}

// network reads a network, or an address as a network of one.
func network(_ *loader, text string, _ layer) (canonical, problem string) {
	if ip, err := netip.ParseAddr(text); err == nil && ip.Zone() == "" {
		ip = ip.Unmap()
		return netip.PrefixFrom(ip, ip.BitLen()).String(), ""
	}
	p, err := netip.ParsePrefix(text)
	switch {
	case err != nil:
		return text, "is not a network such as 10.0.0.0/8 or 2001:db8::/32"
	case p.Addr().Is4In6():
		return text, "is an IPv4 network in IPv6 clothes: write it as IPv4"
	case p != p.Masked():
		return text, fmt.Sprintf("has bits set beyond its mask (did you mean %q?)", p.Masked())
	}
	return text, ""
}

// networkLine reads a network from a line of a file, with or without a comment behind it.
func networkLine(d *loader, text string, from layer) (canonical, problem string) {
	text, _, _ = strings.Cut(text, "#")
	return network(d, strings.TrimSpace(text), from)
}

var variable = regexp.MustCompile(`\$\$|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\{`)

// expand replaces each ${NAME} of a value by the environment variable of that name, and each $$ by
// a dollar sign. A dollar sign that begins neither stays. The problem is "" or what is wrong,
// without any variable's value.
func (v *value) expand() (expanded, problem string) {
	expanded = variable.ReplaceAllStringFunc(v.node.Value, func(found string) string {
		if found == "$$" {
			return "$"
		}
		name := strings.Trim(found, "${}")
		text, ok := v.lookup(name)
		switch {
		case name == "":
			problem = cmp.Or(problem, "has a ${ that names no variable: only ${NAME} is understood, and $$ for a dollar sign")
		case !ok:
			problem = cmp.Or(problem, fmt.Sprintf("names the environment variable %s, which is not set", name))
		}
		return text
	})
	if expanded == "" && v.node.Value != "" && v.of.isSecret() {
		problem = cmp.Or(problem, "is empty once its variables are put in")
	}
	return expanded, problem
}

// lookup finds a variable.
func (d *loader) lookup(name string) (string, bool) {
	if d.Env == nil {
		return "", false
	}
	return d.Env(name)
}

// env is a variable, "" if it is not set.
func (d *loader) env(name string) string {
	value, _ := d.lookup(name)
	return value
}
