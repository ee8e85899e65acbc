package signature

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/jws"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
)

// Options are what a Verifier needs beside its configuration. All may be left out.
type Options struct {
	// Now is the clock; nil for that of the system.
	Now func() time.Time
	// Skipped is told of each key that cannot be used, of files at once, of key sets when a set
	// first has it; source is the file, or the host that the set is from. It must be safe for
	// concurrent use. Nil: nobody is.
	Skipped func(source string, k jws.Skipped)
	// Egress is the way to key sets. Nil: direct.
	Egress *tunnel.Proxy
}

// Verifier judges the signatures of one agent's cards. It is safe for concurrent use.
type Verifier struct {
	now   func() time.Time
	files []*publicKey
	set   *remote  // JWKS; nil for none
	named *remotes // JKU; nil for none
}

// New makes a verifier for a valid t. It reads the files, and fetches nothing.
func New(t Trust, o Options) (*Verifier, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Skipped == nil {
		o.Skipped = func(string, jws.Skipped) {}
	}
	v := &Verifier{now: o.Now}
	for i, path := range t.Keys {
		list, skipped, err := readKeys(path)
		if err != nil {
			return nil, fmt.Errorf("keys[%d]: %w", i, err)
		}
		for _, k := range skipped {
			o.Skipped(path, k)
		}
		v.files = append(v.files, list...)
	}
	if t.JWKS != "" {
		client, err := operatorClient(t, o.Egress)
		if err != nil {
			return nil, err
		}
		v.set = newRemote(t.JWKS.Reveal(), client, o)
	}
	if len(t.JKU) > 0 {
		var err error
		if v.named, err = newRemotes(t, o); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// SameFiles reports whether another verifier has read the same keys from its files. Nil has
// read none. A reload asks it, as the configuration is the same where only a file has changed.
func (v *Verifier) SameFiles(other *Verifier) bool {
	if v == nil || other == nil {
		return v == other
	}
	return reflect.DeepEqual(v.files, other.files)
}

// Verify judges every signature of a card, given as the agent sent it. It may fetch key
// sets, for at most half a minute. The error is nil if at least one signature holds;
// otherwise it wraps ErrUnsigned, ErrUntrusted, ErrUnavailable or ErrMalformed. The
// Verdict says more in either case.
//
// All signatures are judged, also behind one that holds: which of them covers most decides what of
// the card is used, and the others are shown to people.
func (v *Verifier) Verify(ctx context.Context, card []byte) (Verdict, error) {
	doc, err := read(card)
	if err != nil {
		return Verdict{}, fmt.Errorf("verify card: %w: %w", ErrMalformed, err)
	}
	entries, err := signaturesOf(&doc)
	if err != nil {
		return Verdict{}, fmt.Errorf("verify card: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, verifyTimeout)
	defer cancel()
	run := verification{Verifier: v, start: v.now()}
	run.forms, run.lacking = payloads(doc.without("signatures"))
	var verdict Verdict
	best := len(run.forms)
	for _, e := range entries {
		r, form := run.judge(ctx, e)
		verdict.Signatures = append(verdict.Signatures, r)
		if r.Err == nil && form < best {
			best = form
			verdict.Payload, verdict.Uncovered = run.forms[form].body, run.forms[form].uncovered
		}
	}
	return verdict, verdict.err()
}

// err is what the results come to. That a key set was away goes before all other reasons: it is the
// one that may pass, and the card that is in force stays meanwhile.
func (v Verdict) err() error {
	if v.Holds() != nil {
		return nil
	}
	kind := ErrUntrusted
	for _, r := range v.Signatures {
		if errors.Is(r.Err, ErrUnavailable) {
			kind = ErrUnavailable
		}
	}
	return fmt.Errorf("verify card: %w: %s", kind, v)
}

// signaturesOf reads the list, which must be one where it is there.
func signaturesOf(card *value) ([]entry, error) {
	list := card.find("signatures")
	if list == nil || list.empty() {
		return nil, ErrUnsigned
	}
	var entries []entry
	if err := json.Unmarshal(list.append(nil), &entries); err != nil {
		return nil, fmt.Errorf("%w: signatures is not a list of signatures", ErrMalformed)
	}
	if len(entries) > maxSignatures {
		return nil, fmt.Errorf("%w: %d signatures, at most %d", ErrMalformed, len(entries), maxSignatures)
	}
	return entries, nil
}

// verification is one run over the signatures of a card.
type verification struct {
	*Verifier
	forms   []payload
	lacking error // why a form is missing
	start   time.Time
	named   int // key sets that signatures named and that were looked at
}

// judge finds the keys for a signature and tries them on each form. The index is that of
// the form, if it holds.
func (n *verification) judge(ctx context.Context, e entry) (Result, int) {
	h, err := readHeader(e.Protected)
	r := Result{Algorithm: h.alg, KeyID: h.kid, JKU: h.jku, Err: err}
	if err != nil {
		return r, 0
	}
	signature, err := decode(e.Signature, jws.MaxSignature)
	if err != nil {
		r.Err = fmt.Errorf("%w: the signature %w", errMismatch, err)
		return r, 0
	}
	// The signature is decoded before any key is looked for: what cannot be one causes no
	// request to a key set.
	candidates, err := n.candidates(ctx, &h)
	if err != nil {
		r.Err = err
		return r, 0
	}
	for i := range n.forms {
		p := &n.forms[i]
		signed := base64.RawURLEncoding.AppendEncode([]byte(e.Protected+"."), p.body)
		for _, k := range candidates {
			if h.algorithm.Verify(k.Public, signed, signature) == nil {
				r.Form, r.Thumbprint, r.Source = p.form, k.thumbprint, k.source
				return r, i
			}
		}
	}
	r.Err = fmt.Errorf("%w (%s, kid %.40q, in %d canonical forms)", errMismatch, h.alg, h.kid, len(n.forms))
	if n.lacking != nil {
		r.Err = fmt.Errorf("%w; %w", r.Err, n.lacking)
	}
	return r, 0
}

// candidates are the keys that may have made a signature. Where there are none, the
// error says which is the nearest miss: a key of that name that is not for the algorithm or has
// expired, else a key set that could not be had, else that nobody has such a key.
func (n *verification) candidates(ctx context.Context, h *header) ([]*publicKey, error) {
	list, miss := n.pick(n.files, h)
	// In a file, a key without a name is meant for whatever the agent calls it.
	if list == nil && miss == nil {
		list, miss = n.unnamed(h)
	}
	if list != nil {
		return list, nil
	}
	var away error
	for _, set := range n.sets(h, &away) {
		keys, err := set.keysFor(ctx, h.kid, n.start)
		if err != nil {
			away = err
		}
		found, missed := n.pick(keys, h)
		list = append(list, found...)
		if missed != nil {
			miss = missed
		}
	}
	switch {
	case list != nil:
		return list, nil
	case miss != nil:
		return nil, miss
	case away != nil:
		return nil, away
	}
	return nil, fmt.Errorf("%w: kid %.40q", errKeyID, h.kid)
}

// sets are the key sets that may have the key: that of the operator, and the one that
// the signature names, if that is trusted. Otherwise why says what is wrong with it, unless the
// operator's set may still have the key.
func (n *verification) sets(h *header, why *error) []*remote {
	var list []*remote
	if n.set != nil {
		list = append(list, n.set)
	}
	if h.jku == "" || n.Verifier.named == nil || n.set != nil && n.set.url == h.jku {
		return list // without a list of trusted places, jku is as if it were not there
	}
	set, err := n.trusted(h.jku)
	if err != nil {
		if len(list) == 0 {
			*why = err
		}
		return list
	}
	return append(list, set)
}

// trusted finds a key set that a signature names, among the places that may be named. Each costs a
// request, so that a card cannot name as many as it likes.
func (n *verification) trusted(jku string) (*remote, error) {
	if n.named++; n.named > maxNamed {
		return nil, fmt.Errorf("%w: the card's signatures name more than %d key sets", errJKU, maxNamed)
	}
	return n.Verifier.named.find(jku)
}

// pick chooses the keys with the name that a signature has. Without a name, every key
// that fits is one.
func (n *verification) pick(keys []*publicKey, h *header) (list []*publicKey, miss error) {
	for _, k := range keys {
		if k.named(h.kid) || h.kid == "" {
			list, miss = n.admit(list, miss, k, h)
		}
	}
	if h.kid == "" && list != nil {
		miss = nil
	}
	return list, miss
}

// unnamed are the keys of files that have no name and suit the algorithm. PEM has no place for a
// name, and a file is what the operator trusts for this agent, whatever the agent calls its key.
func (n *verification) unnamed(h *header) (list []*publicKey, miss error) {
	for _, k := range n.files {
		if k.ID == "" && k.Suits(h.algorithm) {
			list, miss = n.admit(list, miss, k, h)
		}
	}
	return list, miss
}

// admit appends k if it may verify the signature. The bound is on work: each key is tried on each
// form, and a card comes from somebody who is not trusted yet.
func (n *verification) admit(list []*publicKey, miss error, k *publicKey, h *header) ([]*publicKey, error) {
	switch {
	case !k.Suits(h.algorithm):
		return list, fmt.Errorf("%w: kid %.40q is not for %s", errKey, h.kid, h.alg)
	case !k.current(n.start):
		return list, fmt.Errorf("%w: kid %.40q, valid until %s", errExpired, h.kid, k.NotAfter.UTC().Format(time.RFC3339))
	case len(list) < maxCandidates:
		list = append(list, k)
	}
	return list, miss
}

// Limits of one verification.
const (
	verifyTimeout = 30 * time.Second
	maxCandidates = 16 // keys that are tried for one signature
	maxNamed      = 4  // key sets that the signatures of one card name
)
