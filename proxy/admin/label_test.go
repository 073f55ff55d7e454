package admin_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/proxy/admin"
)

func TestALabelIsALineThatCanBeSeen(t *testing.T) {
	for said, want := range map[string]string{
		`" Ann\r\nOther\u0000 "`: "AnnOther", ``: "", `""`: "", `"\u001b[31mred"`: "[31mred", `"\u202eevil"`: "evil", `"Jürgen 李"`: "Jürgen 李",
		`"` + strings.Repeat("ü", 81) + `"`: strings.Repeat("ü", 80) + "…", `{"name":"Ann","seat":7}`: "Ann", `{"seat":7}`: `{"seat":7}`, `7`: "7",
	} {
		assert.Equal(t, want, admin.LabelOf(said), "%q", said)
	}
}
