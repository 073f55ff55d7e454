package browsertest

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// axeSource reads axe-core from the file that $AXE_CORE_JS names, or else from
// where make puts it.
func axeSource(t testing.TB) string {
	t.Helper()
	path := cmp.Or(os.Getenv("AXE_CORE_JS"), filepath.Join(ModuleRoot(t), ".cache", "axe-core", "axe.min.js"))
	source, err := os.ReadFile(path)
	require.NoError(t, err, "the accessibility tests need axe-core: run make test, which fetches it")
	return string(source)
}

// findings are the rules that the page breaks, each with the elements it is
// about, as text.
const findings = `axe.run(document, {resultTypes: ['violations']}).then(r =>
  r.violations.map(v => v.id + ' (' + v.impact + '): ' + v.help + '\n' +
    v.nodes.map(n => '  ' + n.html + '\n    ' + (n.failureSummary || '').replace(/\s+/g, ' ')).join('\n')))`

// RequireAccessible fails the test if axe-core, with all of its rules, finds
// anything wrong with the page.
func (tab *Tab) RequireAccessible() {
	tab.t.Helper()
	tab.Do(chromedp.Evaluate[chromedp.Void](axeSource(tab.t)))
	broken := Eval[[]string](tab, findings)
	require.Empty(tab.t, broken, "axe-core found:\n%s", strings.Join(broken, "\n"))
}
