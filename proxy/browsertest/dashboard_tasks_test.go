package browsertest_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/browsertest"
	"github.com/fairdoor-gate/fairdoor/proxy/guests"
)

// hands are how an operator does something on a page: by keyboard, or by touch.
type hands struct {
	t   *testing.T
	tab *browsertest.Tab
	by  string
}

// eachHand runs a task as a person would do it: on a desk by keyboard, and on a phone by touch.
func eachHand(t *testing.T, task func(t *testing.T, d *desk, h *hands)) {
	t.Parallel()
	for _, by := range []string{"keyboard", "touch"} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			d, tab := newDesk(t, ""), browser.Visitor(t)
			tab.Look(browsertest.Dark, 1440, 900)
			if by == "touch" {
				tab.Look(browsertest.Light, 390, 844)
				browsertest.Call(tab, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: true})
			}
			task(t, d, &hands{t, tab, by})
		})
	}
}

// press presses a button or follows a link, and waits for what comes of it.
func (h *hands) press(what, then string) {
	h.t.Helper()
	h.tab.Until(`document.querySelector('` + what + `')`)
	if h.by == "keyboard" {
		browsertest.Eval[int](h.tab, `{document.querySelector('`+what+`').focus(); 0}`)
		h.tab.Do(chromedp.KeyEvent(kb.Enter))
	} else {
		at := browsertest.Eval[[]float64](h.tab, `(() => {
			const e = document.querySelector('`+what+`');
			e.scrollIntoView({block: 'center'});
			const r = e.getBoundingClientRect();
			return [r.x + r.width / 2, r.y + r.height / 2, r.height];
		})()`)
		assert.GreaterOrEqual(h.t, at[2], 24.0, "%s is large enough for a finger", what)
		touch := func(kind input.DispatchTouchEventType, points []*input.TouchPoint) {
			browsertest.Call(h.tab, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: points})
		}
		touch(input.DispatchTouchEventTypeTouchStart, []*input.TouchPoint{{X: at[0], Y: at[1]}})
		touch(input.DispatchTouchEventTypeTouchEnd, []*input.TouchPoint{})
	}
	h.tab.Until(then)
}

// fill has a field of a form have a value, and the page hear of it.
func (h *hands) fill(field, value string) {
	h.t.Helper()
	h.tab.Do(chromedp.SetValue(chromedp.CSS(field), value))
	browsertest.Eval[int](h.tab, `{document.querySelector('`+field+`').dispatchEvent(new Event('input', {bubbles: true})); 0}`)
}

// isWhole checks that nothing is cut off, and nothing stands in the way of anybody.
func (h *hands) isWhole() {
	h.t.Helper()
	assert.Equal(h.t, browsertest.Eval[int64](h.tab, `innerWidth`), browsertest.Eval[int64](h.tab, `document.documentElement.scrollWidth`), "nothing is cut off")
	h.tab.RequireAccessible()
}

func TestHoldEverybodyForFiveMinutesAndTellThem(t *testing.T) {
	eachHand(t, func(t *testing.T, d *desk, h *hands) {
		h.tab.Open(d.url)
		h.press(`[href="/rooms/shop"]`, `document.querySelector('#actions button')`)
		h.press(`#actions button`, `document.querySelector('#for')`)
		h.fill("#for", "5m")
		h.isWhole()
		h.press(`.answer .main`, `document.querySelector('.done')`)
		assert.Equal(t, "true", d.setting("queue_all"))
		assert.Contains(t, h.tab.Text(), "This ends by itself")
		h.isWhole()
		h.press(`[href="/rooms/shop/message"]`, `document.querySelector('#preview')`)
		h.tab.Do(chromedp.SendKeys(chromedp.CSS("#message"), "Back in five minutes."))
		h.fill("#lang", "ar-EG")
		h.tab.Until(`document.querySelector('#preview').src.includes('lang=ar-EG') && document.querySelector('#preview').src.includes('five+minutes')`)
		h.tab.Screenshot("dashboard-task-message-" + h.by)
		h.isWhole()
		h.press(`#form .main`, `document.querySelector('.answer .main')`)
		h.press(`.answer .main`, `document.querySelector('.done')`)
		assert.Equal(t, "Back in five minutes.", d.setting("message"))
		h.press(`.done button`, `!document.querySelector('#message').value`)
		assert.Empty(t, d.setting("message"))
	})
}

