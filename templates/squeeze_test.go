package templates_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/templates"
)

func TestOnlyWhatAScriptDeclaresGetsAShorterName(t *testing.T) {
	for source, short := range map[string]string{
		"const element = document.body;\nelement.hidden = true;":                                                                "const a=document.body;a.hidden=true;",
		"let stream, leads = 1;\nif (leads) stream.leads = 'stream';":                                                           "let b,a=1;if(a)b.leads='stream';",
		"const waitTime = 3;\nsay({waitTime, other: 4});":                                                                       "const waitTime=3;say({waitTime,other:4});",
		"const signal = a();\nget(here, {mode, signal});":                                                                       "const signal=a();get(here,{mode,signal});",
		"const place = 1;\nconst heed = {place: w => place};\nshow(...place);":                                                  "const a=1;const b={place:w=>a};show(...a);",
		"let failing = a ? b : c;\nreturn failing ? say.failing : failing;":                                                     "let d=a?b:c;return d?say.failing:d;",
		"const enter = () => { reload(); };\n\nconst admitted = () => {\n  const unseen = hidden;\n  later(enter, unseen);\n};": "const a=()=>{reload();};const b=()=>{const c=hidden;later(a,c);};",
		"const one = 1;\nconst f = () => one;":                                                                                  "const a=1;const f=()=>a;",
	} {
		assert.Equal(t, short, templates.Shorten(source))
	}
}
