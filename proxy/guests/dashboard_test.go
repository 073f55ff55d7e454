package guests_test

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
)

// page is a page of the dashboard.
func (p *party) page(path string) string {
	p.T.Helper()
	a := p.API(http.MethodGet, path, "", nil)
	require.Equal(p.T, http.StatusOK, a.Status, a.Body)
	return a.Body
}

func (p *party) sendForm(path string, form url.Values) string {
	p.T.Helper()
	return p.API(http.MethodPost, path, form.Encode(), nil, gatetest.With("Content-Type", "application/x-www-form-urlencoded")).Body
}

// answersYes answers the question that a page asks, and returns the page that comes then.
func (p *party) answersYes(asked string) string {
	p.T.Helper()
	_, question, found := strings.Cut(asked, `class="card"`)
	require.True(p.T, found, asked)
	action, fields := gatetest.FormOf(p.T, question)
	return p.sendForm(action, fields)
}

const waitlistPage = "/rooms/shop/waitlist"

func TestPeopleAreInvitedInTheDashboard(t *testing.T) {
	p := startParty(t)
	for _, who := range []string{"ada@example.com", "ben@example.com", "cleo@example.com"} {
		p.member(who)
	}
	assert.Contains(t, p.page("/rooms/shop"), `href="/rooms/shop/waitlist"`)
	assert.Contains(t, p.page(waitlistPage), `<th scope="row">Wait</th><td class="n now">3</td>`)
	asked := p.sendForm(waitlistPage+"/ask", url.Values{"do": {"release"}, "count": {"3"}, "page": {"waitlist"}})
	assert.Contains(t, asked, "3 wait. 2 are invited now")
	assert.Contains(t, asked, "Fewer are invited than you asked for")
	page := p.answersYes(asked)
	assert.Contains(t, page, "2 invites are on their way.")
	assert.Contains(t, p.page("/"), "an invite expires <time", "what is next is in the overview")
	assert.Contains(t, page, `<th scope="row">Are invited</th><td class="n now">2</td>`)
	assert.Contains(t, page, "all 2 spots are held")
	assert.Contains(t, page, "<td>release</td>")

	page = p.answersYes(p.sendForm(waitlistPage+"/ask", url.Values{"do": {"pause"}, "page": {"waitlist"}}))
	assert.Contains(t, page, "operators have paused the waitlist")
	assert.Contains(t, p.sendForm(waitlistPage+"/ask", url.Values{"do": {"release"}, "count": {"1"}, "page": {"waitlist"}}), "Nobody was invited: the waitlist is paused")
	_, undo, _ := strings.Cut(page, `id="done"`)
	action, fields := gatetest.FormOf(t, undo)
	assert.NotContains(t, p.sendForm(action, fields), "operators have paused")
}

func TestInvitesArePlannedAndCancelledInTheDashboard(t *testing.T) {
	p := startParty(t)
	at := p.Clock.Now().Add(24 * time.Hour).UTC().Truncate(time.Minute)
	order := url.Values{"do": {"plan"}, "count": {"50"}, "at": {at.Format("2006-01-02T15:04")}, "every": {"1h"}, "page": {"waitlist"}}
	asked := p.sendForm(waitlistPage+"/ask", order)
	assert.Contains(t, asked, "50 people are invited <time datetime=\""+at.Format(time.RFC3339))
	page := p.answersYes(asked)
	assert.Contains(t, page, "and again every 1h")
	assert.Contains(t, p.page("/"), "50 are invited <time datetime=\""+at.Format(time.RFC3339), "what is next is in the overview")
	_, plan, _ := strings.Cut(page, `id="plan-list"`)
	_, fields := gatetest.FormOf(t, plan)
	fields.Set("do", "cancel")
	assert.Contains(t, p.answersYes(p.sendForm(waitlistPage+"/ask", fields)), "The plan is cancelled.")
	order.Set("at", "2001-01-01T00:00")
	assert.Contains(t, p.sendForm(waitlistPage+"/ask", order), "Nothing was planned")
}

// importing sends a file of a form.
func (p *party) importing(text string) string {
	p.T.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	require.NoError(p.T, form.WriteField("page", "waitlist"))
	file, err := form.CreateFormFile("file", "list.csv")
	require.NoError(p.T, err)
	_, err = io.WriteString(file, text)
	require.NoError(p.T, err)
	require.NoError(p.T, form.Close())
	return p.API(http.MethodPost, waitlistPage+"/import", body.String(), nil, gatetest.With("Content-Type", form.FormDataContentType())).Body
}

func TestAFileIsImportedInTheDashboardOnceItsColumnsAreSeen(t *testing.T) {
	p := startParty(t)
	p.member("ada@example.com")
	asked := p.importing("Email Address,Signup Date,Shoe size\r\nada@example.com,2026-01-02,44\r\ndora@example.com,2026-01-03,\"4\"\"0\"\r\nnobody,2026-01-03,1\r\n")
	for _, want := range []string{
		`<option value="email=Email Address" selected>email</option>`, `<td>ada@example.com</td>`,
		`<option value="joined_at=Signup Date" selected>joined at</option>`, `<td>2026-01-02</td>`,
		`<option value="priority=Shoe size">priority</option>`, `<td>44</td>`,
	} {
		assert.Contains(t, asked, want)
	}
	assert.NotRegexp(t, `Shoe size" selected`, asked)
	numbers, err := p.record.Numbers(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 1, numbers.Entries["waiting"], "nothing is added before the operator says so")
	page := p.imports(asked)
	assert.Contains(t, page, "Added: 1. On the list already: 1. Left out: 1, such as line 4.")
	for _, text := range []string{"email\nj\xf6rg@example.com\n", "email\nada\x00@example.com\n"} {
		assert.Contains(t, p.importing(text), "the file is not in UTF-8")
	}
	assert.Contains(t, p.importing("\"Shoe size\n44\n"), "the first line has to name the columns")
	assert.Contains(t, p.importing("email\n"+strings.Repeat("x", 3<<20)), "at most 2 MiB")
}