func TestPlanASaleWithADraw(t *testing.T) {
	eachHand(t, func(t *testing.T, d *desk, h *hands) {
		browsertest.Call(h.tab, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "Asia/Kolkata"})
		day := time.Now().UTC().AddDate(0, 0, 5).Format("2006-01-02")
		h.tab.Open(d.url + "/rooms/shop/events")
		h.fill("#name", "friday")
		assert.False(t, browsertest.Eval[bool](h.tab, `document.querySelector('#end').checkVisibility() || document.querySelector('#prequeue').checkVisibility()`))
		h.fill("#start", day+"T14:30")
		if h.by == "keyboard" {
			assert.Len(t, browsertest.Eval[[]float64](h.tab, `[...new Set(['name', 'start', 'lasts'].map(id => document.getElementById(id).getBoundingClientRect().bottom))]`), 1, "what is beside each other is in line")
		}
		h.fill("#lasts", "at")
		h.fill("#end", day+"T20:30")
		h.fill("#early", "1h")
		browsertest.Eval[int](h.tab, `{document.querySelector('#shuffle').checked = true; document.querySelector('form details').open = true; 0}`)
		h.fill("#total", "800")
		h.isWhole()
		h.tab.Screenshot("dashboard-task-plan-" + h.by)
		h.press(`[data-local] .main`, `document.querySelector('.answer .main')`)
		assert.Contains(t, h.tab.Text(), "From 1 hour before the start on everybody new is held; at the start their order is drawn. It lasts 6 hours.")
		h.isWhole()
		h.press(`.answer .main`, `document.querySelector('#event-friday')`)
		assert.Contains(t, d.get("/api/v1/rooms/shop/events/friday"), `"event_start_time": "`+day+`T09:00:00Z"`, "by the clock of the operator")
		assert.Contains(t, d.get("/api/v1/rooms/shop/events/friday"), `"shuffle_at_event_start": true`)
		h.press(`[href$="change=friday#plan"]`, `document.querySelector('[name=do][value=edit]')`)
		assert.Equal(t, day+"T14:30", browsertest.Eval[string](h.tab, `document.querySelector('#start').value`), "by the clock of the operator")
		assert.Equal(t, []string{"6h", "1h"}, browsertest.Eval[[]string](h.tab, `[document.querySelector('#lasts').value, document.querySelector('#early').value]`))
		h.fill("#start", day+"T15:30")
		h.fill("#early", "at")
		h.isWhole()
		h.tab.Screenshot("dashboard-task-change-event-" + h.by)
		h.press(`[data-local] .main`, `document.querySelector('.answer .main')`)
		h.press(`.answer .main`, `document.querySelector('.done')`)
		assert.Contains(t, d.get("/api/v1/rooms/shop/events/friday"), `"event_start_time": "`+day+`T10:00:00Z"`)
		assert.Contains(t, d.get("/api/v1/rooms/shop/events/friday"), `"prequeue_start_time": "`+day+`T08:00:00Z"`)
		browsertest.Eval[int](h.tab, `{window.before = true; 0}`)
		h.press(`.done button`, `!window.before && document.querySelector('.done')`)
		assert.Contains(t, d.get("/api/v1/rooms/shop/events/friday"), `"event_start_time": "`+day+`T09:00:00Z"`)
		h.press(`[aria-labelledby=event-friday] [value=delete]`, `document.querySelector('.answer .main')`)
		assert.Contains(t, h.tab.Text(), "Cancel friday?")
		h.isWhole()
		h.press(`.answer .main`, `document.querySelector('.done') && !document.querySelector('#event-friday')`)

		h.fill("#name", "friday")
		h.fill("#start", day+"T14:30")
		h.fill("#lasts", "at")
		h.fill("#end", day+"T13:30")
		h.press(`[data-local] .main`, `document.querySelector('[role=alert]')`)
		assert.Contains(t, h.tab.Text(), "event_end_time")
	})
}

