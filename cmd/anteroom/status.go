package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
)

func newStatusCommand() *cobra.Command {
	var admin, token, tokenFile string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the rooms of a running gate",
		Long:  "Show the rooms of a running gate, as its admin API tells them.",
		Example: `  anteroom status
  anteroom status --admin https://gate.example --admin-token-file /etc/anteroom/token`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("admin-token-file") && !cmd.Flags().Changed("admin-token") {
				token = "" // flags go before the environment
			}
			api, err := newAdminAPI(admin, token, tokenFile)
			if err != nil {
				return err
			}
			return showStatus(cmd.Context(), api, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&admin, "admin", cmp.Or(os.Getenv("ANTEROOM_ADMIN"), "127.0.0.1:9090"),
		"address of the gate's admin API; with https:// where something before it speaks TLS (env ANTEROOM_ADMIN)")
	cmd.Flags().StringVar(&token, "admin-token", os.Getenv("ANTEROOM_ADMIN_TOKEN"), "token of the admin API (env ANTEROOM_ADMIN_TOKEN)")
	cmd.Flags().StringVar(&tokenFile, "admin-token-file", os.Getenv("ANTEROOM_ADMIN_TOKEN_FILE"),
		"file with the token, unless that is given (env ANTEROOM_ADMIN_TOKEN_FILE)")
	cmd.Flag("admin-token").DefValue = ""
	cmd.Flag("admin-token-file").DefValue = ""
	return cmd
}

// roomSettings are the settings of a room that the table shows, as the admin API has them.
type roomSettings struct {
	Name              string `json:"name"`
	QueueingMethod    string `json:"queueing_method"`
	TotalActiveUsers  int    `json:"total_active_users"`
	NewUsersPerMinute int    `json:"new_users_per_minute"`
}

// roomStatus is the state of a room that the table shows, as the admin API has it.
type roomStatus struct {
	Status  string `json:"status"`
	Active  int    `json:"activeUsers"`
	Open    int    `json:"openSlots"`
	Queued  int    `json:"estimated_queued_users"`
	Minutes int    `json:"max_estimated_time_minutes"`
}

func showStatus(ctx context.Context, api adminAPI, out io.Writer) error {
	var rooms []roomSettings
	if err := api.get(ctx, "/api/v1/rooms", &rooms); err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ROOM\tSTATUS\tMETHOD\tACTIVE\tOPEN\tQUEUED\tPER MINUTE\tLONGEST WAIT")
	for _, r := range rooms {
		var s roomStatus
		err := api.get(ctx, "/api/v1/rooms/"+url.PathEscape(r.Name)+"/status", &s)
		if errors.Is(err, errNotFound) {
			continue // the room has gone since the list was made
		}
		if err != nil {
			return err
		}
		writeRow(table, r, s)
	}
	return table.Flush()
}

func writeRow(table io.Writer, r roomSettings, s roomStatus) {
	wait := "-"
	if s.Minutes > 0 {
		wait = fmt.Sprintf("%d min", s.Minutes)
	}
	fmt.Fprintf(table, "%s\t%s\t%s\t%d/%d\t%d\t%d\t%d\t%s\n", r.Name, strings.ReplaceAll(s.Status, "_", " "),
		r.QueueingMethod, s.Active, r.TotalActiveUsers, s.Open, s.Queued, r.NewUsersPerMinute, wait)
}

// errNotFound means that the gate has no such resource.
var errNotFound = errors.New("404 Not Found")

// adminAPI is a running gate's admin API.
type adminAPI struct{ base, token string }

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

func (a adminAPI) get(ctx context.Context, path string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.base+path, nil)
	if err != nil {
		return fmt.Errorf("asking the gate: %w", err)
	}
	if a.token != "" {
		req.Header.Set("Authorization", "Bearer "+a.token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("asking the gate (is it running, and its admin API at %s?): %w", a.base, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return failed(path, resp)
	}
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		return fmt.Errorf("reading what the gate said of %s: %w", path, err)
	}
	return nil
}

// failed is the error for an answer that is not 200.
func failed(path string, resp *http.Response) error {
	var problem struct {
		Detail string `json:"detail"`
	}
	_ = json.NewDecoder(io.LimitReader(resp.Body, 1<<16)).Decode(&problem)
	if resp.StatusCode == http.StatusNotFound {
		return fmt.Errorf("asking the gate for %s: %w %s", path, errNotFound, problem.Detail)
	}
	return fmt.Errorf("asking the gate for %s: %s %s", path, resp.Status, problem.Detail)
}
