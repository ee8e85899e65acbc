package keys

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// sealed is a file with a key whose bytes count up from n, written by encode.
func sealed(t testing.TB, n byte, encode func([]byte) string) string {
	t.Helper()
	master := make([]byte, masterSize)
	for i := range master {
		master[i] = n + byte(i)
	}
	path := filepath.Join(t.TempDir(), "sealing.key")
	put(t, path, []byte(encode(master)+"\n"))
	return path
}

// sealingRing is a ring with these files.
func sealingRing(t testing.TB, paths ...string) *Ring {
	t.Helper()
	return opened(t, Config{Dir: t.TempDir(), Sealing: paths}, &journal{}, &clock{now: epoch})
}

func opens(t testing.TB, r *Ring, sealed []byte, want string) bool {
	t.Helper()
	plain, err := r.Unseal("page-token", sealed, []byte("alice"))
	if err == nil && string(plain) != want {
		t.Errorf("opened %q, want %q", plain, want)
	}
	if err != nil && err != errSealed {
		t.Errorf("an error that says more: %v", err)
	}
	return err == nil
}

func TestSeal(t *testing.T) {
	t.Parallel()
	r := opened(t, Config{Dir: t.TempDir()}, &journal{}, &clock{now: epoch})
	seen := map[string]bool{}
	for _, text := range []string{"", "x", strings.Repeat("long ", 1000)} {
		for range 50 {
			s := r.Seal("page-token", []byte(text), []byte("alice"))
			if seen[string(s)] || len(s) != len(text)+48 || len(text) > 1 && bytes.Contains(s, []byte("long")) {
				t.Fatalf("sealed %d bytes as %d, before: %t", len(text), len(s), seen[string(s)])
			}
			if seen[string(s)] = true; !opens(t, r, s, text) {
				t.Fatalf("%q does not open", text)
			}
		}
	}
	s := r.Seal("page-token", []byte("text"), []byte("alice"))
	for name, try := range map[string]func() ([]byte, error){
		"other purpose": func() ([]byte, error) { return r.Unseal("page-tokens", s, []byte("alice")) },
		"no purpose":    func() ([]byte, error) { return r.Unseal("", s, []byte("alice")) },
		"other aad":     func() ([]byte, error) { return r.Unseal("page-token", s, []byte("bob")) },
		"no aad":        func() ([]byte, error) { return r.Unseal("page-token", s, nil) },
		"longer":        func() ([]byte, error) { return r.Unseal("page-token", append(s[:len(s):len(s)], 0), []byte("alice")) },
		"other ring":    func() ([]byte, error) { return sealingRing(t).Unseal("page-token", s, []byte("alice")) },
		"zero ring":     func() ([]byte, error) { return new(Ring).Unseal("page-token", s, []byte("alice")) },
	} {
		if plain, err := try(); err != errSealed || plain != nil {
			t.Errorf("%s: %q, %v", name, plain, err)
		}
	}
	for i := range s {
		if opens(t, r, s[:i], "") {
			t.Errorf("the first %d bytes open", i)
		}
		for bit := range 8 {
			changed := bytes.Clone(s)
			if changed[i] ^= 1 << bit; opens(t, r, changed, "") {
				t.Errorf("opens with bit %d of byte %d changed", bit, i)
			}
		}
	}
	if got := new(Ring).Seal("p", []byte("text"), nil); got != nil {
		t.Errorf("a zero ring sealed %x", got)
	}
}

