package dpop

import (
	"crypto"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/jws"
)

// Bounds of what stands in a proof.
const (
	maxProofID = 256
	maxNonce   = 256
	maxAddress = 8 << 10 // bytes of htu: as much as a request line
	maxProof   = 8 << 10
)

// proof is a DPoP proof (RFC 9449 §4.2) whose form is beyond doubt. Its signature is
// verified by the key that it brings along: it says no more than that the holder of
// that key made it.
// It is made for one request and dropped with it.
type proof struct {
	signed    string // "header.payload": what the signature covers
	signature []byte
	alg       jws.Algorithm
	key       crypto.PublicKey
	print     [sha256.Size]byte // thumbprint of key (RFC 7638)

	id, method, address, token, nonce string // jti, htm, htu, ath, nonce
	made                              time.Time
}

// readProof reads a proof with the same distrust as precheck reads tokens. It does not
// verify the signature.
// The errors are refusals of the credential (authn.Refused) and name the part that is wrong, for
// the log.
func readProof(raw string) (*proof, error) {
	if len(raw) > maxProof {
		return nil, refuseProof(faultProof, fmt.Errorf("proof of %d bytes, more than %d", len(raw), maxProof))
	}
	header, payload, signature, err := jws.Split(raw)
	if err != nil {
		return nil, refuseProof(faultProof, err)
	}
	p := &proof{signed: raw[:len(header)+1+len(payload)]}
	if err := p.readHeader(header); err != nil {
		return nil, refuseProof(faultProof, fmt.Errorf("read proof header: %w", err))
	}
	if err := p.readClaims(payload); err != nil {
		return nil, refuseProof(faultProof, fmt.Errorf("read proof payload: %w", err))
	}
	if p.signature, err = jws.Decode(signature); err != nil {
		return nil, refuseProof(faultProof, fmt.Errorf("read proof signature: %w", err))
	}
	return p, nil
}

// readHeader takes typ, alg and jwk of the JOSE header. Whatever else would name a key
// or change how the proof is read is refused as in tokens.
func (p *proof) readHeader(part string) error {
	doc, err := jws.Decode(part)
	if err != nil {
		return err
	}
	params, err := jws.Object[jsontext.Value](doc)
	if err != nil {
		return err
	}
	// A key by reference (jku, x5u) would have the gateway fetch what the caller names.
	for name := range params {
		if jws.Banned(name, "alg", "jwk", "kid", "typ") {
			return fmt.Errorf("parameter %.20q", name)
		}
	}
	var alg, typ string
	if json.Unmarshal(params["typ"], &typ) != nil || !strings.EqualFold(typ, "dpop+jwt") {
		return fmt.Errorf("typ is not dpop+jwt but %.40q", typ)
	}
	if json.Unmarshal(params["alg"], &alg) != nil {
		return errors.New("alg is not a string")
	}
	var ok bool
	if p.alg, ok = authn.Signatures.Lookup(alg); !ok {
		return fmt.Errorf("alg %.20q", alg)
	}
	return p.readKey(params["jwk"])
}

// readKey takes the public key. A key that comes with its secret half is no longer
// anybody's own, and a symmetric one proves nothing.
func (p *proof) readKey(doc jsontext.Value) error {
	k, err := authn.Signatures.Key(doc)
	switch {
	case err != nil:
		return fmt.Errorf("jwk: %w", err)
	case !k.Suits(p.alg):
		return fmt.Errorf("jwk is not for %s", p.alg.Name)
	}
	p.key, p.print = k.Public, k.Thumbprint
	return nil
}

// thumbprint is the key's, as cnf.jkt spells it.
// It is 43 characters of base64url.
func (p *proof) thumbprint() string { return base64.RawURLEncoding.EncodeToString(p.print[:]) }

// readClaims takes the claims that every proof for a resource has. All but the nonce
// are mandatory.
func (p *proof) readClaims(part string) error {
	doc, err := jws.Decode(part)
	if err != nil {
		return err
	}
	claims, err := jws.Object[any](doc)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		name string
		into *string
		// The ids are remembered and the rest is logged: none of them may be of any length.
		most int // bytes
	}{
		{"jti", &p.id, maxProofID},
		{"htm", &p.method, maxProofID},
		{"htu", &p.address, maxAddress},
		{"ath", &p.token, maxProofID},
		{"nonce", &p.nonce, maxNonce},
	} {
		v, present := claims[c.name]
		if !present && c.name == "nonce" {
			continue
		}
		s, ok := v.(string)
		if !ok || s == "" || len(s) > c.most {
			return fmt.Errorf("claim %s is not a string of 1 to %d bytes", c.name, c.most)
		}
		*c.into = s
	}
	made, ok := jws.NumericDate(claims["iat"])
	if !ok {
		return errors.New("claim iat is not a date")
	}
	p.made = made
	return nil
}

// fits reports whether the proof was made for this request and token, lately.
func (p *proof) fits(g *Prover, r *http.Request, token string, now time.Time) error {
	if p.method != r.Method {
		return refuseProof(faultProofRequest, fmt.Errorf("htm is %.20q", p.method))
	}
	want, err := requestAddress(r, g.scheme)
	if err != nil {
		return refuseProof(faultProofRequest, fmt.Errorf("address of the request: %w", err))
	}
	got, err := normalAddress(p.address)
	if err != nil || got != want {
		return refuseProof(faultProofRequest, fmt.Errorf("htu is %.200q, not %.200q", p.address, want))
	}
	if sum := sha256.Sum256([]byte(token)); p.token != base64.RawURLEncoding.EncodeToString(sum[:]) {
		return refuseProof(faultProofToken, nil)
	}
	// The floor is the moment from which on proofs are remembered for certain: an older one may
	// have been taken before this process began.
	old := !now.Before(p.made.Add(g.window)) || p.made.Before(g.floor)
	if old || p.made.After(now.Add(g.window)) {
		return refuseProof(faultProofTime, fmt.Errorf("iat is %s", p.made.UTC().Format(time.RFC3339)))
	}
	return nil
}
