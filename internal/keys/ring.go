package keys

import (
	"errors"
	"log/slog"
)

// Ring is a set of keys in use. It is safe for concurrent use.
type Ring struct{}

// Open reads the keys that c names, or those in its Dir, and makes one there if there is
// none. It watches the files until Close.
func Open(c Config, log *slog.Logger) (*Ring, error) {
	_, _ = c, log
	return nil, errors.New("keys: not built")
}

// Sign makes a compact JWS (RFC 7515) over payload with the key that signs now. typ
// becomes the header parameter of that name; kid is the key's RFC 7638 thumbprint.
func (r *Ring) Sign(typ string, payload []byte) (string, error) {
	_, _ = typ, payload
	return "", errors.New("keys: not built")
}

// JWKS is the JWK set (RFC 7517) of all published keys, the signing one first. It must
// not be changed.
func (r *Ring) JWKS() []byte { return nil }

// Close ends the watch.
func (r *Ring) Close() {}
