package gateway

import (
	"github.com/a2a-gateway/a2a-gateway/internal/keys"
	"github.com/a2a-gateway/a2a-gateway/internal/operator"
)

// What is in the state is sealed for a purpose, which says what is inside: nothing that was
// sealed for one is taken for another.
const (
	sealedAgents       = "agents"    // that were registered
	sealedApprovals    = "approvals" // calls that wait, and what becomes of them
	sealedCards        = "cards"
	sealedCertificates = "acme" // and accounts, and keys of both
	sealedDeliveries   = "push" // and webhooks
	sealedEvents       = "events"
	sealedPeers        = operator.PeerPurpose
)

// sealing is a ring of keys as a state.Cipher of one purpose. The state may be a Redis that
// others can read and write. What is sealed can be neither read nor made up there without a
// key, and aad (additional authenticated data: the place of a value) keeps a value from
// being moved to another place.
type sealing struct {
	ring    *keys.Ring
	purpose string
}

// Seal implements state.Cipher.
func (s sealing) Seal(plain, aad []byte) []byte { return s.ring.Seal(s.purpose, plain, aad) }

// Open implements state.Cipher.
func (s sealing) Open(sealed, aad []byte) ([]byte, error) {
	return s.ring.Unseal(s.purpose, sealed, aad)
}
