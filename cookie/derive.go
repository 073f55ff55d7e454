package cookie

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"fmt"
	"math/big"
)

// derivedLen is 128 bits more than a P-256 key has, so that no key is noticeably likelier
// than another (FIPS 186-5, A.2.1).
const derivedLen = 48

// Keys are the cookie keys of a gate. The first is the current one, the others are old.
type Keys []Key

// DeriveP256 derives a P-256 key pair of each cookie key, in their order. So nodes that have
// the same cookie keys have the same key pairs, and nothing more has to be kept. Pairs of
// different purposes have nothing to do with each other, and tell nothing of the cookie keys.
func (keys Keys) DeriveP256(purpose string) ([]*ecdsa.PrivateKey, error) {
	pairs := make([]*ecdsa.PrivateKey, len(keys))
	for i, key := range keys {
		pair, err := key.deriveP256(purpose)
		if err != nil {
			return nil, fmt.Errorf("cookie key %d: %w", i+1, err)
		}
		pairs[i] = pair
	}
	return pairs, nil
}

func (k Key) deriveP256(purpose string) (*ecdsa.PrivateKey, error) {
	secret, err := k.derive("fairdoor P-256 key for "+purpose, derivedLen)
	if err != nil {
		return nil, err
	}
	curve := elliptic.P256()
	one := big.NewInt(1)
	d := new(big.Int).SetBytes(secret)
	d.Mod(d, new(big.Int).Sub(curve.Params().N, one)).Add(d, one)
	return ecdsa.ParseRawPrivateKey(curve, d.FillBytes(make([]byte, 32)))
}
