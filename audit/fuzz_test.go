package audit

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// FuzzVerify: no bytes in a file make the reader of it panic or run for ever, and only what
// a gateway wrote is without findings.
func FuzzVerify(f *testing.F) {
	dir, ring := specimen(f)
	whole, err := os.ReadFile(name{day: "2026-11-21"}.path(dir))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole, "")
	f.Add(whole[:len(whole)/2], "")
	f.Add([]byte("{\"seq\":1,\"v\":1}\n{\"seq\":2,\"v\":1}\n\n"), "")
	f.Add([]byte("\x28\xb5\x2f\xfd\x04\x00\x19\x00\x00abc"), ".zst")
	f.Add([]byte(`{"cipher":"`+cipherName+`","key":"00000000","salt":"00"}`+"\n\x00\x00\x00\x20"), ".enc")
	f.Fuzz(func(t *testing.T, content []byte, end string) {
		n := name{day: "2026-11-21", form: form(end)}
		if _, ok := parseName(n.file() + end); !ok {
			return
		}
		dir := t.TempDir()
		if err := os.WriteFile(n.path(dir), content, 0o600); err != nil {
			t.Fatal(err)
		}
		s := Config{Dir: dir, Encryption: oneKey}.Source()
		r, err := Verify(t.Context(), s, Check{Head: NoHead, Keys: ring.JWKS()})
		if err == nil && len(r.Findings) == 0 && !bytes.HasPrefix(whole, content[:min(len(content), len(whole))]) {
			t.Errorf("nothing is wrong with %q", content)
		}
		_, _, _ = s.Last(3)
		for range s.Calls() { //nolint:revive // as far as it goes
		}
	})
}

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
		key, err := newMasterKey(oneKey.Keys[0])
		if err != nil {
			t.Fatal(err)
		}
		s, err := newSealing(key)
		if err != nil {
			t.Fatal(err)
		}
		half := len(plain) / 2
		file := s.frames(s.frames(nil, plain[:half], false), plain[half:], false)
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

func framesIn(path string, key masterKey) (all []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	p := &framed{f: f, keys: []masterKey{key}}
	for {
		block, err := p.next(make([]byte, 64))
		if err != nil {
			return all, err
		}
		all = append(all, block...)
	}
}
