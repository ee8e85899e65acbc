package authn

import (
	"errors"
	"net/textproto"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// APIKeys says where API keys are kept and how they are presented.
type APIKeys struct {
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

func (k *APIKeys) validate() error {
	var errs []error
	if k.File == "" {
		errs = append(errs, keypath.At(errors.New("missing"), "file"))
	}
	if err := checkHeader(k.Header, k.header(), ""); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// HeaderName is the effective header in canonical form; "" where there are no keys.
func (k *APIKeys) HeaderName() string {
	if k == nil {
		return ""
	}
	return k.header()
}

// header is the effective header name in canonical form.
func (k *APIKeys) header() string {
	if k.Header == "" {
		return defaultHeader
	}
	return textproto.CanonicalMIMEHeaderKey(k.Header)
}
