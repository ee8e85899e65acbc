package signature

import (
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/jws"
)

// Limits of one signature. Headers in the field have some 200 bytes; 8192 bits of RSA
// make a signature of 1 KiB.
const (
	maxHeader = 4 << 10
	maxName   = 512 // kid, in bytes
	maxURL    = 2 << 10
)

// header is what counts of a protected header.
type header struct {
	alg, kid, jku string
	algorithm     jws.Algorithm
}

// entry is a member of the card's signatures.
// The payload is not among its members: it is detached (RFC 7515 appendix F), and is the card
// itself.
type entry struct {
	Protected string         `json:"protected"`
	Signature string         `json:"signature"`
	Header    jsontext.Value `json:"header,omitzero"` // not protected: nothing in it counts
}

// readHeader reads a protected header. Whatever brings a key along, changes how the
// payload is to be read, or could be read in two ways is refused. What is left is
// returned beside the error, for the record.
// Refused among others are jwk and x5c, by which a signer could bring a key of his own, crit and
// b64 (RFC 7797), which change what is signed, and alg "none".
func readHeader(protected string) (header, error) {
	doc, err := decode(protected, maxHeader)
	if err != nil {
		return header{}, fmt.Errorf("%w: %w", errHeader, err)
	}
	var params map[string]jsontext.Value
	if err := json.Unmarshal(doc, &params); err != nil || params == nil {
		return header{}, fmt.Errorf("%w: not a JSON object without repeated names", errHeader)
	}
	var h header
	for _, p := range []struct {
		name string
		into *string
		most int
	}{{"alg", &h.alg, maxName}, {"kid", &h.kid, maxName}, {"jku", &h.jku, maxURL}} {
		v, ok := params[p.name]
		if !ok {
			continue
		}
		if json.Unmarshal(v, p.into) != nil || len(*p.into) > p.most || v.Kind() != '"' {
			return h, fmt.Errorf("%w: %s is not a short string", errHeader, p.name)
		}
	}
	// What is not known and not banned is ignored, as RFC 7515 section 4 wants.
	for name := range params {
		// Where jku is not listed, it is not used.
		if jws.Banned(name, "alg", "kid", "jku", "typ") {
			return h, fmt.Errorf("%w: it has %.20q", errHeader, name)
		}
	}
	var ok bool
	if h.algorithm, ok = profile.Lookup(h.alg); !ok {
		return h, fmt.Errorf("%w: alg %.20q", errAlgorithm, h.alg)
	}
	return h, nil
}

// decode is base64url of no more than most bytes, in its one spelling.
// A spelling with padding, or with bits set that are not used, is refused: one signature has one
// text.
func decode(part string, most int) ([]byte, error) {
	switch {
	case part == "":
		return nil, errors.New("is empty")
	case len(part) > base64.RawURLEncoding.EncodedLen(most):
		return nil, fmt.Errorf("longer than %d bytes", most)
	}
	return jws.Decode(part)
}
