package main_test

import (
	"html"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/docs"
	"github.com/fairdoor-gate/fairdoor/proxy/webhooks"
)

// repository is where the documents are, as seen from this package.
const repository = "../.."

// documents are the texts of all documents, by path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	require.NoError(t, filepath.WalkDir(repository, func(path string, entry fs.DirEntry, err error) error {
		switch name := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && (name == ".git" || name == ".cache" || name == "artifacts"):
			return fs.SkipDir
		case filepath.Ext(name) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		texts[path] = string(text)
		return err
	}))
	return texts
}

var (
	fenced   = regexp.MustCompile("(?s)\n```.*?\n```")
	linked   = regexp.MustCompile(`\]\(([^)\s]+)\)|src="([^"]+)"`)
	heading  = regexp.MustCompile(`(?m)^#+ (.*)$`)
	unlinked = regexp.MustCompile(`[^\pL\pN _-]`)
)

// anchors are the names by which GitHub links to the headings of a document.
func anchors(document string) []string {
	var names []string
	for _, match := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(document, ""), -1) {
		names = append(names, strings.ReplaceAll(unlinked.ReplaceAllString(strings.ToLower(match[1]), ""), " ", "-"))
	}
	return names
}

func TestLinksOfTheDocumentsLeadSomewhere(t *testing.T) {
	texts := documents(t)
	require.Contains(t, texts, filepath.Join(repository, "README.md"))
	for path, text := range texts {
		for _, match := range linked.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
			link := match[1] + match[2]
			if strings.Contains(link, "://") {
				continue
			}
			file, anchor, _ := strings.Cut(link, "#")
			target := path
			if file != "" {
				target = filepath.Join(filepath.Dir(path), file)
				_, err := os.Stat(target)
				assert.NoError(t, err, "%s links to %s", path, link)
			}
			if anchor != "" {
				assert.Contains(t, anchors(texts[target]), anchor, "%s links to %s", path, link)
			}
		}
	}
}

// inPage is the text of a page.
func inPage(t *testing.T, name string) string {
	t.Helper()
	page, found := docs.Named(name)
	require.True(t, found, name)
	return string(page.Markdown)
}

const (
	mostWords   = 900    // of a page
	mostInTotal = 22_000 // of all documents but the changelog
)

// words is how many words a text has: what has a letter or a digit in it, and not the bars of
// tables.
func words(text string) (n int) {
	for _, field := range strings.Fields(text) {
		if strings.ContainsFunc(field, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			n++
		}
	}
	return n
}

func TestDocumentsAreShort(t *testing.T) {
	total := 0
	for path, text := range documents(t) {
		if filepath.Base(path) == "CHANGELOG.md" {
			continue
		}
		total += words(text)
		if strings.Contains(path, "/docs/") || path == filepath.Join(repository, "README.md") {
			assert.LessOrEqual(t, words(text), mostWords, path)
		}
	}
	assert.LessOrEqual(t, total, mostInTotal)
}

func TestEachPageAnswersAQuestionAndIsListedOnce(t *testing.T) {
	index, found := docs.Named(docs.Index)
	require.True(t, found)
	listed := map[string]string{}
	for _, match := range regexp.MustCompile(`(?m)^- \[(.*)\]\((\S+)\)$`).FindAllStringSubmatch(string(index.Markdown), -1) {
		assert.NotContains(t, listed, match[2])
		listed[match[2]] = match[1]
	}
	assert.Equal(t, "Which options are there?", listed["../config/fairdoor.yaml"])
	assert.Len(t, listed, len(docs.Pages())-1)
	for _, page := range docs.Pages() {
		if page.Name != docs.Index && page.Name != docs.Options {
			assert.Equal(t, page.Title, listed[page.Name+".md"], "index.md lists %s by its title", page.Name)
		}
		assert.True(t, strings.HasSuffix(page.Title, "?"), page.Title)
	}
}

// blocks are the blocks of a document in a language, without their indentation.
func blocks(document, language string) (texts []string) {
	for _, match := range regexp.MustCompile("(?m)^( *)```"+language+"\n((?:.*\n)*?) *```$").FindAllStringSubmatch(document, -1) {
		texts = append(texts, strings.TrimPrefix(strings.ReplaceAll("\n"+match[2], "\n"+match[1], "\n"), "\n"))
	}
	return texts
}

// languages are those of blocks that some test reads, and of those that say what is printed or
// sent.
var languages = []string{"yaml", "sh", "nginx", "caddy", "haproxy", "js", "html", "go", "kotlin", "swift", "ini", "json", "text"}

