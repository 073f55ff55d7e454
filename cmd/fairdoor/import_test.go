package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRoomsAtCloudflareBecomeAConfigurationThatIsValid(t *testing.T) {
	dir := t.TempDir()
	args := []string{"import", "--to", dir, "--origin", "http://10.0.0.5:3000"}
	for _, name := range []string{"shop", "events", "rules", "zone"} {
		args = append(args, filepath.Join("testdata", "import", name+".json"))
	}
	stdout, stderr, code := fairdoor(t, args...)
	assert.Zero(t, code, stderr)
	configuration, err := os.ReadFile(filepath.Join(dir, "fairdoor.yaml"))
	require.NoError(t, err)
	said := strings.ReplaceAll("stdout:\n"+stdout+"stderr:\n"+stderr, dir, "DIR")
	golden(t, "import", string(configuration)+"\n"+said)
	page, err := os.ReadFile(filepath.Join(dir, "shop.html"))
	require.NoError(t, err)
	assert.Contains(t, string(page), "from $5", "pages are as they were")

	_, stderr, code = fairdoor(t, args...)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "fairdoor.yaml is there already: nothing was written")
}

func TestWhatIsNoAnswerOfCloudflaresIsNotImported(t *testing.T) {
	shop := filepath.Join("testdata", "import", "shop.json")
	for content, want := range map[string]string{
		`{"result": [{"colour": "red"}]}`: "this is no room, event, rule or zone setting of Cloudflare's Waiting Room",
		`{"success": false, "errors": [{"code": 10000, "message": "Authentication error"}], "result": null}`: "has refused the request: [{\"code\": 10000, \"message\": \"Authentication error\"}]",
		`{"success": true, "result": null}`:                            "there is no result in this answer",
		`{"result": [], "result_info": {"page": 1, "total_pages": 2}}`: "this is one of 2 pages",
		`<html>`:         "reading an object",
		`{"result": []}`: "there is no room in what was imported",
		`{"result": {"name": "a/../b", "host": "x", "total_active_users": 1, "new_users_per_minute": 1}}`:                                                    `the name "a/../b" is not of letters, digits, - and _`,
		`[{"name": "a", "total_active_users": 1, "new_users_per_minute": 1}, {"action": "bypass_waiting_room", "expression": "cf.client.bot"}, {"name": 5}]`: "this is no room",
		`{"result": [{"expression": "cf.client.bot"}]}`:                                        "events and rules do not say whose they are",
		`{"result": [{"name": "a", "total_active_users": "many", "new_users_per_minute": 1}]}`: "cannot unmarshal",
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "answer.json")
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
		_, stderr, code := fairdoor(t, "import", "--to", dir, file)
		assert.Equal(t, 1, code, content)
		assert.Contains(t, stderr, want, content)
		assert.NoFileExists(t, filepath.Join(dir, "fairdoor.yaml"))
	}
	two := filepath.Join(t.TempDir(), "rooms.json")
	require.NoError(t, os.WriteFile(two, []byte(`[{"name": "a", "total_active_users": 1, "new_users_per_minute": 1}, {"name": "b", "total_active_users": 1, "new_users_per_minute": 1}]`), 0o600))
	_, stderr, code := fairdoor(t, "import", "--to", t.TempDir(), shop, two, filepath.Join("testdata", "import", "rules.json"))
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "events and rules do not say whose they are")
	other := filepath.Join(t.TempDir(), "rules.json")
	require.NoError(t, os.WriteFile(other, []byte(`{"result": [{"action": "block", "expression": "cf.client.bot"}]}`), 0o600))
	_, stderr, code = fairdoor(t, "import", "--to", t.TempDir(), shop, other)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, `the action "block" of a rule is not known`)
	_, stderr, code = fairdoor(t, "import")
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "name what Cloudflare's API has answered")
}
