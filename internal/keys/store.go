package keys

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/durable"
)

// nameLayout is a generated key's file: the UTC second from which it signs. Names sort
// by time, survive copies and backups as file times do not, and let replicas agree on
// the next key without talking: who makes the file first has made the key.
const nameLayout = "20060102T150405Z.pem"

// maxPublished bounds what files from elsewhere can add; a schedule that passed
// Validate keeps fewer.
const maxPublished = 50

// store is a directory of generated keys, which replicas may share.
type store struct {
	dir      string
	schedule schedule
	known    map[string]*generated // as last read, by name
}

// openStore makes the directory if it is missing. That is done only here: a directory
// that goes away later is a mount that is gone, and must not become new keys.
func openStore(dir string, s schedule, now time.Time) (*store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make directory of keys: %w", err)
	}
	st := &store{dir: dir, schedule: s}
	st.sweep(now)
	return st, nil
}

// keys are those to publish now, the signing one first. It makes the next one when it
// is time, and removes what has expired. An error beside keys is about others.
func (s *store) keys(now time.Time) ([]*key, error) {
	all, err := s.read()
	if err != nil && all == nil {
		return nil, err
	}
	if from, wanted := s.schedule.next(all, now); wanted {
		if failed := s.make(from); failed != nil {
			err = errors.Join(err, failed)
		} else {
			all, err = s.read()
		}
	}
	publish, expired := s.schedule.arrange(all, now)
	for _, k := range expired {
		// Another replica may have been faster.
		if failed := os.Remove(filepath.Join(s.dir, k.name)); failed != nil && !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, fmt.Errorf("remove expired key: %w", failed))
		}
	}
	var list []*key
	for _, k := range publish[:min(len(publish), maxPublished)] {
		list = append(list, k.key)
	}
	return list, err
}

// read loads all keys, sorted by time; nil without an answer from the directory. A file
// that cannot be read for now, or no more, leaves the key that it held.
func (s *store) read() ([]*generated, error) {
	entries, err := os.ReadDir(s.dir) // sorted by name
	if err != nil {
		return nil, fmt.Errorf("read directory of keys: %w", err)
	}
	all, known := []*generated{}, map[string]*generated{}
	var errs []error
	for _, e := range entries {
		from, err := time.Parse(nameLayout, e.Name())
		if err != nil || from.Format(nameLayout) != e.Name() {
			continue // not made here
		}
		k, err := readFile(filepath.Join(s.dir, e.Name()))
		g := &generated{key: k, name: e.Name(), from: from}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // another replica removed it
		case err != nil && s.known[e.Name()] == nil:
			errs = append(errs, err)
			continue
		case err != nil:
			errs = append(errs, err)
			g = s.known[e.Name()]
		}
		all, known[g.name] = append(all, g), g
	}
	s.known = known
	return all, errors.Join(errs...)
}

// make makes the key that signs from then on, unless somebody has. Nobody ever sees
// half a file: it is written under a name that nobody reads, and then gets its own.
func (s *store) make(from time.Time) error {
	private, err := generators[s.schedule.algorithm]()
	if err != nil {
		return fmt.Errorf("make key: %w", err)
	}
	data, err := encode(private)
	if err != nil {
		return fmt.Errorf("make key: %w", err)
	}
	name := from.UTC().Format(nameLayout)
	if err := createFile(s.dir, name, data); err != nil {
		return fmt.Errorf("make key: %w", err)
	}
	return nil
}

// createFile writes a file under a name that nobody has taken yet; if somebody has,
// that is as good. Mode 0600.
func createFile(dir, name string, data []byte) error {
	tmp, err := os.CreateTemp(dir, "."+name+".*") // made with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // the other name stays
	if err := durable.Write(tmp, data); err != nil {
		return err
	}
	path := filepath.Join(dir, name)
	err = os.Link(tmp.Name(), path) // unlike a rename, fails if the name is taken
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = writeNew(path, data)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	durable.SyncDir(dir)
	return nil
}

// writeNew writes a file where the file system has no links, as SMB. Others may see it
// empty for a moment; they read it again.
func writeNew(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the operator's path
	if err != nil {
		return err
	}
	if err := durable.Write(f, data); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// sweep removes what a gateway left that died while it made a key. What another is
// making now has a time at most an hour back.
func (s *store) sweep(now time.Time) {
	entries, _ := os.ReadDir(s.dir) // read says it
	for _, e := range entries {
		name, ok := strings.CutPrefix(e.Name(), ".")
		if !ok || len(name) < len(nameLayout) {
			continue
		}
		from, err := time.Parse(nameLayout, name[:len(nameLayout)])
		if err == nil && now.Sub(from) > 2*time.Hour {
			_ = os.Remove(filepath.Join(s.dir, e.Name()))
		}
	}
}
