package vault

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"
)

// ErrChanged is about content that is there and is not what was kept, or cannot be told.
var ErrChanged = errors.New("content is not what was kept")

// Shelf holds what there is against what records say of it, while a gateway may be writing
// there. Without a sealer of its Reader it looks only whether content and key are there.
// Its methods may be called from many goroutines.
// A verification asks it for each record that names content, in the order of the log, so that keys
// of a few files at a time are enough.
type Shelf struct {
	Reader

	mu   sync.Mutex
	keys map[name]*bunch
}

// bunch is the keys of one file, as they were when they were read, with what tells whether that is
// still so: opening the keys of a file again for each record would be most of a verification.
type bunch struct {
	size  int64
	moved time.Time
	keys  map[[keyID]byte]*opened // nil for one that was not, or cannot be, opened
}

// mostBunches are how many files' keys are kept at hand: records come in order.
const mostBunches = 8

// Check compares content with its record. It opens the file anew each time: retention may remove it
// between two records.
//
// It returns nil for content that is there and, if keys can be opened, has this digest;
// an error that is ErrErased or ErrAbsent for what is not there, and ErrChanged for what is
// not what was kept.
func (s *Shelf) Check(id, digest string) error {
	n, at, ok := parseID(id)
	if !ok {
		return ErrAbsent
	}
	f, err := os.Open(n.path(s.Dir, dataForm))
	if errors.Is(err, fs.ErrNotExist) {
		return ErrErased
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read from
	info, err := f.Stat()
	if err != nil {
		return err
	}
	one, err := readFrame(f, n, at, info.Size(), func([keyID]byte) bool { return s.Sealer != nil })
	switch {
	case errors.Is(err, io.EOF):
		return ErrAbsent
	case err != nil:
		return fmt.Errorf("%w: where it was there is something else", ErrChanged)
	}
	b, err := s.bunch(n, one.key)
	switch {
	case err != nil:
		return err
	case !b.has(one.key):
		return ErrErased
	case s.Sealer == nil:
		return nil
	case b.keys[one.key] == nil:
		return fmt.Errorf("%w: its key is sealed by one that is not there (keys.sealing), or was changed", ErrChanged)
	}
	item, err := one.open(b.keys)
	if err != nil || item.Digest != digest {
		return fmt.Errorf("%w: its digest is another", ErrChanged)
	}
	return nil
}

// has reports whether there is a key, which need not be opened for that: an auditor who has no keys
// can tell erased content from content that is there.
func (b *bunch) has(key [keyID]byte) bool {
	_, ok := b.keys[key]
	return ok
}

// bunch finds the keys of a file, of which one is looked for: it may have come meanwhile.
func (s *Shelf) bunch(n name, key [keyID]byte) (*bunch, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.keys[n]
	if b != nil && b.has(key) {
		return b, nil
	}
	fresh := &bunch{}
	switch info, err := os.Stat(n.path(s.Dir, keysForm)); {
	case err == nil:
		fresh.size, fresh.moved = info.Size(), info.ModTime()
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	// Keys are only appended and overwritten in place, which changes size or time of the file.
	if b != nil && b.size == fresh.size && b.moved.Equal(fresh.moved) {
		return b, nil
	}
	if err := s.open(n, fresh); err != nil {
		return nil, err
	}
	if s.keys == nil || len(s.keys) >= mostBunches {
		s.keys = map[name]*bunch{}
	}
	s.keys[n] = fresh
	return fresh, nil
}

// open reads the keys of a file; without a sealer, which there are. One that does not open is there
// all the same: that it was destroyed would be another thing to say of it.
func (s *Shelf) open(n name, b *bunch) error {
	lines, err := keyLines(s.Dir, n)
	if err != nil {
		return err
	}
	b.keys = make(map[[keyID]byte]*opened, len(lines))
	for _, line := range lines {
		id, ok := line.id()
		if line.destroyed() || !ok {
			continue
		}
		b.keys[id] = nil
		if s.Sealer == nil {
			continue
		}
		if o, err := line.open(n, s.Sealer); err == nil {
			b.keys[id] = o
		}
	}
	return nil
}
