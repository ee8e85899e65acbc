package apikey

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/yamlerror"
)

// Spec describes an API key; it holds nothing secret.
type Spec struct {
	// ID names the key and stands in its text: up to 64 letters, digits, hyphens,
	// underscores and dots. Default: eight random letters and digits.
	ID string `yaml:"id" json:"id"`
	// Subject is who calls with the key; several keys may share one, which is how a
	// key is rotated without a gap. Default: the id.
	Subject string `yaml:"subject,omitempty" json:"subject,omitempty"`
	// Groups and Scopes are given to the principal for the policy to judge.
	Groups []string `yaml:"groups,omitempty" json:"groups,omitempty"`
	Scopes []string `yaml:"scopes,omitempty" json:"scopes,omitempty"`
	// Agents binds the key: it is good for these agents only, whatever the policy
	// says. Absent means any agent; a list that is there but empty means none.
	Agents []string `yaml:"agents,omitempty" json:"agents,omitempty"`
	// Tenant is the principal's tenant.
	Tenant string `yaml:"tenant,omitempty" json:"tenant,omitempty"`
	// Owner is the person or team who answers for the key; it is written to records and
	// gives no right.
	Owner string `yaml:"owner,omitempty" json:"owner,omitempty"`
	// Created is when the key was made.
	Created time.Time `yaml:"created,omitempty" json:"created,omitzero"`
	// Expires ends the key, in whole seconds. Absent means never.
	Expires time.Time `yaml:"expires,omitempty" json:"expires,omitzero"`
	// ReplacedBy is the id of the key that Rotate made in place of this one.
	ReplacedBy string `yaml:"replacedBy,omitempty" json:"replacedBy,omitempty"`
}

// File edits a file of API keys. It may be used while gateways read the file and
// while other processes edit it: every change is made under a lock and put in
// place whole. Comments in the file are not kept.
type File struct {
	path string
}

// Open checks that the file at path can be read as keys. A missing file is an
// empty one and is made by the first Create.
// The table is built for its checks: ids that are there twice, records that are not valid.
func Open(path string) (*File, error) {
	records, err := readKeys(path)
	if err != nil {
		return nil, err
	}
	if _, err := newKeyTable(records); err != nil {
		return nil, fmt.Errorf("read keys %s: %w", path, err)
	}
	return &File{path: path}, nil
}

// Create adds a key and returns its id and its text. The text is not stored and
// cannot be shown again; running gateways accept it within about a second.
func (k *File) Create(spec Spec) (id, key string, err error) {
	if spec.ID == "" {
		spec.ID = randomID()
	}
	if spec.Subject == "" {
		spec.Subject = spec.ID
	}
	// Times are whole seconds, as in the compact form that gateways keep.
	now := time.Now().UTC().Truncate(time.Second)
	spec.Expires = spec.Expires.UTC().Truncate(time.Second)
	if spec.Created.IsZero() {
		spec.Created = now
	}
	if !spec.Expires.IsZero() && !spec.Expires.After(now) {
		return "", "", fmt.Errorf("create key %q: expiry %s has passed", spec.ID, spec.Expires.Format(time.RFC3339))
	}
	// An empty list would make a key that is good for no agent, which nobody asks for by leaving
	// it out.
	if len(spec.Agents) == 0 {
		spec.Agents = nil
	}
	key = mintKey(spec.ID)
	r := keyRecord{Spec: spec, Hash: hashKey(key)}
	err = k.change(func(all []keyRecord) ([]keyRecord, error) { return append(all, r), nil })
	if err != nil {
		return "", "", fmt.Errorf("create key: %w", err)
	}
	return spec.ID, key, nil
}

// List returns the keys in the order of the file, without anything secret.
func (k *File) List() ([]Spec, error) {
	records, err := readKeys(k.path)
	if err != nil {
		return nil, err
	}
	specs := make([]Spec, len(records))
	for i := range records {
		specs[i] = records[i].Spec
	}
	return specs, nil
}

// Revoke removes a key. Running gateways refuse it within about a second. The
// error wraps fs.ErrNotExist when there is no key of that id.
func (k *File) Revoke(id string) error {
	err := k.change(func(all []keyRecord) ([]keyRecord, error) {
		for i := range all {
			if all[i].ID == id {
				return append(all[:i], all[i+1:]...), nil
			}
		}
		return nil, fs.ErrNotExist
	})
	if err != nil {
		return fmt.Errorf("revoke key %q: %w", id, err)
	}
	return nil
}

