package redis

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// A value is stored as this byte, then when it expires, in milliseconds of Unix time as 8
// bytes, big-endian, 0 for never, then its data.
const valueForm = 1

const valueHead = 9

// page is how many values one script reads at most.
const page = 256

// Put implements state.Values.
func (s *Store) Put(ctx context.Context, space, key string, data []byte, ttl time.Duration) error {
	if ttl < 0 {
		return s.Delete(ctx, space, key)
	}
	_, err := s.put(ctx, space, key, data, ttl, "put")
	return err
}

// Add implements state.Values.
func (s *Store) Add(ctx context.Context, space, key string, data []byte, ttl time.Duration) (bool, error) {
	if ttl < 0 {
		_, there, err := s.Get(ctx, space, key)
		return !there && err == nil, err
	}
	return s.put(ctx, space, key, data, ttl, "add")
}

// Replace implements state.Values.
func (s *Store) Replace(ctx context.Context, space, key string, data []byte, ttl time.Duration) (bool, error) {
	if ttl < 0 {
		_, there, err := s.Get(ctx, space, key)
		if err == nil && there {
			err = s.Delete(ctx, space, key)
		}
		return there && err == nil, err
	}
	return s.put(ctx, space, key, data, ttl, "replace")
}

func (s *Store) put(ctx context.Context, space, key string, data []byte, ttl time.Duration, how string) (bool, error) {
	var stored int64
	err := s.do(ctx, s.names.tag(space), how+" value", func(ctx context.Context) (err error) {
		stored, err = s.scripts.put.Run(ctx, s.client, s.valueKeys(space, key),
			[]byte{valueForm}, data, key, milliseconds(ttl), how).Int64()
		return err
	})
	return stored == 1, err
}

// Get implements state.Values.
func (s *Store) Get(ctx context.Context, space, key string) ([]byte, bool, error) {
	var stored string
	err := s.do(ctx, s.names.tag(space), "get value", func(ctx context.Context) (err error) {
		stored, err = s.client.Get(ctx, s.names.value(space, key)).Result()
		return known(err)
	})
	if err != nil || stored == "" {
		return nil, false, err
	}
	v, err := decodeValue(stored, space, key)
	return v.Data, err == nil, err
}

// Delete implements state.Values.
func (s *Store) Delete(ctx context.Context, space, key string) error {
	return s.do(ctx, s.names.tag(space), "delete value", func(ctx context.Context) error {
		return s.scripts.remove.Run(ctx, s.client, s.valueKeys(space, key), key).Err()
	})
}

// List implements state.Values. Its time is bounded for each round trip.
func (s *Store) List(ctx context.Context, space, after string, limit int) ([]state.Value, error) {
	var list []state.Value
	for more := true; more && len(list) < limit; {
		var reply []any
		err := s.do(ctx, s.names.tag(space), "list values", func(ctx context.Context) (err error) {
			reply, err = s.scripts.values.Run(ctx, s.client, []string{s.names.values(space), s.names.expiring(space)},
				s.names.value(space, ""), after, min(limit-len(list), page)).Slice()
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(reply) < 2 || len(reply)%2 != 0 {
			return nil, errReply
		}
		more, after = reply[0] == int64(1), text(reply[1])
		for rest := reply[2:]; len(rest) > 0; rest = rest[2:] {
			v, err := decodeValue(text(rest[1]), space, text(rest[0]))
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
	}
	return list, nil
}

func (s *Store) valueKeys(space, key string) []string {
	return []string{s.names.value(space, key), s.names.values(space), s.names.expiring(space)}
}

func decodeValue(stored, space, key string) (state.Value, error) {
	if len(stored) < valueHead || stored[0] != valueForm {
		return state.Value{}, fmt.Errorf("%w: the value of %q in %q", errRecord, key, space)
	}
	v := state.Value{Key: key, Data: []byte(stored[valueHead:])}
	if ms := binary.BigEndian.Uint64([]byte(stored[1:valueHead])); ms != 0 {
		v.Expires = time.UnixMilli(int64(ms)).UTC() //nolint:gosec // as it was written
	}
	return v, nil
}
