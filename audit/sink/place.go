package sink

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"
)

// place is how far a sink has come, as it is kept beside the segments.
// It looks like this:
//
//	{"log":"TQ5XBT4XFQ2VJ3M6HKGQLXM3AU","cursor":{"segment":"audit-2026-11-22.jsonl","offset":512,"seq":3,"hash":"…"}}
type place struct {
	// Log is a name that was made up for the directory when the sink began with it. A
	// directory that is made anew has another, although its records have the same numbers.
	Log    string        `json:"log"`
	Cursor reader.Cursor `json:"cursor"`
}

// The name was checked by Check: letters, digits, - and _ only, so that it leads to no other
// directory.
func placePath(dir, name string) string { return filepath.Join(dir, "sink-"+name+".json") }

// readPlace returns what is kept, and fs.ErrNotExist where there is nothing.
// A file that is damaged is an error and not a new beginning, which would send every record again.
func readPlace(path string) (p place, err error) {
	text, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return p, err
	}
	if err = json.Unmarshal(text, &p); err == nil && p.Log == "" {
		err = errors.New("log is missing")
	}
	if err != nil {
		return place{}, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// openPlace returns what is kept, or a new beginning that is then kept.
func openPlace(path string) (place, error) {
	p, err := readPlace(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return p, err
	}
	p = place{Log: rand.Text()}
	return p, p.keep(path)
}

// keep replaces the file. It is on the disk before it has its name, so that a loss of
// power leaves the old one or this one.
func (p place) keep(path string) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600) //nolint:gosec // in the log's directory
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// Holds returns what tells, of a segment in a directory, whether one of the sinks may
// not have all its records yet. It looks when it is called, and needs no open sinks.
// What cannot be told counts as needed.
func Holds(dir string, sinks []Config) func(segment string) bool {
	return func(segment string) bool {
		for _, c := range sinks {
			p, err := readPlace(placePath(dir, c.name()))
			if err != nil || p.Cursor.Needs(segment) {
				return true
			}
		}
		return false
	}
}
