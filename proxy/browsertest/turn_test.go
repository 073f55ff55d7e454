package browsertest_test

import (
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/browsertest"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// callers has the page note what it would sound and show.
const callers = `window.tones = 0; window.notices = [];
const start = OscillatorNode.prototype.start;
OscillatorNode.prototype.start = function(at) { tones++; start.call(this, at); };
window.Notification = class {
  constructor(title, options) { this.body = options.body; notices.push(this); }
  close() { this.closed = true; }
  static requestPermission() { Notification.permission = 'granted'; return Promise.resolve('granted'); }
};
Notification.permission = sessionStorage.granted || 'default';`

// called opens a page that would call its visitor.
func called(s *script) *browsertest.Tab {
	tab := browser.Visitor(s.t)
	for _, source := range []string{watchPolicy, callers} {
		browsertest.Call(tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: source})
	}
	tab.Open(s.url)
	mark(tab)
	return tab
}

func click(tab *browsertest.Tab, selector string) {
	tab.Do(chromedp.Click(chromedp.CSS(selector)))
}

func TestASlotThatIsKeptCallsAHiddenPageAndIsTakenWhenItLooks(t *testing.T) {
	t.Parallel()
	s := newScript(t, lineAt(1, 3), 1)
	s.also = map[string]any{"claimWithinSeconds": 600}
	tab := called(s)
	click(tab, "#tell")
	tab.Until(`tones === 1`) // so that one knows how it sounds
	tab.Until(`document.getElementById('called').textContent === 'You will hear a sound and see a notification.'`)
	s.until(func(_, streams int) bool { return streams == 1 }, "it listens")
	tab.Another()
	tab.Until(`document.hidden`)
	from, _ := s.counts()
	s.until(func(checkIns, _ int) bool { return checkIns > from }, "it polls, which says that it is hidden")

	until := time.Now().Add(5 * time.Minute)
	s.let(func() { s.also["claimRequired"], s.also["claimUntil"] = true, until.UTC().Format(time.RFC3339Nano) })
	tab.Until(`/^Your slot is kept until .*\d.* – Waiting room$/.test(document.title)`)
	assert.Equal(t, 2, browsertest.Eval[int](tab, `tones`))
	assert.Equal(t, browsertest.Eval[string](tab, `document.getElementById('wait').textContent`), browsertest.Eval[string](tab, `notices[0].body`))
	tab.RequireAccessible()
	tab.Screenshot("page-slot-kept")
	from, _ = s.counts()
	s.until(func(checkIns, _ int) bool { return checkIns > from+1 }, "it goes on")
	assert.Equal(t, 2, browsertest.Eval[int](tab, `tones`), "once")

	t.Log("what is over is not told any more")
	s.let(func() { s.also["claimRequired"], s.also["claimUntil"] = false, "" })
	tab.Until(`document.title.startsWith('about 3') && document.title.endsWith('Waiting room')`)
	assert.True(t, browsertest.Eval[bool](tab, `notices[0].closed && document.getElementById('wait').textContent.startsWith('about 3')`))
	assert.True(t, browsertest.Eval[bool](tab, marked), "the page was not loaded again")
	assert.Empty(t, browsertest.Eval[[]string](tab, `forbidden`))

	s.let(func() { s.also["claimRequired"], s.also["claimUntil"] = true, until.UTC().Format(time.RFC3339Nano) })
	tab.Until(`document.title.startsWith('Your slot')`)
	s.let(func() { s.admitted = true })
	tab.Front()
	tab.Until(inside)
}

func TestThePageCallsOnlyWhoAsksForItAndRemembersThat(t *testing.T) {
	t.Parallel()
	s := newScript(t, lineAt(1, 3), 600)
	tab := called(s)
	s.until(func(_, streams int) bool { return streams == 1 }, "it listens")
	says := `document.getElementById('tell').getAttribute('aria-pressed') + ': ' + document.getElementById('called').textContent`
	assert.Equal(t, "false: ", browsertest.Eval[string](tab, says))
	click(tab, "#tell")
	tab.Until(says + ` === 'true: You will hear a sound and see a notification.'`)
	tab.Look(browsertest.Light, 390, 844)
	tab.RequireAccessible()
	tab.Screenshot("page-alerts-phone")
	tab.Do(chromedp.Evaluate[chromedp.Void](`sessionStorage.granted = 'granted'`))
	tab.Reload()
	assert.Equal(t, "true: You will hear a sound and see a notification.", browsertest.Eval[string](tab, says))
	tab.Do(chromedp.Evaluate[chromedp.Void](`sessionStorage.granted = 'denied'`))
	tab.Reload()
	assert.Equal(t, "true: You will hear a sound.", browsertest.Eval[string](tab, says), "it says what the browser can do")
	click(tab, "#tell")
	tab.Until(says + ` === 'false: '`)
	tab.Reload()
	assert.Equal(t, "false: ", browsertest.Eval[string](tab, says))
}

