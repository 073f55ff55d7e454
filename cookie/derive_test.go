package cookie_test

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cookie"
)

// Another version of the program has to derive the same pair, or what was signed does not verify
// any more.
func TestDerivedKeyPairsStayTheSame(t *testing.T) {
	key, err := cookie.ParseKey("2f1a90c3b7d84e56a1f0c9d2e3b4a596")
	require.NoError(t, err)
	pairs, err := cookie.Keys{key}.DeriveP256("tests")
	require.NoError(t, err)
	public, err := pairs[0].PublicKey.Bytes()
	require.NoError(t, err)
	assert.Equal(t, "04d4a19a3721755c42728f2088a9a077e113dcf750f2dc19c287af34eba68fcdd28cf28db9495c858d72be129235e29bda220e8f9c864b47a02ab24639c5057073", hex.EncodeToString(public))
}

func TestEachCookieKeyAndPurposeHasAKeyPairOfItsOwn(t *testing.T) {
	keys := cookie.Keys{newKey(t), newKey(t)}
	seen := map[string]bool{}
	for _, purpose := range []string{"assertions", "web push"} {
		pairs, err := keys.DeriveP256(purpose)
		require.NoError(t, err)
		require.Len(t, pairs, 2)
		for i, pair := range pairs {
			public, err := pair.PublicKey.Bytes()
			require.NoError(t, err)
			assert.False(t, seen[string(public)])
			seen[string(public)] = true

			alone, err := keys[i : i+1].DeriveP256(purpose)
			require.NoError(t, err)
			assert.True(t, pair.Equal(alone[0]), "the pair depends on the order of the keys")
		}
	}
	_, err := cookie.Keys{{}}.DeriveP256("assertions")
	require.ErrorContains(t, err, "cookie key 1: the cookie key is not set")
}
