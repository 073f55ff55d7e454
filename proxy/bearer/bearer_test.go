package bearer_test

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/proxy/bearer"
)

func TestTheTokenIsThatOfTheSchemeHoweverItIsWritten(t *testing.T) {
	for header, token := range map[string]string{
		"": "", "Bearer": "", "Bearer abc": "abc", "bearer abc": "abc", "Basic abc": "", "abc": "", "Bearer a b": "a b",
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Authorization", header)
		assert.Equal(t, token, bearer.Token(r), header)
	}
}

func TestATokenIsOneOfThoseThatAreWanted(t *testing.T) {
	assert.True(t, bearer.Is("two", "one", "two"))
	assert.False(t, bearer.Is("three", "one", "two"))
	assert.False(t, bearer.Is("on", "one"))
	assert.False(t, bearer.Is("one"))
}
