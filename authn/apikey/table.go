package apikey

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
)

// maxBuilt is how many principals of API keys a table holds ready, about 10 MiB of
// them. They are made when their key is first used; of keys that were made and
// never came back, of which there may be any number, only the compact form is kept.
const maxBuilt = 1 << 14

// keyTable is an immutable snapshot of the key file, ready to verify. A key costs it
// some 200 bytes.
// A table is made when the file changes and never changed, but for the times of use and the
// principals that it holds ready.
type keyTable struct {
	index map[uint64]uint32 // into keys, by the beginning of their hash
	keys  []storedKey
	none  storedKey                         // compared with when there is no such key; its hash fits nothing
	built []atomic.Pointer[authn.Principal] // by index, modulo its length, a power of two
	order func() []uint32                   // indexes by the bytes of the ids; made when somebody looks
}

// storedKey is what is kept of a key: enough to recognise it, nothing to present.
type storedKey struct {
	// The hash is the whole of the key's secret here: the text of a key is nowhere.
	hash    [sha256.Size]byte
	expires int64         // in seconds since 1970, or never
	text    string        // the principal, as keyText makes it; a part of one string for all keys
	used    atomic.Uint32 // last use in seconds since 1970 (until 2106); 0: not known
	created uint32        // likewise
}

// never is later than every time.
const never = math.MaxInt64

// newKeyTable indexes records.
func newKeyTable(records []keyRecord) (*keyTable, error) {
	t := &keyTable{index: make(map[uint64]uint32, len(records)), keys: make([]storedKey, len(records))}
	// A hash that nobody knows the key of; only its being compared matters.
	_, _ = rand.Read(t.none.hash[:]) // never fails
	var all strings.Builder
	ends, ids := make([]int, len(records)), make(map[string]struct{}, len(records))
	for i := range records {
		r := &records[i]
		if err := r.validate(); err != nil {
			return nil, err
		}
		// The set has grown by one for each id so far unless this one was in it.
		if ids[r.ID] = struct{}{}; len(ids) == i {
			return nil, fmt.Errorf("key %q is listed twice", r.ID)
		}
		all.Write(r.text())
		ends[i] = all.Len()
	}
	start := 0
	for i := range records {
		k, r := &t.keys[i], &records[i]
		k.hash, k.expires, k.created, k.text = r.Hash, r.ends(), r.made(), all.String()[start:ends[i]]
		start = ends[i]
		if other, twice := t.index[beginning(&k.hash)]; twice {
			return nil, fmt.Errorf("keys %q and %q have hashes that begin alike", records[other].ID, r.ID)
		}
		t.index[beginning(&k.hash)] = uint32(i) // a file of 2^32 keys cannot be read
	}
	slots := 1 << bits.Len(uint(max(len(records)-1, 0)))
	t.built = make([]atomic.Pointer[authn.Principal], min(slots, maxBuilt))
	t.order = sync.OnceValue(t.sort)
	return t, nil
}

// beginning is what hashes are looked up by; two keys never share it.
func beginning(hash *[sha256.Size]byte) uint64 { return binary.BigEndian.Uint64(hash[:]) }

// verify finds the key that a text belongs to; nil with the fault otherwise. Keys are
// looked up by their hash and not by their id: a wrong secret of a known id and an
// unknown id are then the same to the lookup, and time does not tell which ids exist.
func (t *keyTable) verify(key string, now time.Time) (index uint32, f authn.Fault) {
	id, ok := splitKey(key)
	if !ok {
		return 0, authn.FaultMalformed
	}
	sum := hashKey(key)
	k := &t.none
	index, found := t.index[beginning(&sum)]
	if found {
		k = &t.keys[index]
	}
	match := subtle.ConstantTimeCompare(sum[:], k.hash[:]) == 1
	// A record with another one's hash, which only a hand can have made, is no key.
	if !match || !found || k.id() != id {
		return 0, faultAPIKey
	}
	if k.expired(now) {
		return 0, faultKeyExpired
	}
	return index, ""
}

// The second in which a key ends is no longer one of its life.
func (k *storedKey) expired(now time.Time) bool { return now.Unix() >= k.expires }

// touch notes a use of the key at a time, and reports whether that was news. Most calls
// find the second noted already and write nothing, so that the processors do not fight
// over the line.
func (k *storedKey) touch(at uint32) bool {
	for {
		was := k.used.Load()
		if at <= was {
			return false
		}
		if k.used.CompareAndSwap(was, at) {
			return true
		}
	}
}

// principal is the caller that the key at index stands for, presented in the header
// carrier. Usually it is there from an earlier call.
func (t *keyTable) principal(index uint32, carrier string) *authn.Principal {
	slot := &t.built[int(index)&(len(t.built)-1)]
	k := &t.keys[index]
	if p := slot.Load(); p != nil && p.Hash() == k.hash && p.Carrier == carrier {
		return p
	}
	// Two calls at once may both make it; both are the same, and one stays.
	p := k.principal()
	p.Carrier = carrier
	slot.Store(p)
	return p
}

// stands reports whether a principal of an API key, maybe of an earlier table, is what
// its key stands for now: the key is there, with the same secret and the same rights.
func (t *keyTable) stands(p *authn.Principal, now time.Time) authn.Fault {
	hash := p.Hash()
	index, found := t.index[beginning(&hash)]
	if !found || t.keys[index].hash != hash || t.keys[index].id() != p.KeyID {
		return faultAPIKey
	}
	k := &t.keys[index]
	if k.expired(now) {
		return faultKeyExpired
	}
	if !sameRights(t.principal(index, p.Carrier), p) {
		return faultAPIKey
	}
	return ""
}

// sameRights compares all of a key that a policy can look at.
func sameRights(a, b *authn.Principal) bool {
	return a.Subject == b.Subject && a.Tenant == b.Tenant && slices.Equal(a.Groups, b.Groups) &&
		slices.Equal(a.Scopes, b.Scopes) && slices.Equal(a.Agents, b.Agents) &&
		(a.Agents == nil) == (b.Agents == nil)
}
