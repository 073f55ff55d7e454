package challenge

import (
	"cmp"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/fairdoor-gate/fairdoor/proxy/config"
)

// Provider is the name of a provider whose addresses are known, or Other.
type Provider string

// The providers.
const (
	Off       Provider = "off"
	Turnstile Provider = "turnstile"
	HCaptcha  Provider = "hcaptcha"
	ReCaptcha Provider = "recaptcha"
	Other     Provider = "other"
)

// Choices returns the names of all of them.
func (Provider) Choices() []string {
	return []string{string(Off), string(Turnstile), string(HCaptcha), string(ReCaptcha), string(Other)}
}

// Unreachable is what becomes of visitors while the provider does not answer.
type Unreachable string

// What becomes of them.
const (
	Join   Unreachable = "join"   // they get a place all the same
	Refuse Unreachable = "refuse" // they are asked to try again
)

// Choices returns the names of all of them.
func (Unreachable) Choices() []string { return []string{string(Join), string(Refuse)} }

// Config is the challenge of a room: what visitors pass before they get a place in line. The zero
// Config is none.
type Config struct {
	Provider Provider `yaml:"provider" default:"off" usage:"whose challenge visitors pass before they get a place in line"`
	SiteKey  string   `yaml:"site_key" usage:"key of the site that the challenge shows"`
	Secret   string   `yaml:"secret" is:"provider secret" outside:"env" usage:"secret that the provider of the challenge knows the site by"`
	// SecretFile is where the file says that Secret is.
	SecretFile string `yaml:"secret_file" is:"file" into:"secret" usage:"file with the secret that the provider of the challenge knows the site by"`
	// VerifyURL, ScriptURL, WidgetClass and Sources are "" or empty for those of the provider, and
	// Sources for the origin of ScriptURL.
	VerifyURL   string   `yaml:"verify_url" is:"service" outside:"no" usage:"address at which answers to the challenge are verified (default: the provider's)"`
	ScriptURL   string   `yaml:"script_url" is:"service" outside:"no" usage:"address of the challenge's script (default: the provider's)"`
	WidgetClass string   `yaml:"widget_class" usage:"class of the element that the script makes the challenge of (default: the provider's)"`
	Sources     []string `yaml:"sources" is:"source" of:"origins such as [https://challenges.example.com]" outside:"no" usage:"origins that the challenge loads from (default: the provider's, or the script's)"`
	// OnUnreachable is "" for Join.
	OnUnreachable Unreachable `yaml:"on_unreachable" default:"join" usage:"what becomes of visitors while the provider of the challenge does not answer"`
}

// Faults implements [config.Checker].
func (c Config) Faults(*config.Room) (faults []config.Fault) {
	needs := func(missing bool, key, what string) {
		if missing && c.IsOn() {
			faults = append(faults, config.Fault{
				Keys: []string{"challenge.provider", "challenge." + key}, Missing: "challenge." + key, Problem: "is required: " + what,
			})
		}
	}
	needs(c.SiteKey == "", "site_key", "the key by which the provider knows the site, for its widget")
	needs(c.Secret == "" && c.SecretFile == "", "secret", "the provider's secret for the site, or secret_file")
	other := c.Provider == Other
	needs(other && c.VerifyURL == "", "verify_url", "where answers are verified")
	needs(other && c.ScriptURL == "", "script_url", "the script of the widget")
	needs(other && c.WidgetClass == "", "widget_class", "the class of the widget's element")
	return faults
}

// IsOn reports whether there is a challenge.
func (c *Config) IsOn() bool { return c.Provider != "" && c.Provider != Off }

// known has what is known of the providers.
var known = map[Provider]Config{
	Turnstile: {
		VerifyURL: "https://challenges.cloudflare.com/turnstile/v0/siteverify", ScriptURL: "https://challenges.cloudflare.com/turnstile/v0/api.js",
		WidgetClass: "cf-turnstile", Sources: []string{"https://challenges.cloudflare.com"},
	},
	HCaptcha: {
		VerifyURL: "https://api.hcaptcha.com/siteverify", ScriptURL: "https://js.hcaptcha.com/1/api.js",
		WidgetClass: "h-captcha", Sources: []string{"https://hcaptcha.com", "https://*.hcaptcha.com"},
	},
	ReCaptcha: {
		VerifyURL: "https://www.google.com/recaptcha/api/siteverify", ScriptURL: "https://www.google.com/recaptcha/api.js",
		WidgetClass: "g-recaptcha", Sources: []string{"https://www.google.com", "https://www.gstatic.com", "https://recaptcha.google.com"},
	},
}

// WithDefaults returns the configuration with what is known of its provider.
func (c Config) WithDefaults() Config {
	provider := known[c.Provider]
	c.VerifyURL, c.ScriptURL = cmp.Or(c.VerifyURL, provider.VerifyURL), cmp.Or(c.ScriptURL, provider.ScriptURL)
	c.WidgetClass = cmp.Or(c.WidgetClass, provider.WidgetClass)
	if len(c.Sources) == 0 {
		c.Sources = provider.Sources
	}
	if u, err := url.Parse(c.ScriptURL); err == nil && u.Host != "" && len(c.Sources) == 0 {
		c.Sources = []string{u.Scheme + "://" + u.Host}
	}
	c.OnUnreachable = cmp.Or(c.OnUnreachable, Join)
	return c
}

// CheckURL says what is wrong with an address of a provider, "" for nothing; it continues a
// sentence that begins with the address.
func CheckURL(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || strings.ContainsAny(text, " ;,'\"\\"):
		return "is not a URL such as https://challenges.example.com/siteverify"
	case u.Scheme == "https" || u.Scheme == "http" && isHere(u.Hostname()):
		return ""
	}
	return "is not safe on its way: it begins with https://"
}

// isHere reports whether a host is this machine.
func isHere(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// CheckSource says what is wrong with an origin that a widget loads from, "" for nothing; it
// continues a sentence that begins with the origin.
func CheckSource(text string) string {
	if problem := CheckURL(strings.Replace(text, "://*.", "://", 1)); problem != "" {
		return "is not an origin such as https://challenges.example.com, or https://*.example.com"
	}
	if u, _ := url.Parse(text); u != nil && (u.Path != "" || u.RawQuery != "") {
		return "has a path: only scheme, host and port count"
	}
	return ""
}

// widens are the directives of a Content-Security-Policy that a widget needs more of.
var widens = []string{"script-src", "style-src", "connect-src", "img-src"}

// widened returns a policy that allows the widget, too.
func widened(policy string, sources []string) string {
	more := " " + strings.Join(sources, " ")
	parts := strings.Split(policy, "; ")
	for i, part := range parts {
		if name, _, _ := strings.Cut(part, " "); slices.Contains(widens, name) {
			parts[i] += more
		}
	}
	return strings.Join(parts, "; ") + "; frame-src" + more
}
