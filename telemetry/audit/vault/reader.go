package vault

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"

	"github.com/go-json-experiment/json"
)

// Reader reads content, while a gateway may be writing there.
type Reader struct {
	Dir    string
	Sealer Sealer
}

// frame is one frame of a file.
type frame struct {
	id     string
	key    [keyID]byte
	sealed []byte
}

// Item finds content by its id.
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
	one, err := readFrame(io.NewSectionReader(f, at, max(info.Size()-at, 0)), n, at, info.Size()-at)
	if err != nil {
		return Item{}, ErrAbsent
	}
	keys, err := r.keys(n)
	if err != nil {
		return Item{}, err
	}
	return one.open(keys)
}

// Items are all that can be read, the oldest first. An error about one file does not keep
// those after it away.
func (r Reader) Items() iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		names, err := list(r.Dir)
		if err != nil {
			yield(Item{}, err)
			return
		}
		for _, n := range names {
			keys, err := r.keys(n)
			if err != nil && !yield(Item{}, err) {
				return
			}
			for f, err := range frames(r.Dir, n) {
				var item Item
				if err == nil {
					item, err = f.open(keys)
				}
				if !errors.Is(err, ErrErased) && !yield(item, err) {
					return
				}
			}
		}
	}
}

// keys are those of a file that are there and can be opened.
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

// frames are the whole frames of a file.
func frames(dir string, n name) iter.Seq2[frame, error] {
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
		in := bufio.NewReaderSize(f, 1<<16)
		for at := int64(0); ; {
			one, err := readFrame(in, n, at, info.Size()-at)
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(one, err) || err != nil {
				return
			}
			at += int64(frameHead + keyID + len(one.sealed))
		}
	}
}

// readFrame reads one frame, of which most bytes are there at most. What is not whole is
// the end: io.EOF.
func readFrame(in io.Reader, n name, at, most int64) (frame, error) {
	f := frame{id: n.id(at)}
	var head [frameHead + keyID]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return f, ended(err)
	}
	size := int64(binary.BigEndian.Uint32(head[:]))
	f.key = [keyID]byte(head[frameHead:])
	switch {
	case size < keyID || size > frameMost:
		return f, fmt.Errorf("content %s is none", f.id)
	case size+frameHead > most:
		return f, io.EOF
	}
	f.sealed = make([]byte, size-keyID)
	_, err := io.ReadFull(in, f.sealed)
	return f, ended(err)
}

func ended(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return io.EOF
	}
	return err
}
