package state

import (
	"context"
	"time"
)

// Value is one entry of a space.
type Value struct {
	Key     string
	Data    []byte
	Expires time.Time // zero for never
}

// Values keeps small things under keys of at most 1 KiB in named spaces: revocations,
// proofs that were used, webhook configurations. It is linearizable per key. A value
// whose time has come is gone at once. What stands before a slash in its key is whose a value
// is: where there is a bound, owners share the room. Every driver passes the suite in statetest.
type Values interface {
	// Put stores data under a key, for ttl or, with 0, until it is deleted. A negative
	// ttl, as of what ran out on the way, leaves the key without a value.
	Put(ctx context.Context, space, key string, data []byte, ttl time.Duration) error
	// Add is Put unless the key has a value, and says whether it was stored.
	Add(ctx context.Context, space, key string, data []byte, ttl time.Duration) (bool, error)
	// Replace is Put if the key has a value, and says whether it was stored: what somebody
	// deletes meanwhile is not brought back.
	Replace(ctx context.Context, space, key string, data []byte, ttl time.Duration) (bool, error)
	// Get returns what is stored; false when there is nothing.
	Get(ctx context.Context, space, key string) ([]byte, bool, error)
	// Delete forgets a key, also one that is not there.
	Delete(ctx context.Context, space, key string) error
	// List returns at most limit values with keys greater than after, by the bytes of
	// their keys.
	List(ctx context.Context, space, after string, limit int) ([]Value, error)
}

// Store is all that a driver has.
type Store interface {
	Ledger
	Steps
	Limits
	Values
	Logs
	Queue
	// Ping reports whether the store can be used now. It is for /readyz, not for a
	// request's path.
	Ping(ctx context.Context) error
	// Close ends the store and what it runs. Nothing may be asked of it afterwards.
	Close() error
}

// Cipher seals what a store must not show to who reads its files or its network. aad
// ties a sealed value to its place.
type Cipher interface {
	Seal(plain, aad []byte) []byte
	Open(sealed, aad []byte) ([]byte, error)
}
