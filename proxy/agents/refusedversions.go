package agents

import (
	"sync"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// RefusedVersions are the versions in which an agent was asked in vain, by endpoint. It is
// safe for concurrent use.
type RefusedVersions struct{ asked sync.Map } // of versionAt

// versionAt is a version at an endpoint.
type versionAt struct {
	address string
	version wire.Version
}

// Add notes that the endpoint at an address does not speak a version.
func (r *RefusedVersions) Add(address string, v wire.Version) {
	r.asked.Store(versionAt{address, v}, nil)
}

// Has reports whether the endpoint at an address was asked in a version, and did not speak it.
func (r *RefusedVersions) Has(address string, v wire.Version) bool {
	_, asked := r.asked.Load(versionAt{address, v})
	return asked
}
