package docs

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Found is a page that may answer a question.
type Found struct {
	Page    Page
	Heading string // of the part that fits best; "" for the beginning
	Anchor  string // of that heading
	Begins  string // how that part begins
	score   float64
}

// Answer is what there is to a question.
type Answer struct {
	Options []string // the lines of the configuration file of each option that the question names
	Pages   []Found  // the best first
}

// most is how many pages an answer has at most.
const most = 8

// Find returns what there is to a question. The name of a page finds that page first.
func Find(question string) Answer {
	asked := wordsOf(question)
	index := indexed()
	var found []Found
	for i, p := range Pages() {
		if f := index.judge(i, p, asked); f.score > 0 && p.Name != Index && p.Name != Options {
			if p.Name == strings.TrimSpace(question) {
				f.score, f.Heading, f.Anchor, f.Begins = math.Inf(1), "", "", beginning(p.parts[0].text)
			}
			found = append(found, f)
		}
	}
	slices.SortStableFunc(found, func(a, b Found) int { return cmp.Compare(b.score, a.score) })
	return Answer{Options: optionsIn(question), Pages: found[:min(most, len(found))]}
}

// index has the words of each page.
type index struct {
	pages  []indexedPage
	within map[string]int // in how many pages a word is
}

type indexedPage struct {
	title map[string]int
	parts []indexedPart
}

type indexedPart struct{ heading, text map[string]int }

var indexed = sync.OnceValue(func() index {
	in := index{within: map[string]int{}}
	more := keywordsOf()
	for _, p := range Pages() {
		page := indexedPage{title: count(p.Title + " " + p.Name + " " + more[p.Name])}
		all := map[string]bool{}
		for _, part := range p.parts {
			i := indexedPart{count(part.heading), count(part.text)}
			page.parts = append(page.parts, i)
			for _, words := range []map[string]int{page.title, i.heading, i.text} {
				for w := range words {
					all[w] = true
				}
			}
		}
		for w := range all {
			in.within[w]++
		}
		in.pages = append(in.pages, page)
	}
	return in
})

// keywordsOf are the words by which pages are found beside their own, by the pages' names.
func keywordsOf() map[string]string {
	of := map[string]string{}
	for line := range strings.Lines(keywords) {
		if page, words, found := strings.Cut(line, ":"); found && !strings.HasPrefix(line, "#") {
			of[page] = words
		}
	}
	return of
}

// judge says how well a page answers, and by which of its parts. A word counts for more the fewer
// pages have it, in the title for more than in a heading, and there for more than in the text.
func (in index) judge(i int, p Page, asked []string) Found {
	best := Found{Page: p}
	for n, part := range in.pages[i].parts {
		score := 0.
		for _, w := range asked {
			worth := 3*min(1, float64(in.pages[i].title[w])) + 2*min(1, float64(part.heading[w])) + float64(part.text[w])/float64(part.text[w]+1)
			score += worth * math.Log(1+float64(len(in.pages))/float64(1+in.within[w]))
		}
		if score > best.score {
			best.score, best.Heading, best.Anchor, best.Begins = score, p.parts[n].heading, p.parts[n].anchor, beginning(p.parts[n].text)
		}
	}
	return best
}

// beginning is as much of a text as shows what it is about, in whole words.
func beginning(text string) string {
	const most = 25
	words := strings.Fields(text)
	if len(words) <= most {
		return strings.Join(words, " ")
	}
	return strings.Join(words[:most], " ") + " …"
}

func count(text string) map[string]int {
	words := map[string]int{}
	for _, w := range wordsOf(text) {
		words[w]++
	}
	return words
}

// common are words that say nothing of what a question is about.
var common = set(`a about am an and any are as at be been but by can could did do does for from get go had has have how i if in into is it its let
	me my need not of on or our should so some that the their them then there they this to us want was we what when where which who whom why will
	with would you your`)

func set(words string) map[string]bool {
	in := map[string]bool{}
	for _, w := range strings.Fields(words) {
		in[w] = true
	}
	return in
}

// wordsOf are the words of a text in the form in which they are compared. The name of an option
// counts as a whole and by its parts.
func wordsOf(text string) (words []string) {
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }) {
		if strings.Contains(w, "_") {
			words = append(words, w)
		}
		for _, of := range strings.Split(w, "_") {
			if of != "" && !common[of] {
				words = append(words, stem(of))
			}
		}
	}
	return words
}

// stem takes endings from a word, so that "queues" finds "queueing".
func stem(word string) string {
	for _, ending := range []string{"ing", "ed", "es", "s", "e"} {
		if cut, ok := strings.CutSuffix(word, ending); ok && len(cut) > 2 {
			return strings.TrimSuffix(cut, "e")
		}
	}
	return word
}

// optionsIn are the lines of the configuration file about the options that a text names, each with
// the comments that go on below it. A word without an underscore names an option if it is the only
// one: it may be meant as a word.
func optionsIn(text string) (options []string) {
	page, _ := Named(Options)
	lines := strings.Split(string(page.Markdown), "\n")
	names := strings.Fields(text)
	for _, name := range names {
		name = strings.Trim(name, "`,.;:?")
		if len(names) > 1 && !strings.Contains(name, "_") {
			continue
		}
		for i, line := range lines {
			key := strings.TrimLeft(line, " -")
			if name == "" || !strings.HasPrefix(key, name+":") {
				continue
			}
			end := i + 1
			for strings.HasPrefix(strings.TrimSpace(lines[end]), "#") && len(lines[end])-len(strings.TrimLeft(lines[end], " ")) > 20 {
				end++
			}
			options = append(options, strings.Join(lines[i:end], "\n"))
		}
	}
	return options
}