func TestLetOnePersonInByTheirCode(t *testing.T) {
	eachHand(t, func(t *testing.T, d *desk, h *hands) {
		waits := browser.Visitor(t)
		waits.Open(d.front)
		waits.Until(`/[0-9A-Z]{4}-[0-9A-Z]{4}/.test(document.body.innerText)`)
		code := browsertest.Eval[string](waits, `document.body.innerText.match(/[0-9A-Z]{4}-[0-9A-Z]{4}/)[0]`)
		h.tab.Open(d.url)
		h.tab.Do(chromedp.SendKeys(chromedp.CSS("#q"), code))
		h.press(`[role=search] button`, `document.querySelector('#story')`)
		assert.Contains(t, h.tab.Text(), "They wait. Their place is that of somebody who came")
		h.isWhole()
		h.tab.Screenshot("dashboard-task-visitor-" + h.by)
		h.press(`#story [value=ahead]`, `document.querySelector('.answer .main')`)
		assert.Regexp(t, `To have them in at once, put them first, and then raise total_active_users to \d+\.`, h.tab.Text())
		h.isWhole()
		h.press(`.answer .main`, `document.querySelector('.done')`)
		assert.Contains(t, d.get("/api/v1/visitors?q="+code), `"ahead": true`)
		assert.Contains(t, h.tab.Text(), "the next free slot is theirs")
		h.press(`.done button`, `document.querySelector('#story [value=ahead]')`)
		assert.Contains(t, d.get("/api/v1/visitors?q="+code), `"ahead": false`)
		h.tab.Open(d.url + "/visitors?q=nobody")
		assert.Contains(t, h.tab.Text(), "Nobody is found.")
		h.isWhole()
	})
}

func TestFindWhyNobodyGetsInAndHalveTheWait(t *testing.T) {
	eachHand(t, func(t *testing.T, d *desk, h *hands) {
		h.tab.Open(d.url)
		assert.Equal(t, "shop", browsertest.Eval[string](h.tab, `document.querySelector('.rooms tbody th a').textContent`), "trouble first")
		assert.Contains(t, browsertest.Eval[string](h.tab, `document.querySelector('.rooms .why').innerText`), "Every slot is taken")
		h.press(`[href="/rooms/shop"]`, `document.querySelector('[href="/rooms/shop/limits"]')`)
		h.press(`.reason [href="/rooms/shop/limits"]`, `document.querySelector('#total_active_users')`)
		h.fill("#total_active_users", "40")
		h.press(`#form .main`, `document.querySelector('.forecast')`)
		assert.Contains(t, browsertest.Eval[string](h.tab, `document.querySelector('.forecast').innerText`), "are let in then; now it is about")
		assert.Empty(t, browsertest.Eval[[]string](h.tab, strings.Replace(severalLines, "button, #small code", ".changes code", 1)), "names of settings are not broken")
		assert.Contains(t, browsertest.Eval[string](h.tab, `document.querySelector('.forecast').innerText`), "The last of those in line now is let in within about")
		h.isWhole()
		h.tab.Screenshot("dashboard-task-forecast-" + h.by)
		h.press(`.answer .main`, `document.querySelector('.done')`)
		assert.Equal(t, "40", d.setting("total_active_users"))
		h.press(`.done button`, `document.querySelector('#total_active_users')?.value === '20'`)
		assert.Equal(t, "20", d.setting("total_active_users"))
	})
}

