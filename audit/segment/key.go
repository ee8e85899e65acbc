package segment

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Key is a configured key.
// The id names the key in the first line of a segment. It is derived from the key by HKDF (RFC
// 5869) with a label of its own, so that it tells keys apart and says nothing about them.
type Key struct {
	Key []byte
	id  string
}

// NewKey reads 32 bytes as openssl rand prints them, in hexadecimal or base64.
func NewKey(v secret.Value) (Key, error) {
	text := v.Reveal()
	// Hexadecimal first: 64 hex digits are also valid base64, of 48 bytes, which the length then
	// refuses.
	for _, decode := range []func(string) ([]byte, error){
		hex.DecodeString, base64.StdEncoding.Strict().DecodeString, base64.RawStdEncoding.Strict().DecodeString,
		base64.RawURLEncoding.Strict().DecodeString,
	} {
		key, err := decode(text)
		// A key of 32 equal bytes is a placeholder that somebody forgot to replace.
		if err != nil || len(key) != sha256.Size || bytes.Count(key, key[:1]) == len(key) {
			continue
		}
		id, err := hkdf.Key(sha256.New, key, nil, "a2a-gateway audit key id", 4)
		return Key{key, hex.EncodeToString(id)}, err
	}
	return Key{}, errors.New("want 32 bytes as 64 hex digits or base64; make them with: openssl rand -hex 32")
}

// aead derives the key of one segment. No two have the same, so that a key has as few frames to seal as
// random nonces want.
// AES-256-GCM with random nonces of 96 bits is good for about 2^32 frames per key (NIST SP 800-38D
// section 8.3); with a key per segment that bound is out of reach.
func (m Key) aead(salt []byte) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, m.Key, salt, "a2a-gateway audit segment", sha256.Size)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}
