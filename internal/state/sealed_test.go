package state_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/state/statetest"
)

// aead is a Cipher with a key of its own.
type aead struct{ cipher.AEAD }

func newAEAD(t testing.TB) aead {
	t.Helper()
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	gcm, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		t.Fatal(err)
	}
	return aead{gcm}
}

func (a aead) Seal(plain, aad []byte) []byte { return a.AEAD.Seal(nil, nil, plain, aad) }

func (a aead) Open(sealed, aad []byte) ([]byte, error) { return a.AEAD.Open(nil, nil, sealed, aad) }

func TestSealedConforms(t *testing.T) {
	t.Parallel()
	statetest.Values(t, func(t testing.TB) state.Values { return state.Sealed(open(t, state.Config{}), newAEAD(t)) })
}

// Whoever can write to the store changes, swaps and moves what is sealed, or brings data
// of their own: all of it is refused, alone and in lists, and nothing of it is shown.
func TestSealedRefuses(t *testing.T) {
	t.Parallel()
	const secret = "https://hooks.example/4711"
	for name, tamper := range map[string]func(t *testing.T, v state.Values, data []byte) state.Cipher{
		"a changed bit": func(t *testing.T, v state.Values, data []byte) state.Cipher {
			data[len(data)/2] ^= 1
			put(t, v, "push", "a", data)
			return nil
		},
		"data cut off": func(t *testing.T, v state.Values, data []byte) state.Cipher {
			put(t, v, "push", "a", data[:len(data)-1])
			return nil
		},
		"no data": func(t *testing.T, v state.Values, _ []byte) state.Cipher {
			put(t, v, "push", "a", nil)
			return nil
		},
		"data in the clear": func(t *testing.T, v state.Values, _ []byte) state.Cipher {
			put(t, v, "push", "a", []byte(secret))
			return nil
		},
		"another key's data": func(t *testing.T, v state.Values, _ []byte) state.Cipher {
			other, _, _ := v.Get(t.Context(), "push", "b")
			put(t, v, "push", "a", other)
			return nil
		},
		"another space's data": func(t *testing.T, v state.Values, _ []byte) state.Cipher {
			other, _, _ := v.Get(t.Context(), "pus", "ha")
			put(t, v, "push", "a", other)
			return nil
		},
		"the wrong key": func(t *testing.T, _ state.Values, _ []byte) state.Cipher { return newAEAD(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var (
				m         = open(t, state.Config{})
				c         = state.Cipher(newAEAD(t))
				s         = state.Sealed(m, c)
				is, other = []byte(secret), []byte("another")
			)
			put(t, s, "push", "a", is)
			put(t, s, "push", "b", other)
			put(t, s, "pus", "ha", is) // as long together
			raw, _, err := m.Get(t.Context(), "push", "a")
			if err != nil || bytes.Contains(raw, []byte("hooks")) {
				t.Fatalf("the store holds %q, %v", raw, err)
			}
			if wrong := tamper(t, m, raw); wrong != nil {
				s = state.Sealed(m, wrong)
			}
			if data, ok, err := s.Get(t.Context(), "push", "a"); err == nil || ok || data != nil {
				t.Errorf("Get: %q, %v, %v", data, ok, err)
			}
			if list, err := s.List(t.Context(), "push", "", 9); err == nil || list != nil {
				t.Errorf("List: %v, %v", list, err)
			}
			if name == "the wrong key" {
				return
			}
			if data, ok, err := s.Get(t.Context(), "push", "b"); err != nil || !ok || !bytes.Equal(data, other) {
				t.Errorf("what nobody touched: %q, %v, %v", data, ok, err)
			}
		})
	}
}

func put(t *testing.T, v state.Values, space, key string, data []byte) {
	t.Helper()
	if err := v.Put(t.Context(), space, key, data, time.Hour); err != nil {
		t.Fatal(err)
	}
}
