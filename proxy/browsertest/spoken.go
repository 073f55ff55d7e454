package browsertest

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/evanw/esbuild/pkg/api"
	"github.com/stretchr/testify/require"
)

// readerSource is a screen reader that runs in a page (Guidepup's virtual one), as one script.
func readerSource(t testing.TB) string {
	t.Helper()
	built := api.Build(api.BuildOptions{
		Stdin:  &api.StdinOptions{Contents: `export {virtual} from "@guidepup/virtual-screen-reader"`, ResolveDir: Checkers(t)},
		Bundle: true, Format: api.FormatIIFE, GlobalName: "guidepup", Platform: api.PlatformBrowser,
		Define: map[string]string{"process.env.NODE_ENV": `"production"`},
	})
	require.Empty(t, built.Errors)
	return string(built.OutputFiles[0].Contents)
}

// Read is what the screen reader says from the top of the page to its end.
func (tab *Tab) Read() []string {
	tab.t.Helper()
	tab.Do(chromedp.Evaluate[chromedp.Void](readerSource(tab.t)))
	return Eval[[]string](tab, `(async () => {
		const {virtual} = guidepup;
		await virtual.start({container: document.body});
		while (await virtual.lastSpokenPhrase() !== 'end of document') await virtual.next();
		const said = await virtual.spokenPhraseLog();
		await virtual.stop();
		return said;
	})()`)
}

// Listen notes from now on what screen readers say of changes: a status that changes is said whole,
// once, without what is hidden. The reader above says a status for each change within it, and what is
// hidden in it.
func (tab *Tab) Listen() {
	tab.t.Helper()
	Eval[bool](tab, `{
		const text = e => e.innerText.replace(/\s+/g, ' ').trim();
		const all = [...document.querySelectorAll('[role="status"]')], was = all.map(text);
		window.said = [];
		const look = () => all.forEach((status, i) => {
			const now = text(status);
			if (now !== was[i] && now) said.push(now);
			was[i] = now;
		});
		new MutationObserver(look).observe(document.body, {subtree: true, childList: true, characterData: true, attributes: true});
		true;
	}`)
}

// Heard is what has been said of changes since it was asked for last.
func (tab *Tab) Heard() []string {
	tab.t.Helper()
	return Eval[[]string](tab, `said.splice(0)`)
}