func TestBlocksHaveALanguageThatIsKnown(t *testing.T) {
	for path, text := range documents(t) {
		for i, match := range regexp.MustCompile("(?m)^ *```(.*)$").FindAllStringSubmatch(text, -1) {
			if i%2 == 0 && strings.Contains(path, "/docs/") {
				assert.Contains(t, languages, match[1], path)
			}
		}
	}
}

// configurations makes files of the configurations in a document, of which some are a part of a
// room: they get the rest.
func configurations(document string) (files []string) {
	for _, text := range blocks(document, "yaml") {
		const limits = "    total_active_users: 500\n    new_users_per_minute: 300\n"
		file := text
		switch {
		case strings.HasPrefix(text, "  - "):
			file = "rooms:\n" + text
		case strings.HasPrefix(text, "    ") && strings.Contains("\n"+text, "\n    total_active_users:"):
			file = "rooms:\n  - name: shop\n" + text
		case strings.HasPrefix(text, "    "):
			file = "rooms:\n  - name: shop\n" + limits + text
		case !strings.Contains("\n"+text, "\nrooms:"):
			file += "rooms:\n  - name: shop\n" + limits
		case !strings.Contains(text, "total_active_users:"):
			file = strings.Replace(text, "  - name: shop\n", "  - name: shop\n"+limits, 1)
		}
		if !regexp.MustCompile(`(?m)^origins?:`).MatchString(file) {
			file = "origin: http://127.0.0.1:3000\n" + file
		}
		files = append(files, file)
	}
	return files
}

// prepare puts what configurations name into a directory.
func prepare(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"SMTP_PASSWORD", "DB_PASSWORD", "CHALLENGE_SECRET", "REDIS_PASSWORD"} {
		t.Setenv(name, "secret")
	}
	t.Setenv("SHOP_KEY", "0123456789abcdef0123456789abcdef")
	t.Setenv("WEBHOOK_SECRET", "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
	key, _, _ := fairdoor(t, "keygen")
	for name, text := range map[string]string{"keys": key, "cdn.txt": "192.0.2.0/24\n", "smtp": "secret", "page.mustache": "{{waitTime}}", "secrets": key, "token": key} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
}

func TestConfigurationsInDocumentsAreValid(t *testing.T) {
	dir, checked := t.TempDir(), 0
	prepare(t, dir)
	for path, text := range documents(t) {
		if !strings.Contains(path, "/docs/") && path != filepath.Join(repository, "README.md") {
			continue
		}
		for _, configuration := range configurations(text) {
			file := filepath.Join(dir, "fairdoor.yaml")
			require.NoError(t, os.WriteFile(file, []byte(configuration), 0o600))
			_, stderr, code := fairdoor(t, "validate", "--config", file)
			assert.Zero(t, code, "%s: %s\n%s", path, stderr, configuration)
			checked++
		}
	}
	assert.Greater(t, checked, 1)
}

// commandIn is a command within a sentence.
var commandIn = regexp.MustCompile("`fairdoor ([a-z][^`]*)`")

func TestCommandsWithinSentencesExist(t *testing.T) {
	checked := 0
	for path, text := range documents(t) {
		if filepath.Base(path) == "CHANGELOG.md" {
			continue
		}
		for _, match := range commandIn.FindAllStringSubmatch(strings.ReplaceAll(fenced.ReplaceAllString(text, ""), "\n", " "), -1) {
			args, words := strings.Fields(match[1]), 1
			if slices.Contains([]string{"waitlist", "pass", "events", "webhooks"}, args[0]) {
				words = 2
			}
			stdout, stderr, code := fairdoor(t, append(args, "--help")...)
			assert.Zero(t, code, "%s: %s: %s", path, match[0], stderr)
			assert.Contains(t, stdout, "fairdoor "+strings.Join(args[:min(words, len(args))], " "), "%s: %s", path, match[0])
			checked++
		}
	}
	assert.Greater(t, checked, 30)
}

func TestTheRunbookHasEveryAlert(t *testing.T) {
	var alerts []string
	for _, group := range objects(t, "examples/monitoring/alerts.yaml")[""].at("groups").value.([]any) {
		for _, rule := range (node{group}).at("rules").value.([]any) {
			alerts = append(alerts, node{rule}.at("alert").text())
		}
	}
	var headings []string
	for _, match := range regexp.MustCompile(`(?m)^## (.*)$`).FindAllStringSubmatch(inPage(t, "runbook"), -1) {
		headings = append(headings, match[1])
	}
	assert.ElementsMatch(t, alerts, headings)
}

