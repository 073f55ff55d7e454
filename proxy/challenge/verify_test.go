package challenge_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/challenge"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// A crowd of answers is not the provider's silence, for which visitors may get a place.
func TestTooManyAnswersAtATimeAreNotVerified(t *testing.T) {
	c, err := challenge.New(challenge.Config{Provider: challenge.Turnstile, SiteKey: "the-site", Secret: "a secret"}, templates.Identity{})
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		v := challenge.NewVerifier()
		v.Fill()
		outcome, err := v.Verify(t.Context(), c, "some answer", challenge.From{})
		require.NoError(t, err)
		assert.Equal(t, challenge.Busy, outcome)
	})
}