// The first file seals, all open, and the last is what secrets are derived from: so a
// new key is put in front.
func TestSealingRotation(t *testing.T) {
	t.Parallel()
	old, next := sealed(t, 1, hex.EncodeToString), sealed(t, 2, base64.StdEncoding.EncodeToString)
	before, during, after := sealingRing(t, old), sealingRing(t, next, old), sealingRing(t, next)
	a := before.Seal("page-token", []byte("a"), []byte("alice"))
	b := during.Seal("page-token", []byte("b"), []byte("alice"))
	for name, is := range map[string]bool{
		"the old key's everywhere it is": opens(t, during, a, "a") && opens(t, before, a, "a"),
		"the new key's everywhere it is": opens(t, during, b, "b") && opens(t, after, b, "b"),
		"not where they are not":         !opens(t, before, b, "b") && !opens(t, after, a, "a"),
		"names stay with the last": bytes.Equal(before.Derive("contexts"), during.Derive("contexts")) &&
			!bytes.Equal(during.Derive("contexts"), after.Derive("contexts")),
		"secrets of 32 bytes, one for each purpose": len(before.Derive("contexts")) == 32 &&
			!bytes.Equal(before.Derive("contexts"), before.Derive("context")),
	} {
		if !is {
			t.Errorf("not so: %s", name)
		}
	}
	if new(Ring).Derive("contexts") != nil {
		t.Error("a zero ring has a secret")
	}
}

// What is written in any of the ways that openssl and others print 32 bytes is the same
// key.
func TestSealingFiles(t *testing.T) {
	t.Parallel()
	want := sealingRing(t, sealed(t, 200, hex.EncodeToString)).Derive("x")
	for name, encode := range map[string]func([]byte) string{
		"upper case": func(b []byte) string { return strings.ToUpper(hex.EncodeToString(b)) },
		"base64":     base64.StdEncoding.EncodeToString, "unpadded": base64.RawStdEncoding.EncodeToString,
		"for URLs": base64.URLEncoding.EncodeToString, "unpadded for URLs": base64.RawURLEncoding.EncodeToString,
		"white space": func(b []byte) string { return " \t" + hex.EncodeToString(b) + "\r\n" },
	} {
		if got := sealingRing(t, sealed(t, 200, encode)).Derive("x"); !bytes.Equal(got, want) {
			t.Errorf("%s: another key", name)
		}
	}
	const secret = "5ecre75ecre75ecre75ecre75ecre75e"
	for name, test := range map[string]struct{ text, want string }{
		"empty":     {"", "want 32 bytes as 64 hex digits or base64"},
		"cut":       {strings.Repeat("5ecre7", 10), "want 32 bytes"},
		"too long":  {strings.Repeat("ab", 33), "want 32 bytes"},
		"two":       {strings.Repeat("ab", 32) + "\n" + strings.Repeat("cd", 32), "want 32 bytes"},
		"bytes":     {secret, "want 32 bytes"},
		"no key":    {strings.Repeat("00", 32), "openssl rand -hex 32"},
		"too large": {strings.Repeat("a", maxFile+1), "larger than"},
	} {
		path := filepath.Join(t.TempDir(), "bad.key")
		put(t, path, []byte(test.text))
		_, err := open(Config{Dir: t.TempDir(), Sealing: []string{path}}, (&journal{}).log(), (&clock{now: epoch}).time)
		switch {
		case err == nil || !strings.Contains(err.Error(), "sealing: ") || !strings.Contains(err.Error(), path) ||
			!strings.Contains(err.Error(), test.want):
			t.Errorf("%s: %v, want %q", name, err, test.want)
		case strings.Contains(err.Error(), "5ecre7"):
			t.Errorf("%s: the error shows the key: %v", name, err)
		}
	}
	if _, err := open(Config{Dir: t.TempDir(), Sealing: []string{"/nowhere"}}, (&journal{}).log(), (&clock{now: epoch}).time); err == nil {
		t.Error("a file that is not there is no error")
	}
}

// Files are read again: good ones are taken, bad ones are said once and change nothing.
func TestSealingFilesChange(t *testing.T) {
	t.Parallel()
	path, j := sealed(t, 1, hex.EncodeToString), &journal{}
	r := opened(t, Config{Dir: t.TempDir(), Sealing: []string{path}}, j, &clock{now: epoch})
	s := r.Seal("page-token", []byte("a"), []byte("alice"))
	put(t, path, []byte("nothing"))
	for range 3 {
		r.Refresh()
	}
	if n := j.count("level=ERROR"); n != 1 || !opens(t, r, s, "a") {
		t.Errorf("%d errors in the log, want one; and what was there has to stay", n)
	}
	put(t, path, []byte(strings.Repeat("ab", 31)+"cd"))
	if r.Refresh(); opens(t, r, s, "a") {
		t.Error("the file's new key is not in force")
	}
}

