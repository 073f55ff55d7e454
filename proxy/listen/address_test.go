package listen_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/proxy/listen"
)

func TestAnOriginThatIsTheGateItselfIsFound(t *testing.T) {
	for name, test := range map[string]struct {
		origin, listen string
		want           bool
	}{
		"the same name":                         {"http://gate.test:8080", "Gate.test:8080", true},
		"the same address":                      {"http://192.0.2.1:8080", "192.0.2.1:8080", true},
		"another port":                          {"http://gate.test:3000", "gate.test:8080", false},
		"another address":                       {"http://192.0.2.2:8080", "192.0.2.1:8080", false},
		"the usual port of http":                {"http://gate.test", "gate.test:80", true},
		"the usual port of https":               {"https://gate.test", "gate.test:443", true},
		"not that of the other":                 {"https://gate.test", "gate.test:80", false},
		"a port that nobody knows yet":          {"http://gate.test:0", "gate.test:0", false},
		"localhost on every address":            {"http://localhost:8080", ":8080", true},
		"a loopback address on every one":       {"http://127.0.0.2:8080", "0.0.0.0:8080", true},
		"IPv6's on every address":               {"http://[::1]:8080", "[::]:8080", true},
		"every address, as an origin":           {"http://0.0.0.0:8080", "0.0.0.0:8080", true},
		"another machine, on every one":         {"http://192.0.2.1:8080", ":8080", false},
		"localhost on its address":              {"http://localhost:8080", "127.0.0.1:8080", true},
		"its address on localhost":              {"http://[::1]:8080", "localhost:8080", true},
		"a loopback address that is not its":    {"http://127.0.0.2:8080", "localhost:8080", false},
		"an origin that is none, on every port": {"://", ":8080", false},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, listen.Reaches(test.origin, test.listen))
		})
	}
}

func TestAddressesThatCannotBeListenedOnAtOnceClash(t *testing.T) {
	for name, test := range map[string]struct {
		a, b string
		want bool
	}{
		"the same":                     {"127.0.0.1:80", "127.0.0.1:80", true},
		"another port":                 {"127.0.0.1:80", "127.0.0.1:81", false},
		"a port that the system picks": {"127.0.0.1:0", "127.0.0.1:0", false},
		"one in every address":         {":80", "192.0.2.1:80", true},
		"two addresses":                {"192.0.2.1:80", "192.0.2.2:80", false},
		"two of this machine":          {"localhost:80", "127.0.0.1:80", true},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, listen.Clash(test.a, test.b))
			assert.Equal(t, test.want, listen.Clash(test.b, test.a))
		})
	}
}
