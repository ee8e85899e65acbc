package keys

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const (
	masterSize = 32
	// sealingName is the generated key's file. There is one, for good: what it sealed
	// may lie in a store for as long as the gateway is used.
	sealingName = "sealing.key"
)

// errNoMaster is what a file is about that holds no key, or whose writer has not come
// to its end.
var errNoMaster = errors.New("no key; want 32 bytes as 64 hex digits or base64")

// sealing is where the keys come from that seal.
type sealing struct {
	files []string // of the configuration; else the generated one
	dir   string   // "" with files, or where nothing is to be kept
}

// open finds the keys for the first time, and makes one where none is configured.
// Without a directory, which the program always has, it lasts as long as the process.
//
// The file is made with links where the file system has them, and otherwise may be seen half written by
// another replica; a file without a key in it is looked at again for openLooks times openPause.
func (s sealing) open() ([]*sealer, error) {
	switch {
	case len(s.files) > 0:
		return s.read()
	case s.dir == "":
		k, err := newSealer(newMaster())
		return []*sealer{k}, err
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("make directory of keys: %w", err)
	}
	path := filepath.Join(s.dir, sealingName)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err := createFile(s.dir, sealingName, fmt.Appendf(nil, "%x\n", newMaster())); err != nil {
			return nil, fmt.Errorf("make sealing key: %w", err)
		}
	}
	var list []*sealer
	var err error
	for range openLooks { // another replica may be writing it, where there are no links
		if list, err = s.read(); !errors.Is(err, errNoMaster) {
			break
		}
		<-time.After(openPause)
	}
	return list, err
}

// read reads all keys anew. One that cannot be used condemns them all, as with files.
//
// All or none: with one key missing, what it sealed would look forged, and tokens be refused that are
// good.
func (s sealing) read() ([]*sealer, error) {
	paths := s.files
	if len(paths) == 0 {
		paths = []string{filepath.Join(s.dir, sealingName)}
	}
	list := make([]*sealer, len(paths))
	for i, path := range paths {
		data, err := readLimited(path)
		if err != nil {
			return nil, err
		}
		master, err := parseMaster(data)
		if err != nil {
			return nil, fmt.Errorf("read key: %s: %w", path, err)
		}
		if list[i], err = newSealer(master); err != nil {
			return nil, fmt.Errorf("read key: %s: %w", path, err)
		}
	}
	return list, nil
}

// newMaster makes a key. The reader never fails (crypto/rand).
func newMaster() []byte {
	master := make([]byte, masterSize)
	_, _ = rand.Read(master)
	return master
}

// parseMaster reads a key as openssl rand prints it, either way. Errors show nothing
// of what is in the file.
//
//	openssl rand -hex 32      64 hexadecimal digits
//	openssl rand -base64 32   44 characters, the last of which is padding
func parseMaster(data []byte) ([]byte, error) {
	text := string(bytes.TrimSpace(data))
	decoders := []func(string) ([]byte, error){
		hex.DecodeString,
		base64.StdEncoding.Strict().DecodeString, base64.RawStdEncoding.Strict().DecodeString,
		base64.URLEncoding.Strict().DecodeString, base64.RawURLEncoding.Strict().DecodeString,
	}
	for _, decode := range decoders {
		master, err := decode(text)
		if err != nil || len(master) != masterSize {
			continue
		}
		if bytes.Count(master, master[:1]) == masterSize {
			return nil, errors.New("the key is one byte over and over; make one with: openssl rand -hex 32")
		}
		return master, nil
	}
	return nil, errNoMaster
}

// readLimited reads a file that has to be small. Errors name it and show nothing of it.
//
// The limit keeps a path that names a device or a log from filling the memory.
func readLimited(path string) ([]byte, error) {
	f, err := os.Open(path) //nolint:gosec // the operator's path
	if err != nil {
		return nil, fmt.Errorf("read key: %w", err)
	}
	defer f.Close() // only read from
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read key: %w", err)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("read key: %s: larger than %d bytes", path, maxFile)
	}
	return data, nil
}
