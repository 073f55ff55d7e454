package browsertest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Checkers is where make puts what tests check pages with: $CHECKERS, or .cache/checkers.
func Checkers(t testing.TB) string {
	t.Helper()
	dir := cmp.Or(os.Getenv("CHECKERS"), filepath.Join(ModuleRoot(t), ".cache", "checkers"))
	require.DirExists(t, filepath.Join(dir, "node_modules"), "the tests of pages need what checks them: run make test, which fetches it")
	return dir
}

// validity are the rules of html-validate that are about the standard. Its others are of taste, and
// what axe looks for.
const validity = `{"root": true, "extends": ["html-validate:standard"]}`

// checker of HTML reads the pages of a folder, and calls fault with the number in the file's name of
// each page that is not as the standard has it.
type checker func(t testing.TB, dir string, fault func(page int, what string))

// RequireValid fails the test if the HTML of an address is not as the standard has it.
func RequireValid(t testing.TB, addresses ...string) {
	t.Helper()
	dir := t.TempDir()
	for i, address := range addresses {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.html", i)), fetch(t, address), 0o600))
	}
	for _, check := range append(soakCheckers(), htmlValidate) {
		check(t, dir, func(page int, what string) { assert.Fail(t, addresses[page], what) })
	}
}

// numberOf is the number of a page in its file's name.
func numberOf(t testing.TB, file string) (page int) {
	t.Helper()
	_, err := fmt.Sscanf(filepath.Base(file), "%d.html", &page)
	require.NoError(t, err)
	return page
}

// htmlValidate is html-validate.
func htmlValidate(t testing.TB, dir string, fault func(page int, what string)) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".htmlvalidate.json"), []byte(validity), 0o600))
	report := filepath.Join(t.TempDir(), "report.json") // a pipe would be cut off: the report has the pages in it
	check := exec.CommandContext(t.Context(), filepath.Join(Checkers(t), "node_modules", ".bin", "html-validate"), "--formatter", "json="+report, dir)
	text, failed := check.CombinedOutput()
	said, err := os.ReadFile(report)
	require.NoError(t, err, "html-validate: %v: %s", failed, text)
	var found []struct {
		FilePath string `json:"filePath"`
		Messages []struct {
			RuleID  string `json:"ruleId"`
			Message string `json:"message"`
			Line    int    `json:"line"`
		} `json:"messages"`
	}
	require.NoError(t, json.Unmarshal(said, &found))
	for _, of := range found {
		for _, m := range of.Messages {
			fault(numberOf(t, of.FilePath), fmt.Sprintf("line %d: %s: %s", m.Line, m.RuleID, m.Message))
		}
	}
}

// fetch is the page at an address.
func fetch(t testing.TB, address string) []byte {
	t.Helper()
	resp, err := http.Get(address)
	require.NoError(t, err)
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html"), "%s is no page: %s", address, page)
	return page
}
