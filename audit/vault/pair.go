package vault

import (
	"encoding/binary"
	"errors"
	"os"
)

// A frame is four bytes of length, the id of a drawer, and so many bytes less that id's of
// AES-256-GCM, the nonce first.
const (
	frameHead = 4
	keyID     = 16
	frameMost = 64 << 20 // twice the largest body there is, as JSON in JSON
)

var errFrame = errors.New("content is larger than any")

// pair is the two files that are written to, and how far they go: offsets are part of ids, and are
// counted here and not asked of the system.
type pair struct {
	name       name
	data, keys *os.File
	size       int64 // of data
	sealed     int64 // of keys
}

// newPair makes the two files of a pair. The keys are made first: content without keys is lost, and keys
// without content are nothing.
func newPair(dir string, n name) (*pair, error) {
	// O_EXCL: a pair that is there belongs to another run, and its content is not to be mixed with
	// this.
	keys, err := create(n.path(dir, keysForm))
	if err != nil {
		return nil, err
	}
	data, err := create(n.path(dir, dataForm))
	if err == nil {
		err = syncDir(dir)
	}
	if err != nil {
		return nil, errors.Join(err, keys.Close(), os.Remove(n.path(dir, keysForm)))
	}
	return &pair{name: n, data: data, keys: keys}, nil
}

// create makes a file that is not there yet, for the owner alone. Writes go to its end, whoever
// has it open.
func create(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600) //nolint:gosec // in the log's directory
}

// syncDir has the disk know of the names in a directory.
func syncDir(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // in the log's directory
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// put appends a frame. One call writes it, so that a crash tears the last one only, and
// nothing is written behind what is torn.
// The id is made before, since it is part of what is authenticated: a frame that was moved within
// the file, or to another, does not open.
func (p *pair) put(key *opened, plain []byte) (id string, err error) {
	id = p.name.id(p.size)
	frame := append(make([]byte, frameHead, frameHead+keyID+len(plain)+64), key.id[:]...)
	frame = key.aead.Seal(frame, nil, plain, frameData(id, key.id))
	if len(frame)-frameHead > frameMost {
		return "", errFrame
	}
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-frameHead)) //nolint:gosec // at most frameMost
	if err := write(p.data, frame, p.size); err != nil {
		return "", err
	}
	p.size += int64(len(frame))
	return id, nil
}

// frameData binds a frame to its place and its drawer, as additional data: who can write to the
// directory cannot have one call's record lead to another call's content.
func frameData(id string, key [keyID]byte) []byte { return append([]byte(id+"\x00"), key[:]...) }

// write appends to a file, all or, where the system lets it, nothing. Half a frame is cut off again,
// as a full disk leaves one, and the next frame would be read from its middle.
func write(f *os.File, b []byte, size int64) error {
	if _, err := f.Write(b); err != nil {
		return errors.Join(err, f.Truncate(size))
	}
	return nil
}

// Both are asked, whatever the first says. Keys go first: what content needs is on the disk before it.
func (p *pair) sync() error  { return errors.Join(p.keys.Sync(), p.data.Sync()) }
func (p *pair) close() error { return errors.Join(p.keys.Close(), p.data.Close()) }
