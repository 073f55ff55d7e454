// Package browsertest drives a real browser, for tests of what visitors see.
// One [Browser] serves all tests of a package; each [Tab] that it opens for a
// new visitor has cookies of its own.
package browsertest

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"testing"

	"github.com/chromedp/chromedp"
)

// Browser is a headless Chromium at work. It is made by Start and ended by Stop.
type Browser struct {
	ctx  context.Context
	stop []context.CancelFunc
}

// Start starts Chromium with a profile of its own, which is deleted in the end.
// The flags, as name and value, come on top of the usual ones.
func Start(flags map[string]any) (*Browser, error) {
	path, err := find()
	if err != nil {
		return nil, err
	}
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck, chromedp.WindowSize(1280, 800),
		chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-sync", true),
		chromedp.Flag("force-color-profile", "srgb"),
	}
	for name, value := range flags {
		options = append(options, chromedp.Flag(name, value))
	}
	b := &Browser{}
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	b.stop = append(b.stop, stop)
	b.ctx, stop = chromedp.NewContext(ctx)
	b.stop = append(b.stop, stop)
	if err := chromedp.Do(b.ctx); err != nil {
		b.Stop()
		return nil, fmt.Errorf("starting %s: %w", path, err)
	}
	return b, nil
}

// find returns the path of Chromium.
func find() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("the browser tests need Chromium, which is not there: run make test, which installs it")
}

// Stop closes all tabs, ends the browser and waits until it is gone.
func (b *Browser) Stop() {
	for i := len(b.stop) - 1; i >= 0; i-- {
		b.stop[i]()
	}
}

// Visitor opens a tab for a new visitor, with cookies of their own. It is closed
// when the test ends.
func (b *Browser) Visitor(t testing.TB) *Tab {
	t.Helper()
	return open(t, b.ctx, chromedp.WithNewBrowserContext())
}
