package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/user"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// defaultAdmin is where the admin API of a gate is, unless somebody says otherwise.
const defaultAdmin = "127.0.0.1:9090"

// adminFlags say where the admin API of a gate is.
type adminFlags struct{ address, token, tokenFile, as string }

func (a *adminFlags) bind(f *pflag.FlagSet) {
	f.StringVar(&a.address, "admin", cmp.Or(os.Getenv("FAIRDOOR_ADMIN"), defaultAdmin),
		"address of the gate's admin API; with https:// where something before it speaks TLS (env FAIRDOOR_ADMIN)")
	a.bindToken(f)
	f.StringVar(&a.as, "as", cmp.Or(os.Getenv("FAIRDOOR_AS"), osUser()), "your name, which is noted with what you change; nobody checks it (default the user of the system; env FAIRDOOR_AS)")
	f.Lookup("as").DefValue = ""
}

// osUser is the name of the system's user who runs the program; "" if it is not known.
func osUser() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}

// bindToken adds the flags of the token alone.
func (a *adminFlags) bindToken(f *pflag.FlagSet) {
	f.StringVar(&a.token, "admin-token", os.Getenv("FAIRDOOR_ADMIN_TOKEN"), "token of the admin API (env FAIRDOOR_ADMIN_TOKEN)")
	f.StringVar(&a.tokenFile, "admin-token-file", os.Getenv("FAIRDOOR_ADMIN_TOKEN_FILE"),
		"file with the token, unless that is given (env FAIRDOOR_ADMIN_TOKEN_FILE)")
	f.Lookup("admin-token").DefValue = ""
	f.Lookup("admin-token-file").DefValue = ""
}

func (a *adminFlags) api(cmd *cobra.Command) (adminAPI, error) {
	token := a.token
	if cmd.Flags().Changed("admin-token-file") && !cmd.Flags().Changed("admin-token") {
		token = "" // flags go before the environment
	}
	api, err := newAdminAPI(a.address, token, a.tokenFile)
	api.as = a.as
	return api, err
}

// adminAPI is a running gate's admin API.
type adminAPI struct{ base, token, as string }

// newAdminAPI returns the admin API at an address, in the form of the gate's configuration,
// or at a URL. If the token is empty, it is read from the file, if there is one.
func newAdminAPI(address, token, tokenFile string) (adminAPI, error) {
	scheme, rest, isURL := strings.Cut(address, "://")
	switch {
	case !isURL:
		scheme, rest = "http", address
	case scheme != "http" && scheme != "https":
		return adminAPI{}, usageError{fmt.Errorf("--admin: %q is neither an address nor an http or https URL", address)}
	}
	if strings.HasPrefix(rest, ":") {
		rest = "127.0.0.1" + rest // it is an address to listen on
	}
	if token == "" && tokenFile != "" {
		var err error
		if token, err = readToken(tokenFile); err != nil {
			return adminAPI{}, err
		}
	}
	return adminAPI{base: scheme + "://" + strings.TrimSuffix(rest, "/"), token: token}, nil
}

func readToken(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("reading the admin token: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if token == "" {
		return "", fmt.Errorf("reading the admin token: %s is empty", file)
	}
	return token, nil
}

// get reads what the gate says of a resource.
func (a adminAPI) get(ctx context.Context, path string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	return a.read(ctx, http.MethodGet, path, "", nil, into)
}

// order sends the gate an order, and reads its answer unless into is nil. It takes as long as the gate takes.
func (a adminAPI) order(ctx context.Context, method, path string, order, into any) error {
	body, err := json.Marshal(order)
	if err != nil {
		return fmt.Errorf("asking the gate: %w", err)
	}
	return a.read(ctx, method, path, "application/json", bytes.NewReader(body), into)
}

func (a adminAPI) read(ctx context.Context, method, path, contentType string, body io.Reader, into any) error {
	resp, err := a.do(ctx, method, path, contentType, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if into == nil {
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		return fmt.Errorf("reading what the gate said of %s: %w", path, err)
	}
	return nil
}

// do sends the gate a request. Whoever gets a response has to close its body.
func (a adminAPI) do(ctx context.Context, method, path, contentType string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, a.base+path, body)
	if err != nil {
		return nil, fmt.Errorf("asking the gate: %w", err)
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	if a.token != "" {
		req.Header.Set("Authorization", "Bearer "+a.token)
	}
	if a.as != "" {
		req.Header.Set("Fairdoor-As", oneLine(a.as))
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("asking the gate (is it running, and its admin API at %s?): %w", a.base, err)
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		defer resp.Body.Close()
		return nil, failed(path, resp)
	}
	return resp, nil
}

// oneLine is a text that a header can have.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

// errNotFound means that the gate has no such resource.
var errNotFound = errors.New("404 Not Found")

// failed is the error for an answer that is no success: the gate's own words, if it is the gate's.
func failed(path string, resp *http.Response) error {
	var problem struct {
		Detail string `json:"detail"`
	}
	_ = json.NewDecoder(io.LimitReader(resp.Body, 1<<16)).Decode(&problem)
	err := errors.New(resp.Status)
	if resp.StatusCode == http.StatusNotFound {
		err = errNotFound
	}
	if problem.Detail == "" {
		return fmt.Errorf("asking the gate for %s: %w", path, err)
	}
	return fmt.Errorf("the gate says %w: %s", err, problem.Detail)
}