// Replicas that start at once on one directory have one key, which none of them
// replaces, and which is nobody else's to read or in any log.
func TestSealingReplicas(t *testing.T) {
	t.Parallel()
	dir, j := filepath.Join(t.TempDir(), "keys"), &journal{}
	rings := make([]*Ring, 16)
	var wg sync.WaitGroup
	for i := range rings {
		wg.Go(func() {
			r, err := open(Config{Dir: dir}, j.log(), (&clock{now: epoch}).time)
			if err != nil {
				t.Errorf("open: %v", err)
				r = new(Ring)
			}
			rings[i] = r
		})
	}
	wg.Wait()
	s := rings[0].Seal("page-token", []byte("a"), []byte("alice"))
	rings[0] = opened(t, Config{Dir: dir}, j, &clock{now: epoch}) // after a restart
	for i, r := range rings {
		if r.Refresh(); !opens(t, r, s, "a") {
			t.Errorf("replica %d has another key", i)
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, sealingName))
	if err != nil || len(data) != 2*masterSize+1 {
		t.Fatalf("%d bytes, %v", len(data), err)
	}
	info, _ := os.Stat(filepath.Join(dir, sealingName))
	if info.Mode() != 0o600 || j.count(string(data[:8])) > 0 {
		t.Errorf("mode %s, or it is in the log", info.Mode())
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Signing files alone need no directory: what is sealed then lasts as long as the ring.
func TestSealingNowhere(t *testing.T) {
	t.Parallel()
	r := opened(t, Config{Signing: []string{written(t, es256)}}, &journal{}, &clock{now: epoch})
	if s := r.Seal("page-token", []byte("a"), []byte("alice")); !opens(t, r, s, "a") {
		t.Error("does not open")
	}
	r.Refresh()
	file := filepath.Join(t.TempDir(), "file")
	put(t, file, nil)
	c := Config{Signing: []string{written(t, es256)}, Dir: file}
	if _, err := open(c, (&journal{}).log(), (&clock{now: epoch}).time); err == nil || !strings.Contains(err.Error(), "sealing: ") {
		t.Errorf("a directory that is none: %v", err)
	}
}

// FuzzUnseal makes sure that nothing but what was sealed opens, and that opens again.
func FuzzUnseal(f *testing.F) {
	r := opened(f, Config{Dir: f.TempDir()}, &journal{}, &clock{now: epoch})
	good := r.Seal("page-token", []byte("text"), []byte("alice"))
	for _, seed := range [][]byte{nil, good, good[:20], good[:47], append(good[:len(good):len(good)], 'x')} {
		f.Add(seed, []byte("alice"))
	}
	f.Fuzz(func(t *testing.T, data, aad []byte) {
		plain, err := r.Unseal("page-token", data, aad)
		if is := bytes.Equal(data, good) && string(aad) == "alice"; is != (err == nil) || is && string(plain) != "text" {
			t.Fatalf("%x with %x opened as %q, %v", data, aad, plain, err)
		}
		back, err := r.Unseal("fuzz", r.Seal("fuzz", data, aad), aad)
		if err != nil || !bytes.Equal(back, data) {
			t.Fatalf("sealed %x, opened %x, %v", data, back, err)
		}
	})
}

func BenchmarkSeal(b *testing.B) {
	r := opened(b, Config{Dir: b.TempDir()}, &journal{}, &clock{now: epoch})
	text := make([]byte, 100)
	b.Run("seal", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r.Seal("page-token", text, text)
		}
	})
	s := r.Seal("page-token", text, text)
	b.Run("unseal", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := r.Unseal("page-token", s, text); err != nil {
				b.Fatal(err)
			}
		}
	})
}
