package audit

import (
	"crypto"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
)

// signature is what a checkpoint turned out to be.
type signature struct {
	seq       uint64 // of the checkpoint
	hash      chain.Link
	kid       string
	foreign   bool // its key is not one of those that count
	err       error
	statement statement
}

// keySet are the keys that signatures are compared with.
type keySet struct {
	trusted *jose.JSONWebKeySet // nil: those that stand beside the signatures
}

// algorithms are those that the gateway signs with.
// No other: a token with alg none, or with HS256 over a public key, must not be taken for a
// signature (RFC 8725 section 3.1).
var algorithms = []jose.SignatureAlgorithm{jose.ES256, jose.EdDSA}

// verify looks at a checkpoint with the number seq.
// An error is kept in the result and not returned: a checkpoint that does not hold is a finding,
// and the records around it are judged all the same.
func (k *keySet) verify(line []byte, seq uint64, before chain.Previous) *signature {
	s := &signature{seq: seq}
	_, s.hash, _ = chain.CutHash(line)
	var r struct {
		Checkpoint string         `json:"checkpoint"`
		Key        jsontext.Value `json:"key"`
	}
	if err := json.Unmarshal(line, &r); err != nil {
		s.err = errors.New("it cannot be read")
		return s
	}
	jws, err := jose.ParseSignedCompact(r.Checkpoint, algorithms)
	if err != nil {
		s.err = errors.New("its signature cannot be read")
		return s
	}
	// A compact JWS has exactly one signature.
	header := jws.Signatures[0].Protected
	s.kid = header.KeyID
	key, err := k.choose(s, r.Key)
	if err != nil {
		s.err = err
		return s
	}
	payload, err := jws.Verify(key)
	switch {
	case err != nil:
		s.err = errors.New("its signature is not by the key it names")
	case header.ExtraHeaders[jose.HeaderType] != checkpointType:
		s.err = errors.New("it is signed as something else")
	case json.Unmarshal(payload, &s.statement) != nil:
		s.err = errors.New("what it signs cannot be read")
	case s.statement.Seq+1 != seq || s.statement.Hash != before.Hash.String():
		s.err = fmt.Errorf("it signs record %d as %.12s…, and before it stands record %d as %.12s…",
			s.statement.Seq, s.statement.Hash, before.Seq, before.Hash.String())
	}
	return s
}

// choose returns the key that counts, or else the one that stands beside the signature,
// whose id has to be its thumbprint.
func (k *keySet) choose(s *signature, beside jsontext.Value) (any, error) {
	// A key that was given counts by its id alone, whatever stands in the record beside the
	// signature.
	if k.trusted != nil {
		if found := k.trusted.Key(s.kid); len(found) > 0 {
			return found[0].Public(), nil
		}
		s.foreign = true
	}
	var key jose.JSONWebKey
	if err := json.Unmarshal(beside, &key); err != nil || !key.IsPublic() {
		return nil, errors.New("its key cannot be read")
	}
	sum, err := key.Thumbprint(crypto.SHA256)
	if err != nil || base64.RawURLEncoding.EncodeToString(sum) != s.kid {
		return nil, errors.New("the key beside it is not the one it names")
	}
	return key, nil
}

// KeySet makes the JWK set of one key in PEM, private or public.
func KeySet(data []byte) ([]byte, error) {
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, errors.New("no key in PEM")
	}
	var key any
	var err error
	switch block.Type {
	case "PUBLIC KEY":
		key, err = x509.ParsePKIXPublicKey(block.Bytes)
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	default:
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	}
	if err != nil {
		return nil, err
	}
	if private, ok := key.(crypto.Signer); ok {
		key = private.Public()
	}
	web := jose.JSONWebKey{Key: key}
	sum, err := web.Thumbprint(crypto.SHA256)
	if err != nil {
		return nil, err
	}
	web.KeyID = base64.RawURLEncoding.EncodeToString(sum)
	return json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{web}})
}
