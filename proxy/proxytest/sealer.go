package proxytest

import (
	"sync"

	"github.com/a2a-gateway/a2a-gateway/internal/keys"
)

// cipher seals with the keys of the gateway.
type cipher struct{ sealer }

func (c cipher) Seal(plain, aad []byte) []byte { return c.sealer.Seal("push", plain, aad) }

func (c cipher) Open(sealed, aad []byte) ([]byte, error) { return c.Unseal("push", sealed, aad) }

// sealer is a ring of keys that is made when it is needed: few tests do.
type sealer func() *keys.Ring

func (w *Gateway) sealer() sealer {
	return sync.OnceValue(func() *keys.Ring {
		ring, err := keys.Open(keys.Config{Dir: w.TempDir()}, w.Telemetry.Log)
		Must(w, err)
		w.Cleanup(ring.Close)
		return ring
	})
}

func (s sealer) Seal(purpose string, plain, aad []byte) []byte { return s().Seal(purpose, plain, aad) }

func (s sealer) Unseal(purpose string, sealed, aad []byte) ([]byte, error) {
	return s().Unseal(purpose, sealed, aad)
}
