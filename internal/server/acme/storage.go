//go:build !minimal

package acme

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/caddyserver/certmagic"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// Spaces of the state.
const (
	fileSpace = "acme"       // accounts, certificates and keys, and checks under way
	lockSpace = "acme-locks" // who is at work on what
)

// page is how many values are listed at once.
const page = 100

// storage is the state as certmagic wants to see it: files, and locks (see lock.go). The
// values it is given are sealed ones, for there are keys among them.
type storage struct {
	values state.Values
	locks
}

var _ certmagic.Storage = (*storage)(nil)

// newStorage puts files and locks into the spaces of v.
func newStorage(v state.Values) *storage {
	return &storage{values: v, locks: locks{values: v, held: map[string]*hold{}}}
}

// A file's data begins with its time.
const stamp = 8

// Store implements certmagic.Storage.
func (s *storage) Store(ctx context.Context, key string, value []byte) error {
	data := binary.BigEndian.AppendUint64(make([]byte, 0, stamp+len(value)), uint64(time.Now().UnixNano())) // after 1970
	if err := s.values.Put(ctx, fileSpace, key, append(data, value...), 0); err != nil {
		return fmt.Errorf("store %s: %w", key, err)
	}
	return nil
}

// Load implements certmagic.Storage.
func (s *storage) Load(ctx context.Context, key string) ([]byte, error) {
	_, value, err := s.read(ctx, key)
	return value, err
}

// read returns a file and its time, or fs.ErrNotExist.
func (s *storage) read(ctx context.Context, key string) (time.Time, []byte, error) {
	data, ok, err := s.values.Get(ctx, fileSpace, key)
	switch {
	case err != nil:
		return time.Time{}, nil, fmt.Errorf("load %s: %w", key, err)
	case !ok:
		return time.Time{}, nil, fmt.Errorf("load %s: %w", key, fs.ErrNotExist)
	// Storage that others can write to: nothing is taken for granted.
	case len(data) < stamp:
		return time.Time{}, nil, fmt.Errorf("load %s: it is cut off", key)
	}
	nanos := int64(binary.BigEndian.Uint64(data)) //nolint:gosec // Store has written it
	return time.Unix(0, nanos), data[stamp:], nil
}

// Delete implements certmagic.Storage: of a directory, all that is in it goes.
func (s *storage) Delete(ctx context.Context, key string) error {
	errs := []error{s.values.Delete(ctx, fileSpace, key)}
	for below, err := range s.below(ctx, key) {
		if err == nil {
			err = s.values.Delete(ctx, fileSpace, below)
		}
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("delete %s: %w", key, err)
	}
	return nil
}

// Exists implements certmagic.Storage. What cannot be told is not there, says its
// contract; an order that follows fails for the same reason, before the CA hears of it.
func (s *storage) Exists(ctx context.Context, key string) bool {
	_, ok, err := s.values.Get(ctx, fileSpace, key)
	if err != nil || ok {
		return ok && err == nil
	}
	for _, err := range s.below(ctx, key) {
		return err == nil
	}
	return false
}

// List implements certmagic.Storage.
func (s *storage) List(ctx context.Context, path string, recursive bool) ([]string, error) {
	var keys []string
	for key, err := range s.below(ctx, path) {
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", path, err)
		}
		if !recursive {
			first, _, _ := strings.Cut(key[len(directory(path)):], "/")
			key = directory(path) + first
		}
		if len(keys) == 0 || keys[len(keys)-1] != key {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("list %s: %w", path, fs.ErrNotExist)
	}
	return keys, nil
}

// directory is what the keys of all that is in a directory begin with.
func directory(path string) string {
	if path = strings.Trim(path, "/"); path == "" {
		return ""
	}
	return path + "/"
}

// below goes through the keys in a directory, in order, and ends with the first error.
func (s *storage) below(ctx context.Context, path string) func(yield func(string, error) bool) {
	prefix := directory(path)
	return func(yield func(string, error) bool) {
		// Keys are listed in the order of their bytes, so that all of a directory stand together.
		for after := prefix; ; {
			list, err := s.values.List(ctx, fileSpace, after, page)
			if err != nil {
				yield("", err)
				return
			}
			for _, v := range list {
				if !strings.HasPrefix(v.Key, prefix) || !yield(v.Key, nil) {
					return
				}
				after = v.Key
			}
			if len(list) < page {
				return
			}
		}
	}
}

// Stat implements certmagic.Storage.
func (s *storage) Stat(ctx context.Context, key string) (certmagic.KeyInfo, error) {
	at, value, err := s.read(ctx, key)
	if errors.Is(err, fs.ErrNotExist) && s.Exists(ctx, key) {
		return certmagic.KeyInfo{Key: key}, nil // a directory
	}
	if err != nil {
		return certmagic.KeyInfo{}, err
	}
	return certmagic.KeyInfo{Key: key, Modified: at, Size: int64(len(value)), IsTerminal: true}, nil
}
