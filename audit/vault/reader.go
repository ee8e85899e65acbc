package vault

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"

	"github.com/go-json-experiment/json"
)

// Reader reads content, while a gateway may be writing there.
// Without a Sealer nothing can be opened; whether there is content can be told all the same.
type Reader struct {
	Dir    string
	Sealer Sealer
}

// frame is one frame of a file.
type frame struct {
	id     string
	key    [keyID]byte
	sealed []byte // nil for one that is not wanted
	size   int64  // of sealed
}

// Item finds content by its id.
// ErrErased is also the answer where all of a file is gone: retention removes pairs without keys.
func (r Reader) Item(id string) (Item, error) {
	n, at, ok := parseID(id)
	if !ok {
		return Item{}, ErrAbsent
	}
	f, err := os.Open(n.path(r.Dir, dataForm))
	if errors.Is(err, fs.ErrNotExist) {
		return Item{}, ErrErased // or never there, which nobody can tell any more
	}
	if err != nil {
		return Item{}, err
	}
	defer func() { _ = f.Close() }() // only read from
	info, err := f.Stat()
	if err != nil {
		return Item{}, err
	}
	// An id that leads into the middle of a frame reads a made-up length; opening it fails then.
	one, err := readFrame(f, n, at, info.Size(), nil)
	if err != nil {
		return Item{}, ErrAbsent
	}
	keys, err := r.keys(n)
	if err != nil {
		return Item{}, err
	}
	return one.open(keys)
}

// Any reports whether there are files of content. Where there is none, a verification need not ask
// for keys, which an auditor's machine may not have.
func (r Reader) Any() bool {
	names, err := list(r.Dir)
	return err == nil && len(names) > 0
}

// Items are all that can be read, the oldest first. An error about one file does not keep
// those after it away.
func (r Reader) Items() iter.Seq2[Item, error] {
	return r.items(func(drawer) bool { return true }, func(name) int64 { return 0 })
}

// items are those in the drawers that are meant, in each file from an offset on, at which
// nothing of it is read if it is the largest. Which drawers are meant is known from their keys, so
// that the content of others is not even read.
func (r Reader) items(meant func(drawer) bool, from func(name) int64) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		names, err := list(r.Dir)
		if err != nil {
			yield(Item{}, err)
			return
		}
		for _, n := range names {
			begin := from(n)
			if begin == math.MaxInt64 {
				continue
			}
			keys, err := r.keys(n)
			// One key that cannot be opened keeps its own content away and no other.
			if err != nil && !yield(Item{}, err) {
				return
			}
			wanted := func(id [keyID]byte) bool { return keys[id] != nil && meant(keys[id].drawer) }
			for f, err := range frames(r.Dir, n, begin, wanted) {
				var item Item
				switch {
				case err == nil && f.sealed == nil:
					continue
				case err == nil:
					item, err = f.open(keys)
				}
				if !yield(item, err) {
					return
				}
			}
		}
	}
}

// keys are those of a file that are there and can be opened.
// An error comes beside the keys that could be opened.
func (r Reader) keys(n name) (map[[keyID]byte]*opened, error) {
	lines, err := keyLines(r.Dir, n)
	if err != nil {
		return nil, err
	}
	keys := make(map[[keyID]byte]*opened, len(lines))
	var fault error
	for _, line := range lines {
		if line.destroyed() {
			continue
		}
		o, err := line.open(n, r.Sealer)
		if err != nil {
			fault = fmt.Errorf("%s: %w", n.path(r.Dir, keysForm), err)
			continue
		}
		keys[o.id] = o
	}
	return keys, fault
}

// open opens an item with its key. Where the key is gone it was erased. The digest is made of what
// was found, for who asks to compare it with that in the record.
func (f frame) open(keys map[[keyID]byte]*opened) (Item, error) {
	key := keys[f.key]
	if key == nil {
		return Item{}, ErrErased
	}
	plain, err := key.aead.Open(nil, nil, f.sealed, frameData(f.id, f.key))
	if err != nil {
		return Item{}, fmt.Errorf("content %s was changed, or is not where it was", f.id)
	}
	item := Item{}
	if err := json.Unmarshal(plain, &item); err != nil {
		return Item{}, fmt.Errorf("content %s is none", f.id)
	}
	item.ID, item.Digest = f.id, digestOf(plain)
	return item, nil
}

// frames are the whole frames of a file, from an offset on. Those whose drawers are not
// wanted come without what is sealed, which is not read.
// A frame that is longer than the rest of the file is the end: a crash cut it off, or a gateway is
// writing it.
func frames(dir string, n name, from int64, wanted func([keyID]byte) bool) iter.Seq2[frame, error] {
	return func(yield func(frame, error) bool) {
		f, err := os.Open(n.path(dir, dataForm))
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(frame{}, err)
			return
		}
		defer func() { _ = f.Close() }() // only read from
		info, err := f.Stat()
		if err != nil {
			yield(frame{}, err)
			return
		}
		for at := int64(0); at < info.Size(); {
			one, err := readFrame(f, n, at, info.Size(), func(id [keyID]byte) bool { return at >= from && wanted(id) })
			if errors.Is(err, io.EOF) {
				return
			}
			if (err != nil || at >= from) && !yield(one, err) || err != nil {
				return
			}
			at += frameHead + keyID + one.size
		}
	}
}

// readFrame reads the frame at an offset of a file that is so long; what is sealed only if
// its drawer is wanted, nil for any. What is not whole is the end: io.EOF. The length of the file is
// as it was when reading began, so that what is appended meanwhile is left for the next time.
// The length is bounded before memory is taken for it: the file may be damaged.
func readFrame(in io.ReaderAt, n name, at, length int64, wanted func([keyID]byte) bool) (frame, error) {
	f := frame{id: n.id(at)}
	var head [frameHead + keyID]byte
	if got, err := in.ReadAt(head[:], at); got < len(head) {
		return f, err
	}
	size := int64(binary.BigEndian.Uint32(head[:]))
	f.key = [keyID]byte(head[frameHead:])
	switch {
	case size < keyID || size > frameMost:
		return f, fmt.Errorf("content %s is none", f.id)
	case size+frameHead > length-at:
		return f, io.EOF
	}
	if f.size = size - keyID; wanted != nil && !wanted(f.key) {
		return f, nil
	}
	f.sealed = make([]byte, f.size)
	if got, err := in.ReadAt(f.sealed, at+int64(len(head))); got < len(f.sealed) {
		return f, err
	}
	return f, nil
}
