package keys

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"slices"
)

// What is sealed begins with the id of the key and a salt. AES-GCM with random nonces
// is good for 2^32 messages with one key (NIST SP 800-38D §8.3), which page tokens of
// a busy gateway reach in weeks; with a key for each message, made from the salt, there
// is no such number.
//
//	sealed = id (4) | salt (16) | nonce (12) | ciphertext | tag (16)
const (
	sealID    = 4
	sealSalt  = 16
	sealExtra = 12 + 16 // GCM's nonce and tag
)

// What keys are made for, beside what callers seal.
const (
	infoID     = "a2a-gateway key id"
	infoSeal   = "a2a-gateway seal "
	infoDerive = "a2a-gateway derive "
)

// errSealed says no more on purpose: whether the key, the purpose or the text was
// wrong is nobody's business who has to guess.
var errSealed = errors.New("unseal: not sealed here for this")

// sealer is one key of 32 bytes.
//
// The id only saves trials: with several keys it tells which to try. Two keys with the same id, one in
// four thousand million pairs, are both tried.
type sealer struct {
	master []byte
	id     []byte // of sealID bytes, made from the key; the same on every replica
}

// newSealer makes the id from the key by HKDF (RFC 5869), so that it tells nothing of the key.
func newSealer(master []byte) (*sealer, error) {
	id, err := hkdf.Key(sha256.New, master, nil, infoID, sealID)
	return &sealer{master: master, id: id}, err
}

// gcm makes the cipher of one message.
//
// Purpose stands in the info of HKDF (RFC 5869 §3.2), which keeps a page token from being opened as a
// secret of a webhook though both are sealed with one master key.
func (s *sealer) gcm(purpose string, salt []byte) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, s.master, salt, infoSeal+purpose, masterSize)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// Seal encrypts what only the gateway and its replicas are to read, as page tokens and
// secrets at rest: AES-256-GCM, which adds 48 bytes. purpose keeps the uses apart: what
// is sealed for one opens for no other. aad is not in the result and has to be the same
// for Unseal. A Ring without keys gives nil, which opens nowhere.
func (r *Ring) Seal(purpose string, plain, aad []byte) []byte {
	keys := r.seals.Load()
	if keys == nil {
		return nil
	}
	s := (*keys)[0]
	out := append(make([]byte, 0, sealID+sealSalt+len(plain)+sealExtra), s.id...)
	out = out[:sealID+sealSalt]
	_, _ = rand.Read(out[sealID:]) // never fails (crypto/rand)
	gcm, err := s.gcm(purpose, out[sealID:])
	if err != nil {
		return nil // not with these sizes
	}
	return gcm.Seal(out, nil, plain, aad)
}

// Unseal is the inverse of Seal. What was changed, or sealed for something else or by
// somebody else, is an error that says no more.
//
// The caller decides what a failure means: for a page token that it is not the gateway's, for a secret
// in the store that the key was lost.
func (r *Ring) Unseal(purpose string, sealed, aad []byte) ([]byte, error) {
	keys := r.seals.Load()
	if keys == nil || len(sealed) < sealID+sealSalt {
		return nil, errSealed
	}
	id, salt, rest := sealed[:sealID], sealed[sealID:sealID+sealSalt], sealed[sealID+sealSalt:]
	for _, s := range *keys {
		if !slices.Equal(s.id, id) {
			continue
		}
		gcm, err := s.gcm(purpose, salt)
		if err != nil {
			return nil, errSealed
		}
		if plain, err := gcm.Open(nil, nil, rest, aad); err == nil {
			return plain, nil
		}
	}
	return nil, errSealed
}

// Derive makes a secret of 32 bytes for one purpose, the same on every replica and
// after every restart, as long as the last of the sealing keys stays the last: keys
// that are put before it take over Seal only. A Ring without keys gives nil.
//
// It is for what must be found again and not read again: a pepper of hashes, a key of MACs. The last
// key is the oldest; a new one is put before it, so that Derive goes on as before.
func (r *Ring) Derive(purpose string) []byte {
	keys := r.seals.Load()
	if keys == nil {
		return nil
	}
	secret, err := hkdf.Key(sha256.New, (*keys)[len(*keys)-1].master, nil, infoDerive+purpose, masterSize)
	if err != nil {
		return nil
	}
	return secret
}
