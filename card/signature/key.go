package signature

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/jws"
)

// maxDocument bounds a file or an answer with keys: internal/egress reads no more of one.
const maxDocument = 64 << 10

// profile has the closed list of what cards can be signed with. There is neither "none"
// nor HMAC in it, and nothing adds one.
var profile = jws.Profile{Algorithms: []string{"ES256", "ES384", "EdDSA", "Ed25519", "RS256", "PS256"}, Dated: true}

// publicKey is a key that may verify signatures.
type publicKey struct {
	*jws.Key

	thumbprint string // RFC 7638, as a kid spells it
	source     string // the file or URL it is from
}

// keysOf are keys with where they are from.
func keysOf(list []*jws.Key, source string) []*publicKey {
	keys := make([]*publicKey, len(list))
	for i, k := range list {
		keys[i] = &publicKey{k, base64.RawURLEncoding.EncodeToString(k.Thumbprint[:]), source}
	}
	return keys
}

// named reports whether kid means this key. A thumbprint is always a name.
func (k *publicKey) named(kid string) bool { return kid != "" && (k.ID == kid || k.thumbprint == kid) }

// current reports whether the key counts at a time: that of the verification, and not one that the
// card names, which whoever has an old key could choose.
func (k *publicKey) current(now time.Time) bool {
	return (k.NotBefore.IsZero() || !now.Before(k.NotBefore)) && (k.NotAfter.IsZero() || now.Before(k.NotAfter))
}

// readKeys reads a file with public keys: PEM, a JWK or a JWK set.
// Keys of a set that cannot be used (another curve, too short, private) are returned as skipped,
// with the reason, and do not keep the others from being used.
func readKeys(path string) ([]*publicKey, []jws.Skipped, error) {
	f, err := os.Open(path) //nolint:gosec // the operator's path
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	doc, err := io.ReadAll(io.LimitReader(f, maxDocument+1))
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", path, err)
	}
	if len(doc) > maxDocument {
		return nil, nil, fmt.Errorf("read %s: larger than %d bytes", path, maxDocument)
	}
	set, err := parseKeys(doc)
	if err != nil {
		return nil, nil, fmt.Errorf("read keys: %s: %w", path, err)
	}
	return keysOf(set.Keys, path), set.Skipped, nil
}

// parseKeys tells the forms apart by their first byte, so that a file may have any name.
func parseKeys(doc []byte) (*jws.Set, error) {
	if trimmed := bytes.TrimSpace(doc); len(trimmed) > 0 && trimmed[0] == '{' {
		return parseJWK(trimmed)
	}
	return parsePEM(doc)
}

// parsePEM reads a file of public keys or certificates, as many as a JWK set may have. One that is no
// use fails all of the file, unlike in a set: an operator wrote it, for this and nothing else.
func parsePEM(doc []byte) (*jws.Set, error) {
	var list []*jws.Key
	// Text between blocks is passed over, as in files that openssl prints.
	for len(list) <= jws.MaxKeys {
		var block *pem.Block
		if block, doc = pem.Decode(doc); block == nil {
			break
		}
		k, err := parseBlock(block)
		if err != nil {
			return nil, err
		}
		list = append(list, k)
	}
	if len(list) == 0 {
		return nil, errors.New("neither PEM nor a JSON object")
	}
	if len(list) > jws.MaxKeys {
		return nil, fmt.Errorf("more than %d keys", jws.MaxKeys)
	}
	return &jws.Set{Keys: list}, nil
}

// parseBlock reads one. A certificate bounds the time of its key; who issued it is not asked, since the
// file is what is trusted.
func parseBlock(block *pem.Block) (*jws.Key, error) {
	switch block.Type {
	case "PUBLIC KEY":
		key, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return nil, err
		}
		return profile.Take(key)
	case "CERTIFICATE":
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		k, err := profile.Take(cert.PublicKey)
		if err != nil {
			return nil, err
		}
		k.NotBefore, k.NotAfter = cert.NotBefore, cert.NotAfter
		return k, nil
	}
	return nil, fmt.Errorf("a PEM block %.40q; want PUBLIC KEY or CERTIFICATE", block.Type)
}

// parseJWK reads a JWK set or one JWK, which becomes a set of one, so that both are judged by the
// same rules.
func parseJWK(doc []byte) (*jws.Set, error) {
	var set struct {
		Keys jsontext.Value `json:"keys"`
	}
	// What stands twice inside of a key is judged with that key.
	if err := json.Unmarshal(doc, &set, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil, err
	}
	if set.Keys == nil {
		doc = slices.Concat([]byte(`{"keys":[`), doc, []byte(`]}`))
	}
	return profile.Set(doc)
}
