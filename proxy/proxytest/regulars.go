package proxytest

import (
	"errors"
	"os"
	"path/filepath"
	"sync"

	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
)

// regulars is the file of API keys that every gateway begins with, and the keys by the ids of
// their callers.
type regulars struct {
	file []byte
	keys map[string]string
}

// makeRegulars makes the keys of alice, bob and mallory, once for all gateways of a package's
// tests: each key that is added to a file is written through to the disk, and there are
// hundreds of gateways.
var makeRegulars = sync.OnceValues(func() (r regulars, err error) {
	dir, err := os.MkdirTemp("", "callers")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "keys.yaml")
	file, err := apikey.Open(path)
	if err != nil {
		return r, err
	}
	r.keys = map[string]string{}
	for _, id := range []string{"alice", "bob", "mallory"} {
		if _, r.keys[id], err = file.Create(apikey.Spec{ID: id}); err != nil {
			return r, err
		}
	}
	r.file, err = os.ReadFile(path) //nolint:gosec // it was made above
	return r, err
})

// admitRegulars writes the file of keys of a gateway of its own, which tests may change.
func (w *Gateway) admitRegulars(path string) {
	w.Helper()
	r, err := makeRegulars()
	Must(w, err)
	Must(w, os.WriteFile(path, r.file, 0o600))
	for id, key := range r.keys {
		w.Keys[id] = key
	}
}
