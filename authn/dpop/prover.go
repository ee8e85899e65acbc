// Package dpop judges proofs of possession (RFC 9449): that who presents a token holds the
// key it is bound to. It remembers proofs, so that none is good twice, and makes the nonces
// that proofs may have to repeat. What the token says is package jwt's.
//
// For one call with a DPoP-bound token:
//
//	proof.go   readProof reads the JWT in the header DPoP; its signature is verified by the key in it
//	address.go fits compares htm, htu and ath with the request and the token (RFC 9449 §4.3)
//	nonce.go   the nonce, where proofs must have one, is of this stretch of time or a neighbouring one
//	replays    the proof's jti is remembered by key, so that the same proof is refused a second time
//
// The thumbprint of the key is then compared with cnf.jkt of the token, which is package jwt's. A
// proof alone says nothing: whoever makes a key can make one.
package dpop

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/credential"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// Config is authn.dpop: limits for proofs of possession (RFC 9449). Each gateway remembers the
// proofs that it took, and also keeps them in the state if the state outlives it or is shared.
type Config struct {
	// Window is how old a proof may be, and how far ahead its clock. Default: 60s, at least 1s, at
	// most 5m.
	Window quantity.Duration `yaml:"window,omitempty"`
	// Nonce makes clients repeat a value of the gateway in every proof (RFC 9449 §9), so that
	// nobody can make proofs in advance. Gateways that share their keys (keys) and the window
	// accept each other's values. Default: false.
	Nonce bool `yaml:"nonce,omitempty"`
	// Proofs is how many proofs the gateway remembers, for two times Window, so that it takes none
	// twice. Each takes up to 200 bytes. When there are more, the gateway answers calls with 503.
	// Default: 100000, at most 10000000.
	Proofs int `yaml:"proofs,omitempty"`
	// ProofsPerCaller is how many of these proofs may be of one caller, over all its keys and
	// tokens. The gateway answers further calls with 429. Default: half of Proofs; at most Proofs.
	ProofsPerCaller int `yaml:"proofsPerCaller,omitempty"`
}

// Bounds of authn.dpop.
const (
	defaultWindow = time.Minute
	minWindow     = time.Second // dates in proofs are whole seconds
	// Proofs of two times the window have to be remembered, which bounds it from above.
	maxWindow     = 5 * time.Minute
	defaultProofs = 100_000
	maxProofs     = 10_000_000
)

// Validate reports what is wrong with the section, by its keys.
func (d *Config) Validate() error {
	var errs []error
	if w := d.window(); w < minWindow || w > maxWindow {
		errs = append(errs, keypath.At(fmt.Errorf("%s is not between %s and %s", w, minWindow, maxWindow), "window"))
	}
	if n := d.proofs(); n < 1 || n > maxProofs {
		errs = append(errs, keypath.At(fmt.Errorf("%d is not between 1 and %d", n, maxProofs), "proofs"))
	}
	if n, all := d.proofsPerCaller(), d.proofs(); n < 1 || n > max(all, 1) {
		errs = append(errs, keypath.At(fmt.Errorf("%d is not between 1 and %d, which is proofs", n, all), "proofsPerCaller"))
	}
	return errors.Join(errs...)
}

// window is the effective age.
// Zero counts as left out, as with the other two.
func (d *Config) window() time.Duration {
	if d.Window == 0 {
		return defaultWindow
	}
	return d.Window.Std()
}

// proofs is the effective number.
func (d *Config) proofs() int {
	if d.Proofs == 0 {
		return defaultProofs
	}
	return d.Proofs
}

// proofsPerCaller is the effective number.
func (d *Config) proofsPerCaller() int {
	if d.ProofsPerCaller == 0 {
		return max(d.proofs()/2, 1)
	}
	return d.ProofsPerCaller
}

// Prover judges proofs of possession (RFC 9449 §4.3). Every proof is verified, since
// none is good twice.
// A Prover is shared by all calls, and what it remembers by successive configurations: a reload
// must not make a proof good again.
type Prover struct {
	scheme string // of the addresses that clients know; empty means as the request came
	window time.Duration
	bounds replayBounds
	floor  time.Time // older ones may have been taken and forgotten
	now    func() time.Time
	seen   *replays
	shared func(ctx context.Context, id string, life time.Duration) (bool, error) // Options.Proofs
	nonces *nonces
	demand bool // proofs must hold a nonce
}

// Options are what proofs are judged by besides the configuration, as in Options.
type Options struct {
	Scheme string
	Proofs func(ctx context.Context, id string, life time.Duration) (first bool, err error)
	Nonces []byte
	Now    func() time.Time
}

