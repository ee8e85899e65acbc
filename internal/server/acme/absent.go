//go:build minimal

package acme

import (
	"crypto/tls"
	"net/http"

	"github.com/a2a-gateway/a2a-gateway/internal/feature"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
)

// Keeper is the keeper of certificates that this build has not got: Open never returns one, and the
// methods below are there for callers that hold a nil *Keeper.
type Keeper struct{}

// Open refuses: the ACME client is not in this build.
func Open(server.ACME, Options) (*Keeper, error) { return nil, feature.Need(feature.ACME) }

// CheckFiles has nothing to add to what internal/config says of the section.
func CheckFiles(server.ACME) error { return nil }

// Configure is never called, for want of a Keeper.
func (*Keeper) Configure(server.ACME) error { return feature.Need(feature.ACME) }

// Close has nothing to end.
func (*Keeper) Close() {}

// Status knows of no names.
func (*Keeper) Status() []Status { return nil }

// Answer has no certificate for the check of a CA.
func (*Keeper) Answer(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return nil, feature.Need(feature.ACME)
}

// ServeHTTP knows of no checks.
func (*Keeper) ServeHTTP(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }
