package proxy_test

import (
	"sync"

	"github.com/a2a-gateway/a2a-gateway/internal/keys"
)

// sealer is a ring of keys that is made when it is needed: few tests do.
type sealer func() *keys.Ring

func (w *world) sealer() sealer {
	return sync.OnceValue(func() *keys.Ring {
		ring, err := keys.Open(keys.Config{Dir: w.TempDir()}, w.tel.Log)
		must(w, err)
		w.Cleanup(ring.Close)
		return ring
	})
}

func (s sealer) Seal(purpose string, plain, aad []byte) []byte { return s().Seal(purpose, plain, aad) }

func (s sealer) Unseal(purpose string, sealed, aad []byte) ([]byte, error) {
	return s().Unseal(purpose, sealed, aad)
}
