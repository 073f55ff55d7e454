package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"
)

// read reads one of the files, with the addresses.
func read(t *testing.T, name string, at addresses, into any) {
	t.Helper()
	text, err := files.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal([]byte(at.put(string(text))), into))
}

// to passes requests on to an address.
func to(t *testing.T, address string) http.Handler {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(u)
		r.SetXForwarded()
		r.Out.Host = r.In.Host
	}}
}

// checker sends checks, and follows no redirect.
var checker = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// send sends a check and reads the answer. One that fails is nil.
func send(t *testing.T, check *http.Request) (*http.Response, string) {
	t.Helper()
	resp, err := checker.Do(check)
	if !assert.NoError(t, err) {
		return nil, ""
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	assert.NoError(t, err)
	return resp, string(body)
}

// hopByHop are the headers that Traefik takes out of checks and of what it makes of their answers.
var hopByHop = []string{"Connection", "Keep-Alive", "Te", "Trailers", "Transfer-Encoding", "Upgrade"}

// likeTraefik does what Traefik v3.7.13 does with the configuration:
// pkg/middlewares/auth/forward.go.
func likeTraefik(t *testing.T, at addresses) http.Handler {
	var c struct {
		HTTP struct {
			Middlewares struct {
				Fairdoor struct {
					ForwardAuth struct {
						Address                  string
						TrustForwardHeader       bool     `yaml:"trustForwardHeader"`
						MaxResponseBodySize      int      `yaml:"maxResponseBodySize"`
						AddAuthCookiesToResponse []string `yaml:"addAuthCookiesToResponse"`
					} `yaml:"forwardAuth"`
				}
			}
			Services map[string]struct {
				LoadBalancer struct{ Servers []struct{ URL string } } `yaml:"loadBalancer"`
			}
		}
	}
	read(t, "traefik.yaml", at, &c)
	auth := c.HTTP.Middlewares.Fairdoor.ForwardAuth
	require.False(t, auth.TrustForwardHeader)
	gate, shop := to(t, c.HTTP.Services["gate"].LoadBalancer.Servers[0].URL), to(t, c.HTTP.Services["shop"].LoadBalancer.Servers[0].URL)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/.fairdoor/") { // the longer rule goes first
			gate.ServeHTTP(w, r)
			return
		}
		check, err := http.NewRequestWithContext(r.Context(), http.MethodGet, auth.Address, nil)
		assert.NoError(t, err)
		check.Header = forTraefik(r)
		resp, body := send(t, check)
		if resp == nil || len(body) > auth.MaxResponseBodySize {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if resp.StatusCode/100 != 2 {
			copyHeader(w.Header(), resp.Header, func(name string) bool { return !slices.Contains(hopByHop, name) })
			w.WriteHeader(resp.StatusCode)
			_, _ = io.WriteString(w, body)
			return
		}
		for _, cookie := range resp.Cookies() {
			if slices.Contains(auth.AddAuthCookiesToResponse, cookie.Name) {
				w.Header().Add("Set-Cookie", cookie.String())
			}
		}
		shop.ServeHTTP(w, r)
	})
}

// forTraefik is the header of its check about a request.
func forTraefik(r *http.Request) http.Header {
	h := http.Header{}
	copyHeader(h, r.Header, func(name string) bool {
		return !slices.Contains(hopByHop, name) && !strings.HasPrefix(name, "X-Forwarded-") && name != "X-Real-Ip"
	})
	for _, name := range strings.Split(r.Header.Get("Connection"), ",") {
		h.Del(strings.TrimSpace(name))
	}
	client, _, _ := net.SplitHostPort(r.RemoteAddr)
	h.Set("X-Forwarded-For", client)
	h.Set("X-Forwarded-Method", r.Method)
	h.Set("X-Forwarded-Proto", "http")
	h.Set("X-Forwarded-Port", "80")
	h.Set("X-Forwarded-Host", r.Host)
	h.Set("X-Forwarded-Uri", r.URL.RequestURI())
	return h
}

// likeEnvoy does what Envoy documents of ext_authz over HTTP
// (envoy.extensions.filters.http.ext_authz.v3) with the configuration.
func likeEnvoy(t *testing.T, at addresses) http.Handler {
	type patterns struct {
		Patterns []struct{ Exact, Prefix string }
	}
	type filter struct {
		Name   string
		Config struct {
			FailureModeAllow bool               `yaml:"failure_mode_allow"`
			StatusOnError    struct{ Code int } `yaml:"status_on_error"`
			AllowedHeaders   patterns           `yaml:"allowed_headers"`
			Service          struct {
				Server     struct{ URI string } `yaml:"server_uri"`
				PathPrefix string               `yaml:"path_prefix"`
				Response   struct {
					OnSuccess patterns `yaml:"allowed_client_headers_on_success"`
				} `yaml:"authorization_response"`
			} `yaml:"http_service"`
		} `yaml:"typed_config"`
	}
	var c struct {
		Resources struct {
			Listeners []struct {
				Chains []struct {
					Filters []struct {
						Config struct {
							Filters []filter `yaml:"http_filters"`
						} `yaml:"typed_config"`
					}
				} `yaml:"filter_chains"`
			}
		} `yaml:"static_resources"`
	}
	read(t, "envoy.yaml", at, &c)
	authz := c.Resources.Listeners[0].Chains[0].Filters[0].Config.Filters[0].Config
	require.False(t, authz.FailureModeAllow)
	allows := func(list patterns) func(string) bool {
		return func(name string) bool {
			name = strings.ToLower(name)
			return slices.ContainsFunc(list.Patterns, func(p struct{ Exact, Prefix string }) bool {
				return name == p.Exact || p.Prefix != "" && strings.HasPrefix(name, p.Prefix)
			})
		}
	}
	gate, shop := to(t, "http://"+at.gate), to(t, "http://"+at.shop)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/.fairdoor/") { // the filter is disabled for this route
			gate.ServeHTTP(w, r)
			return
		}
		client, _, _ := net.SplitHostPort(r.RemoteAddr)
		r.Header.Set("X-Forwarded-For", client) // use_remote_address
		r.Header.Set("X-Forwarded-Proto", "http")
		check, err := http.NewRequestWithContext(r.Context(), r.Method, authz.Service.Server.URI+authz.Service.PathPrefix+r.RequestURI, http.NoBody)
		assert.NoError(t, err)
		check.Host = r.Host
		copyHeader(check.Header, r.Header, func(name string) bool { return name == "Authorization" || allows(authz.AllowedHeaders)(name) })
		resp, body := send(t, check)
		switch {
		case resp == nil || resp.StatusCode >= http.StatusInternalServerError:
			w.WriteHeader(authz.StatusOnError.Code)
		case resp.StatusCode == http.StatusOK:
			copyHeader(w.Header(), resp.Header, allows(authz.Service.Response.OnSuccess))
			shop.ServeHTTP(w, r)
		default:
			copyHeader(w.Header(), resp.Header, func(string) bool { return true })
			w.WriteHeader(resp.StatusCode)
			_, _ = io.WriteString(w, body)
		}
	})
}

// copyHeader adds the fields of a header that are wanted to another.
func copyHeader(to, from http.Header, wanted func(name string) bool) {
	for name, values := range from {
		if wanted(name) {
			to[name] = append(to[name], values...)
		}
	}
}