func TestThePageOfMetricsHasThoseThatThereAre(t *testing.T) {
	admin, told := serving(t, watched)
	require.Equal(t, "READY=1", <-told)
	var there []string
	for name := range metricsAt(t, admin) {
		if strings.HasPrefix(name, "fairdoor_") && !regexp.MustCompile(`_(bucket|sum|count)$`).MatchString(name) {
			there = append(there, name)
		}
	}
	page := inPage(t, "metrics")
	listed := map[string]bool{}
	for _, match := range regexp.MustCompile("`(fairdoor_[a-z_]+)").FindAllStringSubmatch(page, -1) {
		listed[match[1]] = true
	}
	for _, name := range there {
		assert.True(t, listed[name], name)
	}
	for name := range listed { // counters of what has not happened yet are told nowhere
		assert.Contains(t, append(there, counters...), name)
	}
}

// counters are metrics that a gate tells once there is something to count, or a room of a kind that
// the gate of the test has not.
var counters = []string{
	"fairdoor_wait_seconds", "fairdoor_refused_tokens_total", "fairdoor_refused_tickets_total", "fairdoor_crowded_places_total", "fairdoor_tickets_elsewhere_total",
	"fairdoor_challenges_total", "fairdoor_origin_latency_seconds", "fairdoor_origin_error_ratio", "fairdoor_family_rooms", "fairdoor_family_rooms_limit", "fairdoor_decisions_total",
	"fairdoor_call_messages_total",
}

func TestThePageOfPathsHasThoseThatAreAnswered(t *testing.T) {
	page := inPage(t, "paths")
	own := regexp.MustCompile(`(?:ownPaths \+ "|"/\.fairdoor/)([a-z]+[a-z.-]*)`)
	require.NoError(t, filepath.WalkDir(filepath.Join(repository, "proxy"), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		code, err := os.ReadFile(path)
		for _, match := range own.FindAllStringSubmatch(string(code), -1) {
			assert.Contains(t, page, "/.fairdoor/"+match[1], path)
		}
		return err
	}))
	at := startScripted(t, t.TempDir())
	for _, match := range regexp.MustCompile("(?m)^\\| (`.*`) \\|").FindAllStringSubmatch(page, -1) {
		for _, path := range quoted(match[1]) {
			method, path, found := strings.Cut(path, " ")
			if !found {
				method, path = http.MethodGet, method
			}
			if strings.HasPrefix(path, "/.fairdoor/logo/") || path == "/.fairdoor/challenge" || path == "/.fairdoor/health" || path == "/.fairdoor/load-token" {
				continue // the gate of the test has none of them
			}
			path = strings.NewReplacer("NAME", "beta", "ROOM", "shop", "…", "").Replace(path)
			q, err := http.NewRequest(method, "http://"+at.visitors+path+"?room=shop", nil)
			require.NoError(t, err)
			resp, err := http.DefaultClient.Do(q)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			assert.NotEqual(t, http.StatusNotFound, resp.StatusCode, path)
			assert.NotEqual(t, http.StatusMethodNotAllowed, resp.StatusCode, path)
		}
	}
}

func TestThePageOfWebhooksHasTheirEvents(t *testing.T) {
	page := inPage(t, "webhooks")
	for _, kind := range webhooks.Kinds() {
		assert.Contains(t, page, "`"+string(kind)+"`")
	}
}

