package redis

import (
	"context"
	_ "embed" // the scripts
	"encoding/binary"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// A value is stored as this byte, then when it expires, in milliseconds of Unix time as 8
// bytes, big-endian, 0 for never, then its data.
const valueForm = 1

const valueHead = 9

// page is how many values one script reads at most.
const page = 256

//go:embed lua/put.lua
var putScript string

//go:embed lua/delete.lua
var removeScript string

//go:embed lua/values.lua
var valuesScript string

// values are the state.Values of the servers.
type values struct {
	servers *servers
	scripts struct{ put, remove, list *redis.Script }
}

// newValues reads the scripts, which are sent to a server when it needs them.
func newValues(on *servers) *values {
	v := &values{servers: on}
	v.scripts.put = redis.NewScript(putScript)
	v.scripts.remove = redis.NewScript(removeScript)
	v.scripts.list = redis.NewScript(valuesScript)
	return v
}

// Put implements state.Values.
func (v *values) Put(ctx context.Context, space, key string, data []byte, ttl time.Duration) error {
	// What has run out before it is stored is a key without a value. Redis would refuse such an expiry.
	if ttl < 0 {
		return v.Delete(ctx, space, key)
	}
	_, err := v.put(ctx, space, key, data, ttl, "put")
	return err
}

// Add implements state.Values.
func (v *values) Add(ctx context.Context, space, key string, data []byte, ttl time.Duration) (bool, error) {
	// It would be stored and be gone at once: only whether there was something else is to be said.
	if ttl < 0 {
		_, there, err := v.Get(ctx, space, key)
		return !there && err == nil, err
	}
	return v.put(ctx, space, key, data, ttl, "add")
}

// Replace implements state.Values.
func (v *values) Replace(ctx context.Context, space, key string, data []byte, ttl time.Duration) (bool, error) {
	if ttl < 0 {
		_, there, err := v.Get(ctx, space, key)
		if err == nil && there {
			err = v.Delete(ctx, space, key)
		}
		return there && err == nil, err
	}
	return v.put(ctx, space, key, data, ttl, "replace")
}

// put runs the script of all three ways to store: "put" always does, "add" where there is nothing,
// "replace" where there is something. It says whether it did.
func (v *values) put(ctx context.Context, space, key string, data []byte, ttl time.Duration, how string) (bool, error) {
	var stored int64
	err := v.servers.do(ctx, v.servers.names.tag(space), how+" value", func(ctx context.Context) (err error) {
		stored, err = v.scripts.put.Run(ctx, v.servers.client, v.keys(space, key),
			[]byte{valueForm}, data, key, milliseconds(ttl), how).Int64()
		return err
	})
	return stored == 1, err
}

// Get implements state.Values.
func (v *values) Get(ctx context.Context, space, key string) ([]byte, bool, error) {
	var stored string
	err := v.servers.do(ctx, v.servers.names.tag(space), "get value", func(ctx context.Context) (err error) {
		stored, err = v.servers.client.Get(ctx, v.servers.names.value(space, key)).Result()
		return known(err)
	})
	if err != nil || stored == "" {
		return nil, false, err
	}
	found, err := decodeValue(stored, space, key)
	return found.Data, err == nil, err
}

// Delete implements state.Values.
func (v *values) Delete(ctx context.Context, space, key string) error {
	return v.servers.do(ctx, v.servers.names.tag(space), "delete value", func(ctx context.Context) error {
		return v.scripts.remove.Run(ctx, v.servers.client, v.keys(space, key), key).Err()
	})
}

// List implements state.Values. Its time is bounded for each round trip.
func (v *values) List(ctx context.Context, space, after string, limit int) ([]state.Value, error) {
	var list []state.Value
	// A script stops everything else on its server while it runs. Pages bound that, and a list may
	// show what comes and goes between two of them.
	for more := true; more && len(list) < limit; {
		var reply []any
		err := v.servers.do(ctx, v.servers.names.tag(space), "list values", func(ctx context.Context) (err error) {
			reply, err = v.scripts.list.Run(ctx, v.servers.client, []string{v.servers.names.values(space), v.servers.names.expiring(space)},
				v.servers.names.value(space, ""), after, min(limit-len(list), page)).Slice()
			return err
		})
		if err != nil {
			return nil, err
		}
		// The reply: whether there is more, the last key that was looked at, then key and value of each.
		if len(reply) < 2 || len(reply)%2 != 0 {
			return nil, errReply
		}
		more, after = reply[0] == int64(1), text(reply[1])
		for rest := reply[2:]; len(rest) > 0; rest = rest[2:] {
			found, err := decodeValue(text(rest[1]), space, text(rest[0]))
			if err != nil {
				return nil, err
			}
			list = append(list, found)
		}
	}
	return list, nil
}

// keys are those of a value and of the two indexes of its space, which share its hash tag: a script
// in a cluster may touch one slot only.
func (v *values) keys(space, key string) []string {
	return []string{v.servers.names.value(space, key), v.servers.names.values(space), v.servers.names.expiring(space)}
}

// decodeValue reads what the script has stored: form, expiry, data.
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