func TestValuesOfAChartAreReadByKeyboardAndFinger(t *testing.T) {
	eachHand(t, func(t *testing.T, d *desk, h *hands) {
		h.tab.Open(d.url + "/rooms/shop")
		browsertest.Call(h.tab, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "Asia/Kolkata"})
		h.press(`.ranges [href$="range=24h"]`, `document.querySelector('.ranges [aria-current]').textContent === '24 hours' && document.querySelector('.moment')`)
		told := func() string {
			return browsertest.Eval[string](h.tab, `document.querySelector('#charts output').textContent`)
		}
		last := told()
		assert.Contains(t, last, ": in line ")
		if h.by == "keyboard" {
			browsertest.Eval[int](h.tab, `{document.querySelector('.moment').focus(); 0}`)
			for range 60 {
				h.tab.Do(chromedp.KeyEvent(kb.ArrowLeft))
			}
			assert.Contains(t, browsertest.Eval[string](h.tab, `document.querySelector('.moment').getAttribute('aria-valuetext')`), "in line ")
		} else {
			h.press(`.moment`, `document.querySelector('#charts output').textContent !== '`+last+`'`)
		}
		assert.NotEqual(t, last, told())
		assert.Contains(t, browsertest.Eval[string](h.tab, `document.querySelector('.mark title').textContent`), "total_active_users: 15 → 20, by 192.0.2.7")
		assert.True(t, browsertest.Eval[bool](h.tab, `(() => {
			const mark = document.querySelector('.mark title'), at = new Date(Number(mark.dataset.from));
			return mark.textContent.startsWith(at.toLocaleString(undefined, {dateStyle: 'short', timeStyle: 'medium'}));
		})()`), "by the clock of the operator")
		h.isWhole()
		h.tab.Screenshot("dashboard-task-charts-" + h.by)
	})
}

func TestMakeAPassForTenPeopleAndRevokeIt(t *testing.T) {
	eachHand(t, func(t *testing.T, d *desk, h *hands) {
		h.tab.Open(d.url + "/rooms/shop")
		h.press(`[href="/rooms/shop/passes"]`, `document.querySelector('#make')`)
		h.fill("#name", "Friday press")
		h.fill("#people", "10")
		h.fill("#site", d.front)
		h.press(`[value=make]`, `document.querySelector('.answer .main')`)
		assert.Contains(t, h.tab.Text(), "for 10 people")
		h.isWhole()
		h.press(`.answer .main`, `document.querySelector('.link img')`)
		assert.Contains(t, h.tab.Text(), "Friday press is made.")
		h.isWhole()
		h.tab.Screenshot("dashboard-task-pass-" + h.by)
		holder, link := browser.Visitor(t), browsertest.Eval[string](h.tab, `document.querySelector('.link a').href`)
		holder.Open(link)
		holder.Do(chromedp.Click(chromedp.CSS("form button")))
		holder.Until(`location.pathname === '/'`)

		h.press(`[href="/rooms/shop/passes"]`, `document.querySelector('#pass-list table')`)
		assert.Contains(t, h.tab.Text(), "1 of 10")
		h.isWhole()
		h.tab.Screenshot("dashboard-task-passes-" + h.by)
		h.press(`#pass-list button`, `document.querySelector('.answer .main')`)
		assert.Contains(t, h.tab.Text(), "It cannot be undone.")
		h.isWhole()
		h.press(`.answer .main`, `document.querySelector('.done')`)
		assert.Contains(t, h.tab.Text(), "The pass is revoked")
		assert.Contains(t, d.get("/api/v1/rooms/shop/passes"), "revokedAt")
	})
}