func TestATurnThatNobodyTakesGoesWhenItIsOver(t *testing.T) {
	t.Parallel()
	s := newScript(t, lineAt(1, 3), 1)
	s.standing = "active"
	tab := s.visit()
	click(tab, "summary")
	click(tab, "#pause")
	s.send("admitted", `{}`)
	tab.Until(`document.querySelector('#enter.go:not([hidden])')`)
	assert.Equal(t, "It is your turn.", browsertest.Eval[string](tab, `document.getElementById('note').textContent`))
	const told = `['label', 'wait', 'by', 'place', 'line', 'way'].map(id => document.getElementById(id)).filter(e => e.checkVisibility() && (e.id === 'way' || e.textContent)).map(e => e.id).join()`
	assert.Empty(t, browsertest.Eval[string](tab, told), "no wait is told beside it")
	tab.Screenshot("page-your-turn-paused")
	tab.Another()
	tab.Until(`document.title === 'It is your turn – Waiting room'`)
	from, _ := s.counts()
	s.let(func() { s.standing = "none" })
	tab.Until(`!document.querySelector('#enter:not([hidden])') && !document.title.includes('turn')`)
	s.until(func(checkIns, _ int) bool { return checkIns > from }, "it waits again")
	tab.Until(told + `.includes('wait')`)
	require.True(t, browsertest.Eval[bool](tab, marked), "the page was not loaded again")
}

func TestWhileTheSiteFailsWhoIsInIsToldThatTheSlotStays(t *testing.T) {
	t.Parallel()
	room := newRoom(t, time.Second)
	inFirst := room.person()
	tab := browser.Visitor(t)
	tab.Open(room.url)
	mark(tab)
	room.broken.Store(true)
	inFirst.leave()
	tab.Until(`document.getElementById('note').textContent.startsWith('You have been let in')`)
	tab.RequireAccessible()
	tab.Screenshot("page-site-fails")
	assert.True(t, browsertest.Eval[bool](tab, marked), "the page was not loaded again")

	t.Log("so is whoever loads the page")
	tab.Reload()
	assert.Contains(t, tab.Text(), "You keep your slot")
	tab.RequireAccessible()
	tab.Screenshot("error-slot-kept")
	room.broken.Store(false)
	tab.Until(inside)
}

func TestTheWayIsShownFromWhereOneBegan(t *testing.T) {
	t.Parallel()
	s := newScript(t, lineAt(41, 100), 20)
	tab := s.visit()
	bar := func(value string) {
		t.Helper()
		tab.Until(`(bar => !bar.hidden && bar.value === ` + value + `)(document.getElementById('way'))`)
	}
	s.tell(lineAt(41, 100))
	bar("0")
	s.tell(lineAt(21, 100))
	bar("0.5")
	assert.Equal(t, []string{"Your place in line", "21st of 100"}, browsertest.Eval[[]string](tab, `['aria-label', 'aria-valuetext'].map(a => document.getElementById('way').getAttribute(a))`))
	by := time.Now().Add(3 * time.Minute)
	assert.Contains(t, []string{"by about " + by.Format("3:04 PM"), "by about " + by.Add(-time.Minute).Format("3:04 PM")},
		browsertest.Eval[string](tab, `document.getElementById('by').textContent.replace(/\s/g, ' ')`))
	tab.RequireAccessible()
	for _, l := range []struct {
		name          string
		scheme        browsertest.Scheme
		width, height int64
	}{{"desktop", browsertest.Light, 1280, 800}, {"phone-dark", browsertest.Dark, 390, 844}, {"phone", browsertest.Light, 390, 844}} {
		tab.Look(l.scheme, l.width, l.height)
		tab.Screenshot("page-way-" + l.name)
	}
	t.Log("a reload begins nothing")
	tab.Reload()
	s.until(func(_, streams int) bool { return streams == 2 }, "it listens again")
	s.tell(lineAt(11, 100))
	bar("0.75")
	t.Log("nor does it end below where one is")
	s.tell(lineAt(61, 100))
	bar("0")
}

func TestWithoutAPlaceTheWayIsShownByTime(t *testing.T) {
	t.Parallel()
	data := lineAt(0, 100)
	data.QueueingMethod, data.WaitTimeKnown, data.UsersQueued = queue.Random.String(), true, 950
	data.WaitTime25Percentile, data.WaitTime50Percentile, data.WaitTime75Percentile = 5, 10, 15
	s := newScript(t, data, 600)
	tab := s.visit()
	s.tell(data)
	tab.Until(`!document.getElementById('way').hidden && document.getElementById('way').value < .01`)
	tab.Do(chromedp.Evaluate[chromedp.Void](`{ const key = 'fairdoor shop way'; sessionStorage[key] = JSON.stringify([0, Date.now() - 6e5]); }`))
	s.tell(data)
	tab.Until(`(value => value > .48 && value < .52)(document.getElementById('way').value)`)
	assert.Equal(t, "5 to 15\u00a0min", browsertest.Eval[string](tab, `document.getElementById('way').getAttribute('aria-valuetext')`))
	tab.RequireAccessible()
	s.tell(lineAt(0, 3))
	data.WaitTimeKnown = false
	s.tell(data)
	tab.Until(`document.getElementById('way').hidden && document.getElementById('by').hidden`)
}