// change edits the file under its lock. The result is checked as a gateway would
// read it, so that no edit leaves a file that running gateways turn down.
// Everything from reading to writing happens under the lock: of two edits at the same moment none
// is lost.
func (k *File) change(edit func([]keyRecord) ([]keyRecord, error)) error {
	// The lock stands beside the real file, so that two links to it are one lock.
	path, err := resolve(k.path)
	if err != nil {
		return err
	}
	unlock, err := lockFile(path)
	if err != nil {
		return err
	}
	defer unlock()
	records, err := readKeys(path)
	if err != nil {
		return err
	}
	if records, err = edit(records); err != nil {
		return err
	}
	if _, err := newKeyTable(records); err != nil {
		return err
	}
	return writeKeys(path, records)
}

// keyRecord is one entry of the file.
type keyRecord struct {
	Spec `yaml:",inline"`
	// SHA-256 of the whole key.
	Hash keyHash `yaml:"hash"`
}

// validate repeats what Create guarantees, since people edit the file by hand.
func (r *keyRecord) validate() error {
	switch {
	case !validID(r.ID):
		return fmt.Errorf("key id %.80q is not 1 to %d letters, digits, hyphens, underscores and dots", r.ID, maxID)
	case r.Hash == keyHash{}:
		return fmt.Errorf("key %q has no hash", r.ID)
	case !printable(r.Subject), !printable(r.Tenant), !printable(r.Owner):
		return fmt.Errorf("key %q: subject, tenant and owner are at most %d printable bytes", r.ID, authn.MaxName)
	case r.ReplacedBy != "" && !validID(r.ReplacedBy):
		return fmt.Errorf("key %q: replacedBy is no key id", r.ID)
	}
	for _, list := range [][]string{r.Groups, r.Scopes, r.Agents} {
		if slices.ContainsFunc(list, func(s string) bool { return !printable(s) }) {
			return fmt.Errorf("key %q: a group, scope and agent is at most %d printable bytes", r.ID, authn.MaxName)
		}
	}
	return nil
}

// keyHash is written as sha256:<64 hex digits>.
type keyHash [sha256.Size]byte

// MarshalText implements encoding.TextMarshaler.
func (h keyHash) MarshalText() ([]byte, error) {
	return []byte("sha256:" + hex.EncodeToString(h[:])), nil
}

// UnmarshalText implements encoding.TextUnmarshaler. The text is not repeated in
// errors: someone may have put a key where its hash belongs.
func (h *keyHash) UnmarshalText(text []byte) error {
	digits, ok := strings.CutPrefix(string(text), "sha256:")
	if !ok || len(digits) != 2*len(h) {
		return errors.New("hash is not sha256: and 64 hex digits")
	}
	if _, err := hex.Decode(h[:], []byte(digits)); err != nil {
		return errors.New("hash is not sha256: and 64 hex digits")
	}
	return nil
}

// keyDocument is the file.
type keyDocument struct {
	Keys []keyRecord `yaml:"keys"`
}

// readKeys reads a file strictly; a missing one is empty.
// The fast reader is tried first; the YAML library reads whatever it does not know.
func readKeys(path string) ([]keyRecord, error) {
	doc, err := os.ReadFile(path) //nolint:gosec // the operator's path
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	records, ok := parseWritten(string(doc))
	if ok {
		return records, nil
	}
	records, err = parseKeyFile(doc)
	if err != nil {
		return nil, fmt.Errorf("read keys %s: %w", path, err)
	}
	return records, nil
}

// parseKeyFile reads one YAML document without unknown or repeated names. Nothing
// but blanks and comments is an empty file.
func parseKeyFile(doc []byte) ([]keyRecord, error) {
	l, err := yaml.NewLoader(bytes.NewReader(doc), yaml.WithKnownFields(true), yaml.WithUniqueKeys(true))
	if err != nil {
		return nil, err
	}
	var d keyDocument
	if err := l.Load(&d); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		return nil, misread(doc, err)
	}
	// Keys of a second document would be in no table, although the file has them.
	if err := l.Load(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one document")
	}
	return d.Keys, nil
}

// misread is an error of the YAML library with the lines that it is about, all in one line.
func misread(doc []byte, err error) error {
	err = yamlerror.In(doc, err)
	var many *yaml.LoadErrors
	var one *yaml.LoadError
	switch {
	case errors.As(err, &many):
		var said []string
		for _, e := range many.Errors {
			said = append(said, fmt.Sprintf("line %d: %s", e.Mark.Line, e.Message))
		}
		return errors.New(strings.Join(said, "; "))
	case errors.As(err, &one):
		return fmt.Errorf("line %d: %s", one.Mark.Line, one.Message)
	}
	return err
}

// printable admits what may stand in logs and records.
// Control characters could end a line of a log and begin a false one.
func printable(s string) bool {
	return len(s) <= authn.MaxName && utf8.ValidString(s) &&
		!strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}
