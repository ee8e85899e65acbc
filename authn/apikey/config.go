// Package apikey authenticates by API keys: the gateway's own, of which a file holds the
// hashes. It makes, rotates and revokes keys, watches the file, and keeps when each was last
// used. It does not own how keys and other credentials go together (package authn).
package apikey

import (
	"errors"
	"net/textproto"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// APIKeys says where API keys are kept and how they are presented.
type Config struct {
	// File is the YAML file with the hashes of the keys. Changes are picked up
	// without a restart; a missing file is an empty one, with a warning.
	File string `yaml:"file" file:"read"`
	// Header is the request header that carries a key. Default: X-API-Key.
	Header string `yaml:"header,omitempty"`
	// Bearer also accepts a key as `Authorization: Bearer a2a_…`, for clients that
	// can only send bearer tokens. Default: false.
	Bearer bool `yaml:"bearer,omitempty"`
	// API lets admins make, rotate and take out keys over the admin API, which writes the
	// file. Default: false; keys can then be looked at there, and revoked where the state is
	// shared.
	API bool `yaml:"api,omitempty"`
}

func (k *Config) Validate() error {
	var errs []error
	if k.File == "" {
		errs = append(errs, keypath.At(errors.New("missing"), "file"))
	}
	if err := authn.CheckHeader(k.Header, k.HeaderName(), ""); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// HeaderName is the effective header in canonical form; "" where there are no keys.
func (k *Config) HeaderName() string {
	if k == nil {
		return ""
	}
	if k.Header == "" {
		return authn.KeyHeader
	}
	return textproto.CanonicalMIMEHeaderKey(k.Header)
}
