package jwt

import (
	"errors"
	"fmt"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/jws"
)

// token is a compact JWS (RFC 7515 §3.1) whose form is beyond doubt. Nothing in
// it is believed before the signature is verified.
type token struct {
	header

	signed    string         // "header.payload": what the signature covers
	signature []byte         // decoded
	payload   []byte         // decoded
	claims    map[string]any // of the payload; numbers are float64
}

// header is the JOSE header.
// kid chooses the issuer's key, and is bounded as an address could otherwise fill tables with it.
type header struct {
	part   string // as it stands in the token
	alg    string
	kid    string // may be empty
	access bool   // typ says at+jwt (RFC 9068): surely an access token
}

// remember keeps a header beyond its token, of which nothing else is kept in memory.
func (h header) remember() *header {
	h.part = strings.Clone(h.part)
	return &h
}

// precheck reads a token without any key. It is deliberately narrower than JOSE
// libraries: what two parsers could read in two ways, what makes a verifier fetch
// or trust a key that the token brings along, and what would change how the
// payload is to be read is refused here. Nobody reads the token again: what is judged and
// what is verified are these parts.
func precheck(raw string) (*token, error) { return precheckLike(raw, nil) }

// precheckLike spares reading the header where it is the same, byte for byte, as one that
// was read before: an issuer's tokens share theirs for as long as it signs with one key.
func precheckLike(raw string, known *header) (*token, error) {
	t, err := dissectLike(raw, known)
	if err != nil {
		return nil, err
	}
	if t.claims, err = jws.Object[any](t.payload); err != nil {
		return nil, refuse(authn.FaultMalformed, fmt.Errorf("read payload: %w", err))
	}
	return t, nil
}

// dissect reads everything but the payload, which is that of any JWS.
func dissect(raw string) (*token, error) { return dissectLike(raw, nil) }

// known is a header that has been checked, nil for none.
func dissectLike(raw string, known *header) (*token, error) {
	head, payload, signature, err := jws.Split(raw)
	if err != nil {
		return nil, refuse(authn.FaultMalformed, err)
	}
	t := &token{signed: raw[:len(head)+1+len(payload)]}
	if known != nil && known.part == head {
		t.header = *known
	} else if err := t.read(head); err != nil {
		return nil, err
	}
	if t.payload, err = jws.Decode(payload); err != nil {
		return nil, refuse(authn.FaultMalformed, fmt.Errorf("read payload: %w", err))
	}
	if t.signature, err = jws.Decode(signature); err != nil {
		return nil, refuse(authn.FaultMalformed, fmt.Errorf("read signature: %w", err))
	}
	return t, nil
}

// read reads alg, kid and typ of the JOSE header and refuses what must not
// be there. Other parameters (x5t, nonce, …) are ignored, as RFC 7515 §4 asks, as long
// as every library can read them.
func (h *header) read(part string) error {
	h.part = part
	doc, err := jws.Decode(part)
	if err != nil {
		return refuse(authn.FaultMalformed, fmt.Errorf("read header: %w", err))
	}
	params, err := jws.Object[any](doc)
	if err != nil {
		return refuse(authn.FaultMalformed, fmt.Errorf("read header: %w", err))
	}
	for name := range params {
		// jwk, jku, x5c and x5u would have the token name the key that is to judge it, crit and
		// zip change how it is read.
		if jws.Banned(name, "alg", "kid", "typ") {
			return refuse(faultHeader, fmt.Errorf("header parameter %.20q", name))
		}
	}
	typ := ""
	for _, p := range []struct {
		name string
		into *string
	}{{"alg", &h.alg}, {"kid", &h.kid}, {"typ", &typ}} {
		v, ok := params[p.name]
		if !ok {
			continue
		}
		if *p.into, ok = v.(string); !ok || len(*p.into) > jws.MaxKeyID {
			return refuse(authn.FaultMalformed, fmt.Errorf("header parameter %s is not a short string", p.name))
		}
	}
	// JOSE libraries know it from ACME (RFC 8555 §6.5.2) and refuse what is none.
	if !isText(params["nonce"]) {
		return refuse(authn.FaultMalformed, errors.New("header parameter nonce is not a string"))
	}
	return h.check(typ)
}

// The algorithm is one that the gateway knows; whether the issuer may use it is looked at with its
// key.
func (h *header) check(typ string) error {
	if _, ok := authn.Signatures.Lookup(h.alg); !ok {
		return refuse(faultAlgorithm, fmt.Errorf("alg %.20q", h.alg))
	}
	// typ is a media type: case does not count, "application/" may be left out
	// (RFC 7515 §4.1.9). Everything else is a token made for another purpose:
	// logout+jwt, dpop+jwt, secevent+jwt, JOSE …
	switch strings.ToLower(typ) {
	case "at+jwt", "application/at+jwt":
		h.access = true
	case "jwt", "":
	default:
		return refuse(faultType, fmt.Errorf("typ %.40q", typ))
	}
	return nil
}
