package route

// Preset is the name of rules for what programs ask for, and no person.
type Preset string

// presets are all that there are, in the order in which they are told.
var presets = []struct {
	name  Preset
	rules []matcher
}{
	// RFC 8615: certificates (ACME), security.txt, change-password, the links of apps.
	{"well_known", []matcher{{prefix: []string{"/.well-known/"}}}},
	// RFC 9309, sitemaps.org, and the IAB's ads.txt and app-ads.txt.
	{"robots", []matcher{
		{path: []string{"/robots.txt"}}, {path: []string{"/ads.txt"}}, {path: []string{"/app-ads.txt"}},
		{fileBegins: "/sitemap", suffix: []string{".xml"}}, {fileBegins: "/sitemap", suffix: []string{".xml.gz"}},
	}},
	// The checks of load balancers and of Kubernetes.
	{"health", []matcher{
		{path: []string{"/health"}}, {path: []string{"/healthz"}}, {path: []string{"/livez"}}, {path: []string{"/readyz"}},
	}},
}

// Choices returns the names of all presets.
func (Preset) Choices() []string {
	names := make([]string, len(presets))
	for i, p := range presets {
		names[i] = string(p.name)
	}
	return names
}

// compile returns the preset's rules; none if there is no preset of its name.
func (p Preset) compile() []matcher {
	for _, known := range presets {
		if known.name == p {
			return known.rules
		}
	}
	return nil
}
