package apikey

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Rotate replaces a key by a new one with the same subject, groups, scopes, agents,
// tenant and owner, and for as long a life as the old one was given. The old one is
// accepted for overlap longer, but never longer than before, so that whoever uses it
// can change over without a gap. The new key's text is not stored and cannot be shown
// again. The error wraps fs.ErrNotExist when there is no key of that id; one that has
// expired or been replaced already is not rotated.
func (k *File) Rotate(id string, overlap time.Duration) (newID, key string, err error) {
	if overlap < 0 {
		return "", "", fmt.Errorf("rotate key %q: overlap %s is less than 0", id, overlap)
	}
	err = k.change(func(all []keyRecord) ([]keyRecord, error) {
		i := slices.IndexFunc(all, func(r keyRecord) bool { return r.ID == id })
		if i < 0 {
			return nil, fs.ErrNotExist
		}
		now := time.Now().UTC().Truncate(time.Second)
		old := &all[i]
		if err := old.rotatable(all, now); err != nil {
			return nil, err
		}
		next := old.successor(all, now)
		key = mintKey(next.ID)
		next.Hash = hashKey(key)
		newID, old.ReplacedBy = next.ID, next.ID
		// The life of the old key is only ever made shorter.
		if end := now.Add(overlap); old.Expires.IsZero() || end.Before(old.Expires) {
			old.Expires = end
		}
		return append(all, next), nil
	})
	if err != nil {
		return "", "", fmt.Errorf("rotate key %q: %w", id, err)
	}
	return newID, key, nil
}

// rotatable says why a key cannot be rotated.
func (r *keyRecord) rotatable(all []keyRecord, now time.Time) error {
	if r.ReplacedBy != "" && holds(all, r.ReplacedBy) {
		return fmt.Errorf("it has been replaced by %q", r.ReplacedBy)
	}
	if !r.Expires.IsZero() && !r.Expires.After(now) {
		return errors.New("it has expired")
	}
	return nil
}

// successor is the record of the key that replaces r, without its hash.
func (r *keyRecord) successor(all []keyRecord, now time.Time) keyRecord {
	next := keyRecord{Spec: r.Spec}
	next.ID, next.ReplacedBy, next.Created = nextID(r.ID, all), "", now
	if next.Subject == "" {
		next.Subject = r.ID
	}
	// The life of a key whose age is not known is not made longer; nor is that of one
	// which a rotation before has cut short.
	if !r.Created.IsZero() && r.Expires.After(r.Created) && r.ReplacedBy == "" {
		next.Expires = now.Add(r.Expires.Sub(r.Created))
	}
	return next
}

// nextID counts: alice, alice.2, alice.3. An id without room for a number is followed
// by a random one.
// Ids of one family show which key follows which in logs.
func nextID(id string, all []keyRecord) string {
	base, n := id, 1
	if at := strings.LastIndexByte(id, '.'); at > 0 {
		if was, err := strconv.Atoi(id[at+1:]); err == nil && was >= 2 && was < 1e6 {
			base, n = id[:at], was
		}
	}
	for {
		n++
		next := base + "." + strconv.Itoa(n)
		if len(next) > maxID {
			return randomID()
		}
		if !holds(all, next) {
			return next
		}
	}
}

// holds reports whether a key of that id is in the file.
func holds(all []keyRecord, id string) bool {
	return slices.ContainsFunc(all, func(r keyRecord) bool { return r.ID == id })
}