// New shares what the prover of the chain before a reload remembers; previous
// may be nil.
func New(cfg Config, o *Options, previous *Prover) *Prover {
	if o.Now == nil {
		o.Now = time.Now
	}
	g := &Prover{scheme: o.Scheme, window: cfg.window(), bounds: replayBounds{all: cfg.proofs(), each: cfg.proofsPerCaller()}, now: o.Now, demand: cfg.Nonce,
		shared: o.Proofs}
	if previous == nil {
		g.seen, g.nonces = newReplays(o.Now()), newNonces()
	} else {
		g.seen, g.nonces, g.floor = previous.seen, previous.nonces, previous.floor
		// A longer window must not bring back proofs that the shorter one let go.
		if at := o.Now().Add(-previous.window); g.window > previous.window && at.After(g.floor) {
			g.floor = at
		}
	}
	if len(o.Nonces) > 0 {
		g.nonces = &nonces{key: o.Nonces}
	}
	g.seen.keep(2 * g.window)
	return g
}

// Nonce is the DPoP-Nonce to answer with (RFC 9449 §8.2); "" where none is asked for.
func (g *Prover) Nonce() string {
	if !g.demand {
		return ""
	}
	return g.nonces.at(g.now(), g.window, 0)
}

// Check demands one good proof for this very request and token, by the key whose
// thumbprint is jkt. The token has been verified, and is caller's. The error is a
// *Refused, or wraps ErrUnavailable when proofs cannot be told from repeated ones now, or
// ErrTooManyProofs when the caller has made too many.
func (g *Prover) Check(r *http.Request, caller, token, jkt string) error {
	lines := r.Header[credential.ProofHeader]
	switch {
	case len(lines) == 0:
		return refuseProof(faultNoProof, errors.New("no DPoP header"))
	case len(lines) > 1:
		return refuseProof(faultProof, fmt.Errorf("%d DPoP headers", len(lines)))
	}
	p, err := readProof(lines[0])
	if err != nil {
		return err
	}
	if p.thumbprint() != jkt {
		return refuseProof(faultProofKey, nil)
	}
	now := g.now()
	if err := p.fits(g, r, token, now); err != nil {
		return err
	}
	if err := p.alg.Verify(p.key, []byte(p.signed), p.signature); err != nil {
		return refuseProof(faultProofSignature, err)
	}
	// From here on the proof is its key's: what follows is answered to its maker, and
	// nobody else can use up the memory that is set aside for the caller.
	if g.demand && !g.nonces.knows(p.nonce, now, g.window) {
		return refuseProof(faultNonce, nil)
	}
	return g.take(r.Context(), caller, p, now)
}

// Faults of proofs. Like the others they are metric labels and sentences.
const (
	faultNoProof        authn.Fault = "sender-constrained"
	faultProof          authn.Fault = "dpop-proof"
	faultProofKey       authn.Fault = "dpop-key"
	faultProofRequest   authn.Fault = "dpop-request"
	faultProofToken     authn.Fault = "dpop-token"
	faultProofTime      authn.Fault = "dpop-time"
	faultProofSignature authn.Fault = "dpop-signature"
	faultProofRepeated  authn.Fault = "dpop-replay"
	faultNonce          authn.Fault = "dpop-nonce"
)

// proofReason is the sentence for a fault of proofs.
func proofReason(f authn.Fault) string {
	switch f {
	case faultProofKey:
		return "the token is bound to another key than that of the DPoP proof"
	case faultProofRequest:
		return "the DPoP proof is for another method or address"
	case faultProofToken:
		return "the DPoP proof is for another token"
	case faultProofTime:
		return "the DPoP proof is too old, or its clock is ahead"
	case faultProofSignature:
		return "the DPoP proof signature is not valid"
	case faultProofRepeated:
		return "the DPoP proof was used before"
	case faultNonce:
		return "the DPoP proof needs the nonce of this answer"
	case faultNoProof:
		return "the token is bound to a proof that was not presented"
	default:
		return "the DPoP proof is malformed"
	}
}

// refuseProof makes the refusal of a proof with its code of RFC 9449 §7.1. A proof by
// another key is flawless: it is the token that is not its sender's.
func refuseProof(f authn.Fault, err error) *authn.Refused {
	code := "invalid_dpop_proof"
	switch f {
	case faultNonce:
		code = "use_dpop_nonce"
	case faultProofKey:
		code = "invalid_token"
	}
	refused := authn.Refuse(f, proofReason(f), err)
	refused.Scheme, refused.Code = credential.SchemeDPoP, code
	// A proof without the nonce of now, by the key of a good token, is how a client gets one
	// (RFC 9449 §9).
	refused.Uncounted = f == faultNonce
	return refused
}
