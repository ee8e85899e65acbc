package signature

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/a2a-gateway/a2a-gateway/internal/keys"
)

// Ring has the keys that sign, as *keys.Ring does.
type Ring interface {
	// Detached signs a payload with every key that is to.
	Detached(jku string, payload []byte) ([]keys.Detached, error)
	// Signers changes whenever Detached begins to sign with other keys.
	Signers() string
}

// Shape is what readers take a card for, which decides about the forms to sign.
type Shape int

// The shapes.
const (
	Modern Shape = iota // 1.0 alone
	Mixed               // members of 0.3 and 1.0 beside each other
)

// formsOf are the forms in which the readers of a shape verify it, the one that covers
// everything first. Those that are the same for a card are signed once.
func formsOf(shape Shape) []Form {
	modern := []Form{AsReceived, formMessage, formPresence, formMessageNoSchemes}
	if shape == Modern {
		return modern
	}
	return append(modern, formMessageUpgraded, formLegacy)
}

// Signer signs the cards that the gateway serves. What it has signed it remembers, so
// that a card which is made anew for every caller or call is signed once. It is safe for
// concurrent use.
// The first form covers the whole card, so that a reader who verifies that one may use everything
// in it.
type Signer struct {
	ring Ring
	jku  string

	mu   sync.Mutex
	done map[[sha256.Size]byte]value // signatures, by what they are over
}

// maxSigned bounds what a Signer remembers, of some 3 KiB each at most. Cards differ by
// agent, version and the caller's skills; starting afresh now and then costs little.
const maxSigned = 512

// NewSigner signs with the keys of a ring, which are published at jku.
func NewSigner(ring Ring, jku string) *Signer { return &Signer{ring: ring, jku: jku} }

// Generation changes when cards would be signed with other keys. What is signed may be
// kept for as long as it stays the same.
func (s *Signer) Generation() string { return s.ring.Signers() + s.jku }

// Sign puts signatures at the end of a card that has none, in compact JSON, one for every
// form that it has. Equal cards get equal signatures.
// The card must be one compact JSON object that ends with its brace, as the gateway renders it.
func (s *Signer) Sign(card []byte, shape Shape) ([]byte, error) {
	// The generation is part of the key, so that a rotation of keys makes every card be signed
	// anew.
	key := sha256.Sum256(strconv.AppendInt(append([]byte(s.Generation()+"\n"), card...), int64(shape), 10))
	if list, ok := s.load(key); ok {
		return appendSignatures(card, &list), nil
	}
	doc, err := read(card)
	if err != nil {
		return nil, fmt.Errorf("sign card: %w", err)
	}
	list, err := s.signatures(doc.without("signatures"), shape)
	if err != nil {
		return nil, fmt.Errorf("sign card: %w", err)
	}
	s.store(key, list)
	return appendSignatures(card, &list), nil
}

// signatures signs a card in each form that a reader of its shape may verify it in. A form that this
// card does not have is left out; that none is there is an error.
func (s *Signer) signatures(card value, shape Shape) (value, error) {
	list := value{kind: '['}
	bodies, lacking := payloads(card, formsOf(shape)...)
	if bodies == nil {
		return list, lacking
	}
	for _, p := range bodies {
		made, err := s.ring.Detached(s.jku, p.body)
		if err != nil {
			return list, err
		}
		for _, d := range made {
			list.list = append(list.list, entry{Protected: d.Protected, Signature: d.Signature}.value())
		}
	}
	return list, nil
}

// value is the member of the card's signatures that e is. There is no unprotected header: whoever
// carries the card could change it.
func (e entry) value() value {
	return value{kind: '{', members: []member{
		{"protected", value{kind: '"', text: e.Protected}},
		{"signature", value{kind: '"', text: e.Signature}},
	}}
}

// appendSignatures leaves the card as it is, to the byte.
// What stands before the signatures was hashed and may have been handed to others; it is copied.
func appendSignatures(card []byte, list *value) []byte {
	out := append(make([]byte, 0, len(card)+(4<<10)), card[:len(card)-1]...)
	return append(list.append(append(out, `,"signatures":`...)), '}')
}

// load finds the signatures of a card that was signed before: there is one for each form and
// key, while cards are made anew for every caller.
func (s *Signer) load(key [sha256.Size]byte) (value, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, ok := s.done[key]
	return list, ok
}

// store keeps them. When there are too many all go, which needs no order among them to be kept.
func (s *Signer) store(key [sha256.Size]byte, list value) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done == nil || len(s.done) >= maxSigned {
		s.done = make(map[[sha256.Size]byte]value)
	}
	s.done[key] = list
}

// SignAgain is Sign for a card from elsewhere, however it is written: signatures that it
// has are replaced, and its shape is found out. It comes back in compact JSON.
// It is what `a2a-gateway card sign` does.
func (s *Signer) SignAgain(card []byte) ([]byte, error) {
	doc, err := read(card)
	if err != nil {
		return nil, fmt.Errorf("sign card: %w", err)
	}
	doc = doc.without("signatures")
	// A card with any member that only 0.3 has is read by SDKs of both generations.
	shape := Modern
	for _, name := range [...]string{"url", "protocolVersion", "preferredTransport", "additionalInterfaces", "security"} {
		if doc.find(name) != nil {
			shape = Mixed
		}
	}
	if len(doc.members) == 0 {
		return nil, errors.New("sign card: there is nothing in it")
	}
	return s.Sign(doc.append(nil), shape)
}
