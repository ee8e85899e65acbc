// Package apikey authenticates by API keys: the gateway's own, of which a file holds the
// hashes. It makes, rotates and revokes keys, watches the file, and keeps when each was last
// used. It does not own how keys and other credentials go together (package authn).
//
// A key reads a2a_<id>_<secret>. A call with one goes through these:
//
//	scheme.go  finds the header that carries it, as authn.Scheme
//	key.go     checks its form and hashes it
//	table.go   looks the hash up in an immutable table, in the same time for any wrong key
//	text.go    unpacks the principal that the key stands for, the first time
//	usage.go   notes the second in which it was used
//
// keyfile.go watches the file and puts a new table in the place of the old one; calls that hold
// the old one end with it. keyform.go and parse.go are the file's form, file.go and rotate.go edit
// it, for the verb keys and the administration API. Nothing but hashes is ever written or kept:
// who reads the file cannot call.
package apikey

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/textproto"
	"os"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/credential"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// Config is authn.apiKeys: where the gateway finds API keys, and how callers present them.
type Config struct {
	// File is the YAML file with the hashes of the keys. The gateway picks up changes without a
	// restart. It treats a missing file as an empty one, with a warning.
	File string `yaml:"file" file:"read"`
	// Header is the request header that carries a key. Default: X-API-Key.
	Header string `yaml:"header,omitempty"`
	// Bearer also accepts a key as `Authorization: Bearer a2a_…`, for clients that can only send
	// bearer tokens. Default: false.
	Bearer bool `yaml:"bearer,omitempty"`
	// API lets admins make, rotate and remove keys over the admin API, which writes the file.
	// Default: false; the admin API then only shows keys, and revokes them where the state is
	// shared.
	API bool `yaml:"api,omitempty"`
}

// Validate names the key that is wrong.
func (k *Config) Validate() error {
	var errs []error
	if k.File == "" {
		errs = append(errs, keypath.At(errors.New("missing"), "file"))
	}
	if err := credential.CheckHeader(k.Header, k.HeaderName(), ""); err != nil {
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
		return credential.KeyHeader
	}
	return textproto.CanonicalMIMEHeaderKey(k.Header)
}

// written is the header as it is written, for people and agent cards.
func (k *Config) written() string { return cmp.Or(k.Header, "X-API-Key") }

// HeaderOf is where a credential travels that is an API key; "" where it is none.
func (k *Config) HeaderOf(presented string) string {
	if !strings.HasPrefix(presented, credential.KeyPrefix) {
		return ""
	}
	return k.written()
}

// Security is how agent cards ask for API keys.
func (k *Config) Security() []authn.Security {
	list := []authn.Security{{Kind: authn.APIKey, Header: k.written()}}
	if k.Bearer {
		list = append(list, authn.Security{Kind: authn.HTTPBearer})
	}
	return list
}

// Check reads the file of API keys as the gateway would, to which a file that is missing is an
// empty one.
// A warning is all that a missing file is worth: it is made by the first key.
func (k *Config) Check() (warnings []string, err error) {
	if _, err := os.Stat(k.File); errors.Is(err, fs.ErrNotExist) {
		return []string{fmt.Sprintf("authn.apiKeys.file: %s does not exist yet: no API key will be accepted", k.File)}, nil
	}
	if _, err := Open(k.File); err != nil {
		return nil, fmt.Errorf("authn.apiKeys.file: %w", err)
	}
	return nil, nil
}
