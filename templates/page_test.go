package templates_test

import (
	"strings"
	"testing"

	"github.com/cbroglie/mustache"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/templates"
)

func TestEverythingThatIsWrongWithATemplateIsReported(t *testing.T) {
	cases := map[string]struct {
		source string
		want   []string
	}{
		"an unknown variable with a near name": {
			"<p>{{waitTme}}</p>",
			[]string{`1:4: unknown variable "waitTme"; did you mean "waitTime"?`},
		},
		"a name in the wrong letter case": {
			"{{isFifoQueue}}",
			[]string{`1:1: unknown variable "isFifoQueue"; did you mean "isFIFOQueue"?`},
		},
		"an unknown variable that is like no other": {
			"\n\n  {{price}}",
			[]string{`3:3: unknown variable "price"`},
		},
		"an unknown section": {
			"{{#shop}}x{{/shop}}",
			[]string{`1:1: unknown variable "shop"`},
		},
		"a value inside of another": {
			"{{waitTime.minutes}}",
			[]string{`1:1: unknown variable "waitTime.minutes"; did you mean "waitTime"?`},
		},
		"a partial, whatever file it names": {
			"a\n{{> ../../etc/passwd }}",
			[]string{"2:1: partials such as {{>../../etc/passwd}} are not supported: put their text into the template"},
		},
		"raw values": {
			"é{{{waitTime}}} {{& roomName }} {{{turnstile}}}",
			[]string{
				`1:2: "waitTime" would be put in without escaping; write {{waitTime}} (only turnstile and client are raw)`,
				`1:17: "roomName" would be put in without escaping; write {{roomName}} (only turnstile and client are raw)`,
			},
		},
		"a tag that is never closed": {
			"x\n{{waitTime",
			[]string{`2:1: the tag "{{waitTime" is not closed by }}`},
		},
		"a raw tag that is closed as another": {
			"{{{turnstile}}",
			[]string{`1:1: the tag "{{{turnstile}}" is not closed by }}}`},
		},
		"a raw tag with a blank that the library drops": {
			"{{ {turnstile}}}",
			[]string{`1:1: the tag "{turnstile" does not end with }`},
		},
		"an empty tag": {
			"{{ }}",
			[]string{"1:1: empty tag"},
		},
		"sections left open, in the order of the source": {
			"{{#queueAll}}\n{{^isFIFOQueue}}",
			[]string{
				`1:1: the section "queueAll" is never closed by {{/queueAll}}`,
				`2:1: the section "isFIFOQueue" is never closed by {{/isFIFOQueue}}`,
			},
		},
		"sections closed crosswise": {
			"{{#queueAll}}{{#isFIFOQueue}}{{/queueAll}}{{/isFIFOQueue}}",
			[]string{
				`1:30: {{/queueAll}} comes before the end of the section "isFIFOQueue" of line 1`,
				"1:43: {{/isFIFOQueue}} closes a section that is not open",
			},
		},
		"all variables at once": {
			"{{.}}{{^queueAll}}{{.}}{{/queueAll}}",
			[]string{
				"1:1: {{.}} stands for the value of a section, and there is none around it",
				"1:19: {{.}} stands for the value of a section, and there is none around it",
			},
		},
		"delimiters that are none": {
			"{{=<%\t%>=}}{{waitTime}}",
			[]string{"1:1: new delimiters are written as {{=<% %>=}}, with one space between them"},
		},
		"a fault behind other delimiters": {
			"{{=<% %>=}}{{wait}}\n<%waitTimeKnwon%>",
			[]string{`2:1: unknown variable "waitTimeKnwon"; did you mean "waitTimeKnown"?`},
		},
		"several faults": {
			"{{a}}\n{{>b}}\n{{/c}}",
			[]string{
				`1:1: unknown variable "a"`,
				"2:1: partials such as {{>b}} are not supported: put their text into the template",
				"3:1: {{/c}} closes a section that is not open",
			},
		},
		"faults behind letters of several bytes, told by characters": {
			"日本語{{#queueAll}}é{{prize}}{{/queueAll}}",
			[]string{`1:18: unknown variable "prize"`},
		},
		"faults of syntax and of names, in the order of the source": {
			"{{#queueAll}}{{price}}\n{{}}{{{waitTime}}",
			[]string{
				`1:1: the section "queueAll" is never closed by {{/queueAll}}`,
				`1:14: unknown variable "price"`,
				"2:1: empty tag",
				`2:5: the tag "{{{waitTime}}" is not closed by }}}`,
			},
		},
		"nothing at all": {" \n", []string{"the template is empty"}},
		"another encoding": {
			"a\nb\xff",
			[]string{"2: the template is not valid UTF-8"},
		},
		"too many bytes": {
			strings.Repeat("x", templates.MaxSource+1),
			[]string{"the template has 1048577 bytes; at most 1048576 are allowed"},
		},
		"too deep sections, told once": {
			strings.Repeat("{{#queueAll}}", 40) + strings.Repeat("{{/queueAll}}", 40),
			[]string{"1:417: sections are nested more than 32 deep"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := templates.Parse([]byte(c.source))
			var faults templates.Faults
			require.ErrorAs(t, err, &faults)
			assert.Equal(t, strings.Join(c.want, "\n"), err.Error())
		})
	}
}

