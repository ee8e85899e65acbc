package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
)

// growthKeys is a file of API keys, some of which are in use.
var growthKeys = workload{
	name: "growth-keys", unit: "request", rounds: growthRounds,
	what:    "SendMessage with API keys in turn, at most a thousand of them, by how many are in the file",
	columns: append([]column{cpuColumn}, growthColumns[1:]...),
	growth: &growth{
		of: "keys", sizes: []int{1, 10, 100, 1000, 10_000, 100_000, 1_000_000}, settle: manyKeys,
	},
}

// keysInUse are spread over the file.
const keysInUse = 1000

func manyKeys(st *stage, n int, s *gatewaySettings) (crowd, error) {
	dir, err := os.MkdirTemp(st.dir, "keys-")
	if err != nil {
		return crowd{}, err
	}
	s.keys = filepath.Join(dir, "keys.yaml")
	if err := writeKeys(s.keys, n); err != nil {
		return crowd{}, err
	}
	l, used := &lane{stage: st, subject: gateway}, min(n, keysInUse)
	shots, err := l.callers(used, func(i int) (name, value string, err error) {
		return "X-Api-Key", apiKey(i * (n / used)), nil
	})
	return crowd{each: shots}, err
}

// apiKey is the text of a key, which is no secret here.
func apiKey(i int) string {
	secret := sha256.Sum256(fmt.Appendf(nil, "bench %d", i))
	return fmt.Sprintf("a2a_key-%d_%s", i, base64.RawURLEncoding.EncodeToString(secret[:]))
}

// writeKeys writes the file in the form in which the gateway's own commands do, which is
// read faster than other YAML.
func writeKeys(path string, n int) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(file, 1<<20)
	_, _ = w.WriteString(keyFileBegin)
	for i := range n {
		_, _ = fmt.Fprintf(w, keyEntry, i, sha256.Sum256([]byte(apiKey(i))))
	}
	if err := w.Flush(); err != nil {
		_ = file.Close()
		return err
	}
	return file.Close()
}

// The form that the gateway's commands give a key file.
const (
	keyFileBegin = "# API keys: made and removed with `a2a-gateway keys`, which rewrites the file\n" +
		"# whole; comments are not kept.\n" +
		"# Only hashes are stored; a key is shown once, when it is made.\n" +
		"keys:\n"
	keyEntry = "- id: key-%d\n  subject: user-%[1]d\n  groups:\n  - finance\n  scopes:\n  - billing.read\n  hash: sha256:%[2]x\n"
)
