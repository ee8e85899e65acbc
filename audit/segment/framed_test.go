package segment

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// FuzzFrames: what was encrypted is read back, and of a file that was cut or changed
// anywhere only a beginning is.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("{\"seq\":1}\n{\"seq\":2}\n"), 40, byte(1))
	f.Add([]byte("\n"), 0, byte(0))
	f.Add([]byte{}, 0, byte(255))                                            // frames of nothing
	f.Add([]byte("{\"seq\":1}\n"), 3, byte(128))                             // the length of the first
	f.Add(bytes.Repeat([]byte("{\"type\":\"call\"}\n"), 300), 5000, byte(1)) // in the second
	f.Add([]byte("{\"seq\":1}\n{\"seq\":2}"), -1, byte(7))                   // torn, and left as it is
	f.Fuzz(func(t *testing.T, plain []byte, at int, flip byte) {
		key, err := NewKey(secret.New(strings.Repeat("a5", 31) + "00"))
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewEncrypter(key)
		if err != nil {
			t.Fatal(err)
		}
		half := len(plain) / 2
		file := s.Frames(s.Frames(nil, plain[:half], false), plain[half:], false)
		if len(file) > 0 && at >= 0 {
			file[at%len(file)] ^= flip
		}
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := framesIn(path, key)
		if !bytes.HasPrefix(plain, got) {
			t.Errorf("read %q of %q", got, plain)
		}
		if (flip == 0 || at < 0) && (!errors.Is(err, io.EOF) || !bytes.Equal(got, plain)) {
			t.Errorf("read %q of %q, %v", got, plain, err)
		}
	})
}

func framesIn(path string, key Key) (all []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	p := &framed{f: f, keys: []Key{key}}
	for {
		block, err := p.Next(make([]byte, 64))
		if err != nil {
			return all, err
		}
		all = append(all, block...)
	}
}
