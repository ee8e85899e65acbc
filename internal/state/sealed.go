package state

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"
)

// Sealed is v with the data of its values sealed by c, for what must not be read by
// whoever sees the store's file or network. What somebody has changed there, or moved
// to another space or key, is an error, as is what another key has sealed. Spaces, keys,
// sizes and times are not hidden, and who can write to the store can bring back what a
// key held before.
func Sealed(v Values, c Cipher) Values { return sealed{v, c} }

type sealed struct {
	values Values
	cipher Cipher
}

// Put implements Values.
func (s sealed) Put(ctx context.Context, space, key string, data []byte, ttl time.Duration) error {
	return s.values.Put(ctx, space, key, s.cipher.Seal(data, place(space, key)), ttl)
}

// Add implements Values.
func (s sealed) Add(ctx context.Context, space, key string, data []byte, ttl time.Duration) (bool, error) {
	return s.values.Add(ctx, space, key, s.cipher.Seal(data, place(space, key)), ttl)
}

// Replace implements Values.
func (s sealed) Replace(ctx context.Context, space, key string, data []byte, ttl time.Duration) (bool, error) {
	return s.values.Replace(ctx, space, key, s.cipher.Seal(data, place(space, key)), ttl)
}

// Get implements Values.
func (s sealed) Get(ctx context.Context, space, key string) ([]byte, bool, error) {
	data, ok, err := s.values.Get(ctx, space, key)
	if err != nil || !ok {
		return nil, false, err
	}
	if data, err = s.open(space, key, data); err != nil {
		return nil, false, err
	}
	return data, true, nil
}

// Delete implements Values.
func (s sealed) Delete(ctx context.Context, space, key string) error {
	return s.values.Delete(ctx, space, key)
}

// List implements Values. One value that does not open fails the list: leaving it out
// would hide, say, a revocation.
func (s sealed) List(ctx context.Context, space, after string, limit int) ([]Value, error) {
	list, err := s.values.List(ctx, space, after, limit)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].Data, err = s.open(space, list[i].Key, list[i].Data); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// open does not say which key it is: keys may be secrets too.
func (s sealed) open(space, key string, data []byte) ([]byte, error) {
	plain, err := s.cipher.Open(data, place(space, key))
	if err != nil {
		return nil, fmt.Errorf("state: a value of %q was changed, or sealed with another key: %w", space, err)
	}
	return plain, nil
}

// place ties data to where it lies. The space is length-prefixed, so that no choice of
// space and key makes the place of another pair.
func place(space, key string) []byte {
	aad := binary.AppendUvarint(make([]byte, 0, len(space)+len(key)+2), uint64(len(space)))
	return append(append(aad, space...), key...)
}