func TestATemplateFullOfFaultsIsToldInShort(t *testing.T) {
	_, err := templates.Parse([]byte(strings.Repeat("{{x}}\n", 1000)))
	var faults templates.Faults
	require.ErrorAs(t, err, &faults)
	assert.Len(t, faults, 51)
	assert.Equal(t, "… and 950 more", faults[50].String())
}

func TestATemplateCanUseEveryVariable(t *testing.T) {
	for _, name := range templates.Variables() {
		if name == "client" {
			continue // {{client}} would be escaped
		}
		_, err := templates.Parse([]byte("{{" + name + "}}{{#" + name + "}}{{.}}{{/" + name + "}}{{^" + name + "}}{{/" + name + "}}"))
		assert.NoError(t, err, name)
	}
}

func TestTemplatesThatLookOddAndAreRight(t *testing.T) {
	set := map[string]string{
		"a comment with anything in it":  "x{{! > {{{ # }}",
		"a comment over lines":           "x{{!\n{ \n}}",
		"the challenge, raw":             "x{{{turnstile}}}{{& turnstile }}{{{ turnstile }}}",
		"other delimiters and back":      "x{{=<% %>=}}<%waitTime%><%={{ }}=%>",
		"text in single braces":          "x{ } }} {waitTime}",
		"blanks around names":            "x{{ waitTime }}{{# queueAll }}{{/ queueAll }}",
		"the event fields that are off":  "x{{#isEventPrequeueing}}{{timeUntilEventStartHours}}{{/isEventPrequeueing}}",
		"sections as deep as is allowed": "x" + strings.Repeat("{{^queueAll}}", 32) + strings.Repeat("{{/queueAll}}", 32),
	}
	for name, source := range set {
		t.Run(name, func(t *testing.T) {
			_, err := templates.Parse([]byte(source))
			assert.NoError(t, err)
		})
	}
}

func TestValuesAreEscapedInAPage(t *testing.T) {
	page, err := templates.Parse([]byte(`<p title="{{roomName}}">`))
	require.NoError(t, err)
	rendered, err := page.Render(templates.Data{RoomName: `"><script>`})
	require.NoError(t, err)
	assert.Equal(t, `<p title="&#34;&gt;&lt;script&gt;">`, string(rendered.AppendTo(nil, by(seen, 20))))
}

// walk lists the tags of a compiled template in the order of the source.
func walk(tags []mustache.Tag) []templates.ScannedTag {
	var found []templates.ScannedTag
	for _, tag := range tags {
		found = append(found, templates.ScannedTag{Name: tag.Name(), Type: tag.Type()})
		if tag.Type() == mustache.Section || tag.Type() == mustache.InvertedSection {
			found = append(found, walk(tag.Tags())...)
		}
	}
	return found
}

func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{
		"{{waitTime}}", "{{{turnstile}}}", "{{#queueAll}}{{.}}{{/queueAll}}", "{{>x}}", "{{=<% %>=}}<%waitTime%>",
		"{{^refreshIntervalSeconds}}a{{/refreshIntervalSeconds}}{{lastUpdated}}", "{{! x }}", "{{ {turnstile} }}",
		"{{={ }=}}{turnstile}", "\xff", "{{=a b=}}awaitTimeb", "  {{#queueAll}}  \r\n{{/queueAll}} \n", "{{&turnstile}}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		page, err := templates.Parse(source)
		if err != nil {
			var faults templates.Faults
			require.ErrorAs(t, err, &faults)
			require.NotEmpty(t, faults)
			for _, fault := range faults {
				require.LessOrEqual(t, fault.Line, strings.Count(string(source), "\n")+1)
			}
			require.False(t, templates.Passes(source), "the library refuses what our check passed: %v", err)
			return
		}
		require.Equal(t, walk(page.Tags()), templates.Scanned(string(source)))
		for _, state := range templates.States() {
			want, err := page.Direct(state.Data, at(state.Data.Place))
			require.NoError(t, err)
			rendered, err := page.Render(state.Data)
			require.NoError(t, err)
			require.Equal(t, string(want), string(rendered.AppendTo(nil, at(state.Data.Place))))
		}
	})
}
