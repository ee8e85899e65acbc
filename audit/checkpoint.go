package audit

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// Keys sign checkpoints; the gateway's own do (internal/keys).
// The JWS (RFC 7515) is compact, with alg ES256 or EdDSA; kid is the thumbprint of the public key
// (RFC 7638), by which a verifier recognises a key that stands in the record itself.
type Keys interface {
	// Sign makes a compact JWS whose header has typ and kid.
	Sign(typ string, payload []byte) (string, error)
	// JWKS is the JWK set of the keys that sign, and of others.
	JWKS() []byte
}

// signer makes the checkpoints of a log.
type signer struct {
	keys    Keys
	gateway string
	kid     string // whose public key public is
	public  []byte
}

// members are those of a checkpoint of the chain as it is. The public key is among them,
// so that a checkpoint can be read when its key has long been replaced; whether the key is
// the gateway's is for the reader to know.
func (s *signer) members(c *chain.Chain, now time.Time) (members []byte, jws string, err error) {
	payload, err := json.Marshal(statement{
		Gateway: s.gateway, Seq: c.Seq, Hash: c.Hash.String(), Time: now.UTC().Format(time.RFC3339Nano),
	})
	if err != nil {
		return nil, "", err
	}
	if jws, err = s.keys.Sign(checkpointType, payload); err != nil {
		return nil, "", err
	}
	if err := s.identify(jws); err != nil {
		return nil, "", err
	}
	var l telemetry.Line
	head(&l, typeCheckpoint, now)
	return fmt.Appendf(nil, `%s,"checkpoint":%q,"key":%s`, l.Bytes(), jws, s.public), jws, nil
}

// identify finds the public half of the key that signed.
func (s *signer) identify(jws string) error {
	header, _, _ := strings.Cut(jws, ".")
	decoded, err := base64.RawURLEncoding.DecodeString(header)
	if err != nil {
		return err
	}
	var protected struct {
		KeyID string `json:"kid"`
	}
	if err := json.Unmarshal(decoded, &protected); err != nil {
		return err
	}
	if s.kid == protected.KeyID {
		return nil
	}
	var set struct {
		Keys []jsontext.Value `json:"keys"`
	}
	if err := json.Unmarshal(s.keys.JWKS(), &set); err != nil {
		return err
	}
	// A rotation may have come between signing and asking for the set; the set has the old key for
	// a while.
	for _, k := range set.Keys {
		if bytes.Contains(k, []byte(`"`+protected.KeyID+`"`)) && k.Compact() == nil {
			s.kid, s.public = protected.KeyID, k
			return nil
		}
	}
	return errors.New("the key that signs is not published")
}