// imports says yes to an import. The columns are chosen as the page has them, but for those whose
// choice is given.
func (p *party) imports(asked string, choose ...string) string {
	p.T.Helper()
	_, question, found := strings.Cut(asked, `class="card"`)
	require.True(p.T, found, asked)
	action, fields := gatetest.FormOf(p.T, question)
	for _, list := range regexp.MustCompile(`(?s)<select name="column" form="answer" aria-label="(.*?) becomes">(.*?)</select>`).FindAllStringSubmatch(asked, -1) {
		value := ""
		if selected := regexp.MustCompile(`value="([^"]*)" selected`).FindStringSubmatch(list[2]); selected != nil {
			value = selected[1]
		}
		for _, choice := range choose {
			if _, column, _ := strings.Cut(choice, "="); column == list[1] {
				assert.Contains(p.T, list[2], `value="`+choice+`"`)
				value = choice
			}
		}
		fields.Add("column", html.UnescapeString(value))
	}
	return p.sendForm(action, fields)
}

func TestAnOperatorChoosesWhatTheColumnsOfAFileAre(t *testing.T) {
	p := startParty(t)
	file := "Contact,Since,Note,Email\nada@example.com,2026-01-02,7,old@example.com\n"
	asked := p.importing(file)
	again := p.imports(asked, "email=Contact")
	assert.Contains(t, again, "Two columns cannot become the same")
	assert.Contains(t, p.importing("Contact\nada@example.com\n"), "Choose which column is the email")
	numbers, err := p.record.Numbers(t.Context())
	require.NoError(t, err)
	require.Zero(t, numbers.Entries["waiting"])

	page := p.imports(asked, "email=Contact", "joined_at=Since", "user_id=Email")
	assert.Contains(t, page, "Added: 1.")
	var list bytes.Buffer
	require.NoError(t, p.record.Export(t.Context(), &list, "ben", p.Clock.Now()))
	assert.Regexp(t, `ada@example.com.*old@example.com.*2026-01-02`, list.String())
}

func TestARoomWithoutAWaitlistSaysHowItGetsOne(t *testing.T) {
	page := gatetest.Start(t).API(http.MethodGet, waitlistPage, "", nil, gatetest.With("Accept", "text/html"))
	assert.Equal(t, http.StatusNotFound, page.Status)
	assert.Contains(t, page.Header.Get("Content-Type"), "text/html")
	assert.Contains(t, page.Body, "The room has no waitlist, from which people are invited. Add one for room: shop to waitlists: in the configuration, and have the gate read it again")
}

func TestMailsThatAreKeptAreReadInTheDashboard(t *testing.T) {
	p := startParty(t)
	p.member("ada@example.com")
	page := p.page(waitlistPage + "/mails")
	assert.Contains(t, page, "to ada@example.com")
	assert.Contains(t, page, `src="/rooms/shop/waitlist/mails/1"`)
	mail := p.API(http.MethodGet, waitlistPage+"/mails/1", "", nil)
	assert.Contains(t, mail.Body, "https://shop.test/.fairdoor/waitlist/beta/confirm?token=")
	assert.Contains(t, mail.Header.Get("Content-Security-Policy"), "default-src 'none'")
	assert.Contains(t, mail.Header.Get("Content-Security-Policy"), "sandbox allow-popups ")
	assert.Equal(t, http.StatusNotFound, p.API(http.MethodGet, waitlistPage+"/mails/99", "", nil).Status)
}

func TestAViewerReadsNoMails(t *testing.T) {
	p := startParty(t, func(c *proxy.Config, _ *proxy.Options) {
		c.Operators = []admin.Operator{{Name: "ada", Token: "the token of ada"}, {Name: "eve", Views: true, Token: "the token of eve"}}
	})
	p.member("ada@example.com")
	for _, path := range []string{waitlistPage + "/mails", waitlistPage + "/mails/1", "/api/v1/waitlists/beta/outbox"} {
		read := p.API(http.MethodGet, path, "", nil, gatetest.With("Authorization", "Bearer the token of ada"))
		assert.Equal(t, http.StatusOK, read.Status, path)
		refused := p.API(http.MethodGet, path, "", nil, gatetest.With("Authorization", "Bearer the token of eve"))
		assert.Equal(t, http.StatusForbidden, refused.Status, path)
		assert.Contains(t, refused.Body, "Your token is for looking only", path)
		assert.NotContains(t, refused.Body, "ada@example.com", path)
	}
}

func TestThePageOfMailsShowsTheLatestAndStaysAsItIs(t *testing.T) {
	p := startParty(t)
	for i := range 31 {
		p.member(fmt.Sprintf("person%d@example.com", i))
	}
	kept, err := p.record.Outbox(t.Context(), 0, 1000)
	require.NoError(t, err)
	require.Greater(t, len(kept), 30)
	page := p.page(waitlistPage + "/mails")
	var shown []string
	for _, found := range regexp.MustCompile(`src="/rooms/shop/waitlist/mails/([0-9]+)"`).FindAllStringSubmatch(page, -1) {
		shown = append(shown, found[1])
	}
	var want []string
	for _, m := range slices.Backward(kept[len(kept)-30:]) {
		want = append(want, strconv.FormatInt(m.ID, 10))
	}
	assert.Equal(t, want, shown)
	assert.NotContains(t, page, `id="mails" data-live`, "nobody reads mails that are replaced every few seconds")
}