func TestInvitePeopleNowAndPlanMore(t *testing.T) {
	eachHand(t, func(t *testing.T, d *desk, h *hands) {
		for _, who := range []string{"ada@example.com", "ben@example.com"} {
			answer, err := http.PostForm(d.front+guests.Paths+"beta", url.Values{"email": {who}})
			require.NoError(t, err)
			answer.Body.Close()
		}
		h.tab.Open(d.url)
		h.press(`[href="/rooms/chat/waitlist"]`, `document.querySelector('#release')`)
		h.fill("#count", "2")
		h.press(`[value=release]`, `document.querySelector('[data-answer] .main')`)
		assert.Contains(t, h.tab.Text(), "0 wait. 0 are invited now", "nobody has confirmed their address")
		h.isWhole()
		h.press(`[data-answer] .button`, `document.querySelector('#planned')`)
		h.fill("#planned", "50")
		h.fill("#at", time.Now().AddDate(0, 0, 2).Format("2006-01-02")+"T09:00")
		h.fill("#every", "1h")
		h.press(`[value=plan]`, `document.querySelector('[data-answer] .main')`)
		assert.Contains(t, h.tab.Text(), "50 people are invited")
		h.isWhole()
		h.press(`[data-answer] .main`, `document.querySelector('.done')`)
		assert.Contains(t, d.get("/api/v1/waitlists/beta/plans"), `"count": 50`)
		h.isWhole()
		h.tab.Screenshot("dashboard-task-waitlist-" + h.by)
		h.press(`#plan-list button`, `document.querySelector('[data-answer] .main')`)
		h.press(`[data-answer] .main`, `document.querySelector('.done')`)
		assert.NotContains(t, d.get("/api/v1/waitlists/beta/plans"), `"count": 50`)
		h.press(`[href$="/mails"]`, `document.querySelectorAll('iframe.mail').length === 2`)
		h.isWhole()
		h.tab.Screenshot("dashboard-task-mails-" + h.by)
	})
}

func TestImportAListAndSayWhatItsColumnsAre(t *testing.T) {
	eachHand(t, func(t *testing.T, d *desk, h *hands) {
		h.tab.Open(d.url + "/rooms/chat/waitlist")
		browsertest.Eval[int](h.tab, `{
			const chosen = new DataTransfer();
			chosen.items.add(new File(['Contact,Signup Date,Shoe size\nada@example.com,2026-01-02,44\n'], 'list.csv', {type: 'text/csv'}));
			document.querySelector('#file').files = chosen.files; 0}`)
		h.press(`[action$="/import"] button`, `document.querySelector('[name=column]')`)
		assert.Contains(t, h.tab.Text(), "Choose which column is the email or the user id")
		h.fill(`[aria-label="Contact becomes"]`, "email=Contact")
		h.isWhole()
		h.tab.Screenshot("dashboard-task-import-" + h.by)
		h.press(`.answer .main`, `document.querySelector('.done')`)
		assert.Contains(t, h.tab.Text(), "Added: 1.")
		assert.Contains(t, d.get("/api/v1/waitlists/beta/entries"), "ada@example.com")
		h.isWhole()
	})
}

func TestPutBackWhatSomebodyElseHasDone(t *testing.T) {
	eachHand(t, func(t *testing.T, d *desk, h *hands) {
		for _, body := range []string{`{"message": "Back at eight."}`, `{"items": [{"name": "Standing", "price": "49 €", "left": 12}]}`} {
			q, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, d.url+"/api/v1/rooms/shop", strings.NewReader(body))
			require.NoError(t, err)
			answer, err := http.DefaultClient.Do(q)
			require.NoError(t, err)
			answer.Body.Close()
		}
		h.tab.Open(d.url + "/rooms/shop/history")
		assert.Contains(t, h.tab.Text(), "Standing, 49 €, 12 left")
		h.isWhole()
		h.tab.Screenshot("dashboard-task-history-" + h.by)
		h.press(`#changes [value=message] ~ button`, `document.querySelector('.answer .main')`)
		h.isWhole()
		h.press(`.answer .main`, `document.querySelector('.done')`)
		assert.Empty(t, d.setting("message"))
		h.isWhole()
		h.tab.Screenshot("dashboard-task-putback-" + h.by)
	})
}

func TestEndOnePersonsSession(t *testing.T) {
	eachHand(t, func(t *testing.T, d *desk, h *hands) {
		h.tab.Open(d.url + "/rooms/shop")
		browsertest.Eval[int](h.tab, `{[...document.querySelectorAll('summary')].find(s => s.textContent === 'Who is in').click(); 0}`)
		h.press(`#occupants a`, `document.querySelector('#story [value=end]')`)
		h.isWhole()
		h.press(`#story [value=end]`, `document.querySelector('[data-answer] .main')`)
		h.press(`[data-answer] .main`, `document.querySelector('.done')`)
		assert.Contains(t, h.tab.Text(), "is out.")
		assert.Contains(t, d.get("/api/v1/rooms/shop/record"), "visitor removed")
	})
}
