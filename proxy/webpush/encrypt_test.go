package webpush

import (
	"crypto/ecdh"
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The example of RFC 8291, 5 and appendix A.
func TestAMessageIsEncryptedAsInTheStandardsExample(t *testing.T) {
	var s Subscription
	s.Keys.P256dh = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
	s.Keys.Auth = "BTBZMqHH6r4Tts7J_aSIgg"
	private, err := decode("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")
	require.NoError(t, err)
	pair, err := ecdh.P256().NewPrivateKey(private)
	require.NoError(t, err)
	salt, err := decode("DGv6ra1nlYgDCS1FRnbzlw")
	require.NoError(t, err)
	body, err := s.encryptWith([]byte("When I grow up, I want to be a watermelon"), pair, salt)
	require.NoError(t, err)
	assert.Equal(t, "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8w"+
		"EqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN", base64.RawURLEncoding.EncodeToString(body))
}
