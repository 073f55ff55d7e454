package webpush

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

const (
	// MaxMessage is how long a message may be, in bytes: all push services take what it is then
	// (RFC 8030, 7.2).
	MaxMessage = 3000

	recordSize = 4096
	lastRecord = 2 // ends the text of the last record (RFC 8188, 2)
	saltLen    = 16
)

// Encrypt encrypts a message for a subscription, with a key pair and a salt that nothing else has.
func (s *Subscription) Encrypt(message []byte) ([]byte, error) {
	pair, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a key pair: %w", err)
	}
	salt := make([]byte, saltLen)
	_, _ = rand.Read(salt) // it never fails
	return s.encryptWith(message, pair, salt)
}

// encryptWith is RFC 8291, 3.4: the content coding aes128gcm of RFC 8188, in one record.
func (s *Subscription) encryptWith(message []byte, pair *ecdh.PrivateKey, salt []byte) ([]byte, error) {
	browser, auth, err := s.secrets()
	if err != nil {
		return nil, err
	}
	if len(message) > MaxMessage {
		return nil, errors.New("the message is too long")
	}
	shared, err := pair.ECDH(browser)
	if err != nil {
		return nil, fmt.Errorf("agreeing on a secret: %w", err)
	}
	own := pair.PublicKey().Bytes()
	seal, nonce, err := contentKey(shared, auth, salt, "WebPush: info\x00"+string(browser.Bytes())+string(own))
	if err != nil {
		return nil, fmt.Errorf("deriving the key of a message: %w", err)
	}
	body := append([]byte(nil), salt...)
	body = binary.BigEndian.AppendUint32(body, recordSize)
	body = append(append(body, byte(len(own))), own...)
	return seal.Seal(body, nonce, append(append([]byte(nil), message...), lastRecord), nil), nil
}

// contentKey derives the key and the nonce of the record.
func contentKey(shared, auth, salt []byte, info string) (cipher.AEAD, []byte, error) {
	material, err := hkdf.Key(sha256.New, shared, auth, info, sha256.Size)
	if err != nil {
		return nil, nil, err
	}
	key, err := hkdf.Key(sha256.New, material, salt, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, nil, err
	}
	nonce, err := hkdf.Key(sha256.New, material, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, nil, err
	}
	seal, err := cipher.NewGCM(block)
	return seal, nonce, err
}
