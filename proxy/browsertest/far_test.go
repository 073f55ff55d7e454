package browsertest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/browsertest"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// fifoAt is somebody with that place and wait among 20,000 in fifo.
func fifoAt(position, minutes int, far bool) templates.Data {
	return templates.Data{
		RoomName: "shop", QueueingMethod: "fifo", Far: far,
		Place: templates.Place{Position: position, UsersQueued: 20_000, WaitTimeKnown: true, WaitTime: minutes},
	}
}

// watchTexts notes each text that the page shows as place and wait.
const watchTexts = `window.shown = [];
addEventListener('DOMContentLoaded', () => {
  const note = () => {
    const text = ['position', 'wait'].map(id => document.getElementById(id).textContent).join(', ');
    if (window.shown[window.shown.length - 1] !== text) window.shown.push(text);
  };
  new MutationObserver(note).observe(document.body, {subtree: true, childList: true, characterData: true});
});`

// later has the clocks of the page go on at once; its timers do not.
func later(tab *browsertest.Tab, by time.Duration) {
	tab.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{
  const passed = performance.now.bind(performance), date = Date.now;
  performance.now = () => passed() + %[1]d;
  Date.now = () => date() + %[1]d;
}`, by.Milliseconds())))
}

func TestAPageThatIsFarAsksAndListensWhenItIsNear(t *testing.T) {
	t.Parallel()
	s := newScript(t, fifoAt(3000, 20, true), 1)
	tab := browser.Visitor(t)
	browsertest.Call(tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: watchTexts})
	tab.Open(s.url)
	mark(tab)
	s.until(func(checkIns, _ int) bool { return checkIns >= 3 }, "it asks")
	_, streams := s.counts()
	require.Zero(t, streams, "and does not listen")

	s.let(func() { s.data = fifoAt(900, 5, false) })
	s.until(func(_, streams int) bool { return streams == 1 }, "it listens when it is told that it is near")
	s.tell(fifoAt(899, 5, false))
	tab.Until(place + ` === 'about 899 of 20,000'`)
	t.Log("a stream that is open stays, and one that has ended is not opened again while the page is far")
	s.tell(fifoAt(899, 9, true))
	tab.Until(`document.getElementById('wait').textContent === 'about 9\u00a0min'`)
	s.cut()
	from, _ := s.counts()
	s.until(func(checkIns, _ int) bool { return checkIns > from+8 }, "it asks")
	_, streams = s.counts()
	assert.Equal(t, 1, streams)
	assert.Equal(t, []string{"about 3,000 of 20,000, about 20\u00a0min", "about 900 of 20,000, about 5\u00a0min", "about 899 of 20,000, about 5\u00a0min", "about 899 of 20,000, about 9\u00a0min"},
		browsertest.Eval[[]string](tab, `window.shown.filter((text, i) => i === 0 || text !== window.shown[i - 1])`), "nothing else was shown meanwhile")
	assert.True(t, browsertest.Eval[bool](tab, marked), "the page was not loaded again")
}

func TestTheWaitGoesDownUntilThePageAsksAgain(t *testing.T) {
	t.Parallel()
	s := newScript(t, fifoAt(3000, 20, true), 130)
	tab := browser.Visitor(t)
	tab.Open(s.url)
	shows := func(minutes int) {
		t.Helper()
		tab.Until(fmt.Sprintf(`document.getElementById('wait').textContent === 'about %d\u00a0min' && document.title.startsWith('about %[1]d')`, minutes))
	}
	shows(20)
	bar := browsertest.Eval[float64](tab, `document.getElementById('way').value`)
	later(tab, 61*time.Second)
	shows(19)
	later(tab, time.Hour)
	shows(18)
	assert.Equal(t, bar, browsertest.Eval[float64](tab, `document.getElementById('way').value`), "nobody has told that anybody got in")
	assert.Equal(t, "about 3,000 of 20,000", browsertest.Eval[string](tab, place))
	checkIns, _ := s.counts()
	require.Zero(t, checkIns)
}

func TestTheBarTellsTheWaitThatIsCountedDown(t *testing.T) {
	t.Parallel()
	tab := browser.Visitor(t)
	tab.Open(newScript(t, fifoAt(1, 10, true), 600).url) // the first in line is told the way by time
	tells := func(wait string) {
		t.Helper()
		tab.Until(`['way', 'wait'].every((id, i) => (e => (i ? e.textContent : e.getAttribute('aria-valuetext')) === '` + wait + `')(document.getElementById(id)))`)
	}
	tells(`about 10\u00a0min`)
	later(tab, 3*time.Minute+time.Second)
	tells(`about 7\u00a0min`)
}

func TestAPageAsksSoonAgainAfterAFailureAndWhenItIsLookedAt(t *testing.T) {
	t.Parallel()
	s := newScript(t, fifoAt(3000, 20, true), 600)
	s.left, s.broken = 1, true
	tab := browser.Visitor(t)
	tab.Open(s.url)
	s.until(func(checkIns, _ int) bool { return checkIns >= 3 }, "ever more rarely, but not only after ten minutes")
	tab.Until(`document.getElementById('note').textContent === 'Connection lost. Trying again.'`)
	s.let(func() { s.data, s.left, s.broken = fifoAt(2900, 19, true), 0, false })
	tab.Until(place + ` === 'about 2,900 of 20,000'`)
	tab.Until(`document.getElementById('note').textContent === ''`)

	look := func() {
		tab.Do(chromedp.Evaluate[chromedp.Void](`document.dispatchEvent(new Event('visibilitychange'))`))
	}
	s.let(func() { s.data = fifoAt(2800, 18, true) })
	from, _ := s.counts()
	look()
	assert.Equal(t, 0, browsertest.Eval[int](tab, `new Promise(later => setTimeout(later, 300, 0))`))
	again, _ := s.counts()
	require.Equal(t, from, again, "it has just been told")
	later(tab, 151*time.Second)
	look()
	tab.Until(place + ` === 'about 2,800 of 20,000'`)

	s.let(func() { s.limited = true })
	from, _ = s.counts()
	later(tab, 151*time.Second)
	look()
	s.until(func(checkIns, _ int) bool { return checkIns == from+1 }, "it has had no news for a quarter of its interval")
	tab.Until(`document.getElementById('note').textContent === 'Connection lost. Trying again.'`)
	later(tab, 151*time.Second)
	look()
	assert.Equal(t, 0, browsertest.Eval[int](tab, `new Promise(later => setTimeout(later, 300, 0))`))
	again, _ = s.counts()
	require.Equal(t, from+1, again, "what limits requests is not asked sooner for a look")
}
