package browsertest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// patience is how long a tab waits for what should come soon.
const patience = 30 * time.Second

// Tab is a page in the browser. What goes wrong with it fails its test.
type Tab struct {
	t     testing.TB
	ctx   context.Context
	close context.CancelFunc
}

func open(t testing.TB, parent context.Context, options ...chromedp.ContextOption) *Tab {
	t.Helper()
	ctx, stop := chromedp.NewContext(parent, options...)
	t.Cleanup(stop)
	require.NoError(t, chromedp.Do(ctx), "opening a tab")
	return &Tab{t: t, ctx: ctx, close: stop}
}

// Another opens a tab of the same visitor, in the same window and in front.
func (tab *Tab) Another() *Tab {
	tab.t.Helper()
	other := open(tab.t, tab.ctx, chromedp.WithNewWindow(false))
	other.Front()
	return other
}

// Close closes the tab as a visitor does: the page hears of it.
func (tab *Tab) Close() {
	tab.t.Helper()
	Call(tab, page.Close, cdp.Empty{})
	tab.close()
}

// Front brings the tab to the front, and hides those of its window.
func (tab *Tab) Front() {
	tab.t.Helper()
	Call(tab, page.BringToFront, cdp.Empty{})
}

// Open goes to the address and waits until the page is loaded.
func (tab *Tab) Open(url string) {
	tab.t.Helper()
	tab.Do(chromedp.Navigate(url))
}

// Reload loads the page again, as a visitor does.
func (tab *Tab) Reload() {
	tab.t.Helper()
	tab.Do(chromedp.Reload())
}

// Do runs steps.
func (tab *Tab) Do(steps ...chromedp.Action[chromedp.Void]) {
	tab.t.Helper()
	ctx, stop := context.WithTimeout(tab.ctx, patience)
	defer stop()
	require.NoError(tab.t, chromedp.Do(ctx, steps...))
}

// Call sends a command of the DevTools protocol.
func Call[P, R any](tab *Tab, command cdp.Command[P, R], params P) R {
	tab.t.Helper()
	ctx, stop := context.WithTimeout(tab.ctx, patience)
	defer stop()
	result, err := chromedp.Call(ctx, command, params)
	require.NoError(tab.t, err, command.Method)
	return result
}

// Eval returns the value of a JavaScript expression; a promise is waited for.
func Eval[T any](tab *Tab, expression string) T {
	tab.t.Helper()
	ctx, stop := context.WithTimeout(tab.ctx, patience)
	defer stop()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(tab.t, err, expression)
	return value
}

// Until waits until a JavaScript expression is true, on whatever page the tab
// has got to by then.
func (tab *Tab) Until(expression string) {
	tab.t.Helper()
	ctx, stop := context.WithTimeout(tab.ctx, patience)
	defer stop()
	again := time.NewTicker(25 * time.Millisecond)
	defer again.Stop()
	for {
		// While the tab goes from page to page there is nothing to ask.
		if is, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+expression+")")); err == nil && is {
			return
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			text, _ := chromedp.Run(tab.ctx, chromedp.Evaluate[string]("document.documentElement.innerText"))
			require.FailNow(tab.t, "never came true: "+expression, "the page says:\n%s", text)
		}
	}
}

// Text returns the text of the page as a visitor reads it.
func (tab *Tab) Text() string {
	tab.t.Helper()
	return Eval[string](tab, "document.body.innerText")
}

// Scheme is a visitor's choice of colours.
type Scheme string

// The schemes.
const (
	Light Scheme = "light"
	Dark  Scheme = "dark"
)

// Look sets the colour scheme and the size of the window, in CSS pixels; below
// 600 it is a phone's.
func (tab *Tab) Look(scheme Scheme, width, height int64) {
	tab.t.Helper()
	Call(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: string(scheme)},
		{Name: "prefers-reduced-motion", Value: "reduce"},
	}})
	phone := width < 600
	Call(tab, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: width, Height: height, DeviceScaleFactor: 1, Mobile: phone,
	})
}

// Screenshot keeps a picture of the page; see [Keep].
func (tab *Tab) Screenshot(name string) {
	tab.t.Helper()
	Keep(tab.t, name, tab.Picture())
}

// Keep keeps a picture as NAME.png in the directory that $ARTIFACTS_DIR names, or else in artifacts/
// below the module's root.
func Keep(t testing.TB, name string, png []byte) {
	t.Helper()
	dir := os.Getenv("ARTIFACTS_DIR")
	if dir == "" {
		dir = filepath.Join(ModuleRoot(t), "artifacts")
	}
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644))
}

// Picture returns a picture of the page, as PNG.
func (tab *Tab) Picture() []byte {
	tab.t.Helper()
	ctx, stop := context.WithTimeout(tab.ctx, patience)
	defer stop()
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	require.NoError(tab.t, err)
	return png
}

// ModuleRoot is the directory of go.mod.
func ModuleRoot(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		require.NotEqual(t, dir, parent, "go.mod is not in any directory above this one")
		dir = parent
	}
}

// Frame returns the frame of another site in the tab whose address begins with
// the prefix, once it is there.
func (tab *Tab) Frame(prefix string) *Tab {
	tab.t.Helper()
	ctx, stop := context.WithTimeout(tab.ctx, patience)
	defer stop()
	again := time.NewTicker(25 * time.Millisecond)
	defer again.Stop()
	for {
		targets, err := chromedp.Targets(tab.ctx)
		require.NoError(tab.t, err, "looking for frames")
		for _, target := range targets {
			if target.Type == "iframe" && strings.HasPrefix(target.URL, prefix) {
				return open(tab.t, tab.ctx, chromedp.WithTargetID(target.TargetID), chromedp.WithDetachOnCancel())
			}
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			require.FailNow(tab.t, "no frame of "+prefix)
		}
	}
}
