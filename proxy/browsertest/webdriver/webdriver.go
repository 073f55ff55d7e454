// Package webdriver drives Firefox and WebKitGTK by the commands of the W3C's WebDriver
// (https://www.w3.org/TR/webdriver2/), for tests of what their visitors see. Each [Browser] has a
// profile of its own, and so is one visitor.
package webdriver

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/browsertest"
)

// patience is how long a browser has to start, or a page to become what is waited for.
const patience = 60 * time.Second

// command is a command of WebDriver: what Firefox's Marionette calls it, and the method and path by
// which a server of WebDriver takes it.
type command struct{ marionette, method, path string }

var (
	newSession = command{"WebDriver:NewSession", "POST", ""}
	endSession = command{"WebDriver:DeleteSession", "DELETE", ""}
	navigate   = command{"WebDriver:Navigate", "POST", "/url"}
	back       = command{"WebDriver:Back", "POST", "/back"}
	run        = command{"WebDriver:ExecuteScript", "POST", "/execute/sync"}
	newWindow  = command{"WebDriver:NewWindow", "POST", "/window/new"}
	getWindow  = command{"WebDriver:GetWindowHandle", "GET", "/window"}
	toWindow   = command{"WebDriver:SwitchToWindow", "POST", "/window"}
	toFrame    = command{"WebDriver:SwitchToFrame", "POST", "/frame"}
	screenshot = command{"WebDriver:TakeScreenshot", "GET", "/screenshot"}
)

// driver carries commands to a browser and returns what it answers.
type driver interface {
	do(c command, parameters any) (json.RawMessage, error)
}

// Browser is a browser at work, with one visitor.
type Browser struct {
	t      testing.TB
	driver driver
}

// Kinds are the browsers that there are, by their names.
var Kinds = map[string]func(t testing.TB) *Browser{"Firefox": Firefox, "WebKitGTK": WebKitGTK}

// open begins a session of a browser, which ends with the test.
func open(t testing.TB, d driver, parameters any) *Browser {
	t.Helper()
	b := &Browser{t, d}
	b.do(newSession, parameters)
	t.Cleanup(func() { _, _ = d.do(endSession, struct{}{}) })
	return b
}

// start starts a program with some more environment and open files. It ends with the test.
func start(t testing.TB, environment []string, files []*os.File, name string, args ...string) {
	t.Helper()
	path, err := exec.LookPath(name)
	require.NoError(t, err, "make soak installs it")
	cmd := exec.Command(path, args...)
	cmd.Env, cmd.ExtraFiles = append(os.Environ(), environment...), files
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}

func (b *Browser) do(c command, parameters any) json.RawMessage {
	b.t.Helper()
	answer, err := b.driver.do(c, parameters)
	require.NoError(b.t, err, "%s %v", c.marionette, parameters)
	return answer
}

// Open goes to an address, and waits until the page there is loaded.
func (b *Browser) Open(url string) { b.t.Helper(); b.do(navigate, map[string]any{"url": url}) }

// Back goes to the page before.
func (b *Browser) Back() { b.t.Helper(); b.do(back, struct{}{}) }

// Frame has what follows happen in the first frame of the page.
func (b *Browser) Frame() { b.t.Helper(); b.do(toFrame, map[string]any{"id": 0}) }

// Window is the window that is looked at.
func (b *Browser) Window() (handle string) {
	b.t.Helper()
	require.NoError(b.t, json.Unmarshal(b.do(getWindow, struct{}{}), &handle))
	return handle
}

// Look looks at a window.
func (b *Browser) Look(handle string) {
	b.t.Helper()
	b.do(toWindow, map[string]any{"handle": handle, "name": handle, "focus": true})
}

// Another opens another tab, and looks at it.
func (b *Browser) Another() {
	b.t.Helper()
	var made struct{ Handle string }
	require.NoError(b.t, json.Unmarshal(b.do(newWindow, map[string]any{"type": "tab", "focus": true}), &made))
	b.Look(made.Handle)
}

// Eval returns the value of an expression of the page's script.
func Eval[T any](b *Browser, expression string) (value T) {
	b.t.Helper()
	answer := b.do(run, map[string]any{"script": "return " + expression, "args": []any{}})
	require.NoError(b.t, json.Unmarshal(answer, &value), "%s is %s", expression, answer)
	return value
}

// Until waits until an expression is true. While a page gives way to another it is not.
func (b *Browser) Until(expression string) {
	b.t.Helper()
	if !eventually(func() bool {
		answer, err := b.driver.do(run, map[string]any{"script": "return !!(" + expression + ")", "args": []any{}})
		return err == nil && string(answer) == "true"
	}) {
		require.Fail(b.t, "this has not become true: "+expression, "the page says: %s", Eval[string](b, "document.body.innerText"))
	}
}

// eventually waits until something is so, and says whether it has become so in time. It asks
// one question at a time, as a browser takes no other meanwhile.
func eventually(is func() bool) bool {
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for late := time.After(patience); ; {
		if is() {
			return true
		}
		select {
		case <-late:
			return false
		case <-again.C:
		}
	}
}

// Screenshot leaves a picture of the page among the artifacts.
func (b *Browser) Screenshot(name string) {
	b.t.Helper()
	var encoded string
	require.NoError(b.t, json.Unmarshal(b.do(screenshot, map[string]any{"full": false}), &encoded))
	picture, err := base64.StdEncoding.DecodeString(encoded)
	require.NoError(b.t, err)
	browsertest.Keep(b.t, name, picture)
}