// questions are what people ask, in their words, and the pages that answer.
var questions = map[string]string{
	"what happens when redis dies":                                "redis",
	"redis is down, who gets in?":                                 "redis",
	"the disk is full":                                            "restart",
	"can I restart the gate while people wait?":                   "restart",
	"debian package":                                              "install",
	"my payment provider's webhook is queued, what do I write?":   "breaks",
	"how do I let our office in":                                  "office",
	"which health check for an ALB":                               "alb",
	"how much memory for 100,000 waiting people":                  "sizes",
	"rotate the cookie key":                                       "keys",
	"a cookie key has leaked":                                     "keys",
	"how do I show the position in React":                         "app",
	"FairdoorStoreFailing fires":                                  "runbook",
	"how do I go back to the old version":                         "upgrade",
	"upgrade two gates":                                           "upgrade",
	"is it fair?":                                                 "fair",
	"nginx auth_request":                                          "nginx",
	"behind cloudflare":                                           "cloudflare",
	"caddy forward_auth":                                          "caddy",
	"traefik forwardauth":                                         "traefik",
	"envoy ext_authz":                                             "envoy",
	"haproxy health check":                                        "haproxy",
	"helm chart":                                                  "kubernetes",
	"how do I choose total_active_users":                          "limits",
	"let googlebot in":                                            "breaks",
	"oauth login callback":                                        "breaks",
	"stop scalpers with a captcha":                                "bots",
	"what is stored about visitors, gdpr":                         "state",
	"several regions":                                             "regions",
	"the site is slow":                                            "origin",
	"how do I end a session after checkout":                       "sessions",
	"who can verify the random order":                             "draw",
	"sold out":                                                    "soldout",
	"change the logo and colours of the page":                     "page",
	"let members skip the line":                                   "passes",
	"one place per logged-in user":                                "users",
	"how accurate is the estimated wait":                          "estimates",
	"raise the limit now":                                         "operate",
	"terraform":                                                   "operate",
	"what do I do on the day of the sale":                         "sale-day",
	"import a csv of sign-ups":                                    "waitlist",
	"migrate from queue-it":                                       "from-queueit",
	"POST gets 429":                                               "requests",
	"prometheus metrics":                                          "metrics",
	"can a visitor move to the phone":                             "device",
	"does reloading or opening many tabs help":                    "cheating",
	"lets encrypt":                                                "tls",
	"websocket chat with three seats":                             "line",
	"signature of webhooks that the gate sends":                   "webhooks",
	"load test before the sale":                                   "rehearse",
	"customers complain that they wait twice on phone and laptop": "users",
	"how do I tell everybody in the queue that the start is delayed by ten minutes": "events",
	"can I see tomorrow who waited how long":                                        "report",
	"a visitor says the number went up":                                             "estimates",
	"which ports must be open on the firewall":                                      "configure",
	"how do I give 200 sponsors access before everybody else":                       "passes",
	"is a cookie banner needed for the waiting room":                                "state",
	"what do I back up":                                          "state",
	"our app gets html instead of json":                          "app",
	"the page shows unknown wait time":                           "estimates",
	"safari users in an iframe never get in":                     "page",
	"how long is a place kept when the phone is locked":          "device",
	"does it run on windows":                                     "install",
	"someone reloads all the time":                               "cheating",
	"is everything working right now":                            "operate",
	"customers are thrown out during checkout":                   "sessions",
	"two rooms on the same host":                                 "configure",
	"can visitors bypass the gate by asking the origin directly": "around",
}

func TestDocsFindsAndShowsPages(t *testing.T) {
	list, stderr, code := fairdoor(t, "docs")
	require.Zero(t, code, stderr)
	for _, page := range docs.Pages() {
		if page.Name == docs.Index {
			continue
		}
		assert.Contains(t, list, "["+page.Name+"]")
		shown, _, _ := fairdoor(t, "docs", page.Name)
		assert.True(t, strings.HasPrefix(shown, page.Title), page.Name)
	}
	for question, page := range questions {
		title, _, _ := strings.Cut(strings.TrimPrefix(inPage(t, page), "# "), "\n")
		shown, _, _ := fairdoor(t, append([]string{"docs"}, strings.Fields(question)...)...)
		assert.Contains(t, "\n\n"+shown, "\n\n"+title+"\n", "%s is answered by %s", question, page)
	}
	shown, _, _ := fairdoor(t, "docs", "bind_ticket")
	assert.Contains(t, shown, "    bind_ticket: off ")
	assert.Contains(t, shown, "phones change networks", "the comment goes on in the next line")
	_, stderr, code = fairdoor(t, "docs", "zzzz")
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "no page has these words")
}

func TestTheAdminListenerServesThePages(t *testing.T) {
	admin, told := serving(t, watched)
	require.Equal(t, "READY=1", <-told)
	get := func(path string, status int) string {
		resp, err := http.Get(admin + path)
		require.NoError(t, err)
		defer resp.Body.Close()
		assert.Equal(t, status, resp.StatusCode, path)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return string(body)
	}
	assert.Contains(t, get("/", http.StatusOK), `href="/docs/"`)
	assert.Contains(t, get("/docs", http.StatusOK), "<h1 id=")
	ids := regexp.MustCompile(` id="([^"]+)"`)
	for _, page := range docs.Pages() {
		body := get("/docs/"+page.Name, http.StatusOK)
		assert.Contains(t, body, "<title>"+html.EscapeString(page.Title)+"</title>")
		for _, link := range regexp.MustCompile(`href="(/docs/[^"#]*|)(?:#([^"]+))?"`).FindAllStringSubmatch(body, -1) {
			target := body
			if link[1] != "" {
				target = get(link[1], http.StatusOK)
			}
			if link[2] == "" {
				continue
			}
			var there []string
			for _, id := range ids.FindAllStringSubmatch(target, -1) {
				there = append(there, id[1])
			}
			assert.Contains(t, there, link[2], "%s links to %s", page.Name, link[0])
		}
	}
	found := get("/docs/?q=redis+dies+bind_ticket", http.StatusOK)
	assert.Contains(t, found, `<a href="/docs/redis">What happens when Redis dies, or a gate of several?</a>`)
	assert.Contains(t, found, "    bind_ticket: off ")
	assert.Contains(t, get("/docs/?q=%3Cscript%3E", http.StatusOK), `value="&lt;script&gt;"`)
	get("/docs/nothing", http.StatusNotFound)
}
