package keys

import (
	"bytes"
	"crypto/elliptic"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSign(t *testing.T) {
	t.Parallel()
	for _, algorithm := range []string{es256, edDSA} {
		r := opened(t, Config{Dir: t.TempDir(), Algorithm: algorithm}, &journal{}, &clock{now: epoch})
		for _, payload := range []string{"", "{}", strings.Repeat("x", 100_000), "\x00\xff"} {
			for _, typ := range []string{"", "JWT", "a\"b", "ä"} {
				token, err := r.Sign(typ, []byte(payload))
				if err != nil {
					t.Fatal(err)
				}
				verified(t, r, token)
			}
		}
		if _, err := r.Sign("\xff", nil); err == nil {
			t.Error("a typ that is not UTF-8 was signed")
		}
	}
}

func TestSignZero(t *testing.T) {
	t.Parallel()
	var r Ring
	if _, err := r.Sign("JWT", nil); err == nil {
		t.Error("signed without a key")
	}
	if got := string(r.JWKS()); got != `{"keys":[]}` {
		t.Errorf("published %s", got)
	}
	r.Close()
}

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	good, p384 := written(t, es256), filepath.Join(t.TempDir(), "p384.pem")
	put(t, p384, pkcs8(t, ec(t, elliptic.P384())))
	for name, test := range map[string]struct {
		in   Config
		want string
	}{
		"nowhere":         {Config{}, "neither signing nor dir"},
		"invalid":         {Config{Dir: t.TempDir(), Algorithm: "none"}, "algorithm: "},
		"missing file":    {Config{Signing: []string{good, "/nowhere/key.pem"}}, "/nowhere/key.pem"},
		"other curve":     {Config{Signing: []string{good, p384}}, p384 + ": a key on P-384"},
		"file as dir":     {Config{Dir: good}, good},
		"dir below files": {Config{Dir: filepath.Join(good, "keys")}, good},
	} {
		j := &journal{}
		r, err := Open(test.in, j.log())
		if err == nil {
			r.Close()
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %s", name, err, test.want)
		}
	}
}

// TestFilesChange replaces files under a ring: good ones are taken, bad ones are said
// once and change nothing.
func TestFilesChange(t *testing.T) {
	t.Parallel()
	first, next := written(t, es256), written(t, edDSA)
	j := &journal{}
	r := opened(t, Config{Signing: []string{first, next}}, j, &clock{now: epoch})
	before := published(t, r)
	if len(before) != 2 || signing(t, r) != before[0] {
		t.Fatalf("published %v, signing with %s", before, signing(t, r))
	}
	good, err := os.ReadFile(next)
	if err != nil {
		t.Fatal(err)
	}
	for i, bad := range [][]byte{nil, good[:40], pkcs8(t, ec(t, elliptic.P384())), make([]byte, maxFile+1)} {
		put(t, first, bad)
		for range 3 {
			r.Refresh()
		}
		if diff := cmp.Diff(before, published(t, r)); diff != "" {
			t.Errorf("bad file %d: published (-want +got):\n%s", i, diff)
		}
	}
	// Empty and cut say the same, so that is one line.
	if n := j.count("level=ERROR"); n != 3 {
		t.Errorf("%d errors in the log, want 3", n)
	}
	put(t, first, good) // in two places, on its way from next to first
	r.Refresh()
	if diff := cmp.Diff(before[1:], published(t, r)); diff != "" {
		t.Errorf("published (-want +got):\n%s", diff)
	}
	put(t, next, pkcs8(t, ec(t, elliptic.P256())))
	r.Refresh()
	if after := published(t, r); len(after) != 2 || after[0] != before[1] || signing(t, r) != before[1] {
		t.Errorf("published %v, want %s first of two", after, before[1])
	}
	if err := os.Remove(next); err != nil {
		t.Fatal(err)
	}
	r.Refresh()
	if after := published(t, r); len(after) != 2 {
		t.Errorf("published %v after a file was removed, want both of before", after)
	}
}

// TestPoll lets a ring find out by itself.
func TestPoll(t *testing.T) {
	t.Parallel()
	first, next := written(t, es256), written(t, edDSA)
	synctest.Test(t, func(t *testing.T) {
		j := &journal{}
		r, err := Open(Config{Signing: []string{first}}, j.log())
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		data, err := os.ReadFile(next)
		if err != nil {
			t.Fatal(err)
		}
		before := signing(t, r)
		put(t, first, data)
		time.Sleep(pollInterval - time.Nanosecond)
		synctest.Wait()
		if signing(t, r) != before {
			t.Error("changed before it looked")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if signing(t, r) == before {
			t.Error("not changed after it looked")
		}
		r.Close()
		r.Close()
		signing(t, r)
	})
}

// TestRotation follows one generated key into the next: published before, signing in
// time, published after, gone.
func TestRotation(t *testing.T) {
	t.Parallel()
	dir, now, j := filepath.Join(t.TempDir(), "state", "keys"), &clock{now: epoch.Add(20 * time.Minute)}, &journal{}
	c := Config{Dir: dir, Rotate: hour(10), Retain: hour(1)}
	r := opened(t, c, j, now)
	other := opened(t, c, j, now) // a replica
	both := func(after time.Duration) []string {
		t.Helper()
		now.set(after)
		r.Refresh()
		ids := published(t, r)
		other.Refresh()
		if diff := cmp.Diff(ids, published(t, other)); diff != "" {
			t.Errorf("after %s the replicas differ:\n%s", after, diff)
		}
		if got := signing(t, r); got != ids[0] || signing(t, other) != got {
			t.Errorf("after %s %s signs, want %s", after, got, ids[0])
		}
		return ids
	}
	first := both(8*time.Hour - 1)
	if len(first) != 1 {
		t.Fatalf("published %v, want one", first)
	}
	ids := both(8 * time.Hour)
	if len(ids) != 2 || ids[0] != first[0] {
		t.Fatalf("published %v, want %s and the next", ids, first[0])
	}
	swapped := []string{ids[1], ids[0]}
	for _, step := range []struct {
		after time.Duration
		want  []string
	}{
		{10*time.Hour - 1, ids},
		{10 * time.Hour, swapped},
		{11*time.Hour - 1, swapped},
		{11 * time.Hour, swapped[:1]},
	} {
		if diff := cmp.Diff(step.want, both(step.after)); diff != "" {
			t.Errorf("after %s published (-want +got):\n%s", step.after, diff)
		}
	}
	if diff := cmp.Diff([]string{"20260301T200000Z.pem"}, names(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if n := j.count("level=ERROR") + j.count("level=WARN"); n != 0 {
		t.Errorf("the log complains:\n%s", j.buf.String())
	}
}

// names lists the signing keys in a directory, and looks at the modes of all.
func names(t *testing.T, dir string) []string {
	t.Helper()
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o700 {
		t.Errorf("%s has mode %s", dir, info.Mode())
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: mode %v, %v", e.Name(), info.Mode(), err)
		}
		if e.Name() != sealingName {
			list = append(list, e.Name())
		}
	}
	return list
}

// TestRestart opens a directory again, and again after years.
func TestRestart(t *testing.T) {
	t.Parallel()
	c, now := Config{Dir: t.TempDir()}, &clock{now: epoch}
	before := signing(t, opened(t, c, &journal{}, now))
	now.set(24 * time.Hour)
	if got := signing(t, opened(t, c, &journal{}, now)); got != before {
		t.Errorf("another key signs after a restart")
	}
	now.set(20000*time.Hour + 30*time.Minute)
	r := opened(t, c, &journal{}, now)
	if ids := published(t, r); len(ids) != 2 || signing(t, r) != before {
		t.Errorf("published %v, want the old one signing and a next", ids)
	}
	now.set(20002 * time.Hour)
	r.Refresh()
	if signing(t, r) == before {
		t.Error("the key of years ago still signs")
	}
}

// TestAlgorithmChanges gives the next key another algorithm, after an hour's notice.
func TestAlgorithmChanges(t *testing.T) {
	t.Parallel()
	c, now := Config{Dir: t.TempDir()}, &clock{now: epoch}
	before := signing(t, opened(t, c, &journal{}, now))
	c.Algorithm = edDSA
	r := opened(t, c, &journal{}, now)
	if ids := published(t, r); len(ids) != 2 || ids[0] != before {
		t.Fatalf("published %v, want %s first of two", ids, before)
	}
	now.set(2 * time.Hour)
	r.Refresh()
	if !strings.Contains(string(r.JWKS()), `"keys":[{"use":"sig","kty":"OKP"`) {
		t.Errorf("published %s, want an Ed25519 key first", r.JWKS())
	}
}

// TestReplicasStartAtOnce opens one empty directory from many sides.
func TestReplicasStartAtOnce(t *testing.T) {
	t.Parallel()
	c := Config{Dir: filepath.Join(t.TempDir(), "keys")}
	rings := make([]*Ring, 16)
	var all sync.WaitGroup
	for i := range rings {
		all.Go(func() {
			// A minute apart, as clocks are.
			now := &clock{now: epoch.Add(time.Duration(i) * time.Minute)}
			r, err := open(c, (&journal{}).log(), now.time)
			if err != nil {
				t.Error(err)
				return
			}
			rings[i] = r
		})
	}
	all.Wait()
	if t.Failed() {
		return
	}
	for _, r := range rings {
		if diff := cmp.Diff(published(t, rings[0]), published(t, r)); diff != "" {
			t.Errorf("replicas differ:\n%s", diff)
		}
	}
	if diff := cmp.Diff([]string{"20260301T100000Z.pem"}, names(t, c.Dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestWithdrawal removes the file of a key that has become known to others.
func TestWithdrawal(t *testing.T) {
	t.Parallel()
	c, now := Config{Dir: filepath.Join(t.TempDir(), "keys"), Rotate: hour(10)}, &clock{now: epoch}
	r := opened(t, c, &journal{}, now)
	bad := signing(t, r)
	now.set(8 * time.Hour)
	r.Refresh()
	next := published(t, r)[1]
	remove := func(name string) {
		t.Helper()
		if err := os.Remove(filepath.Join(c.Dir, name)); err != nil {
			t.Fatal(err)
		}
		r.Refresh()
	}
	remove("20260301T100000Z.pem")
	if ids := published(t, r); !slices.Equal(ids, []string{next}) || signing(t, r) != next {
		t.Errorf("published %v, want the one that waited", ids)
	}
	remove("20260301T200000Z.pem")
	if ids := published(t, r); len(ids) != 1 || ids[0] == bad || ids[0] == next {
		t.Errorf("published %v, want one new key", ids)
	}
	if diff := cmp.Diff([]string{"20260301T180000Z.pem"}, names(t, c.Dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestDirectoryGoesAway keeps the keys while the directory is not there, and makes no
// others under its name.
func TestDirectoryGoesAway(t *testing.T) {
	t.Parallel()
	dir, j := filepath.Join(t.TempDir(), "keys"), &journal{}
	r := opened(t, Config{Dir: dir}, j, &clock{now: epoch})
	before := signing(t, r)
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	r.Refresh()
	r.Refresh()
	if signing(t, r) != before || j.count("level=ERROR") != 1 {
		t.Errorf("signing with %s, want %s and one error in\n%s", signing(t, r), before, j.buf.String())
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the directory was made anew")
	}
	if err := os.Rename(dir+".away", dir); err != nil {
		t.Fatal(err)
	}
	r.Refresh()
	if signing(t, r) != before {
		t.Error("another key signs")
	}
}

// TestStrangeFiles puts what is not ours, or broken, beside a key.
func TestStrangeFiles(t *testing.T) {
	t.Parallel()
	dir, j := t.TempDir(), &journal{}
	good, err := os.ReadFile(written(t, es256))
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "20260101T000000Z.pem"), good)
	put(t, filepath.Join(dir, "20260102T000000Z.pem"), good[:50])
	put(t, filepath.Join(dir, "mine.pem"), pkcs8(t, ec(t, elliptic.P256())))
	put(t, filepath.Join(dir, "20260103T000000Z.pem.bak"), good)
	put(t, filepath.Join(dir, ".20260104T000000Z.pem.1234"), good)
	put(t, filepath.Join(dir, ".20260301T090000Z.pem.1234"), good) // somebody may be writing it
	if err := os.Mkdir(filepath.Join(dir, "20260105T000000Z.pem"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := opened(t, Config{Dir: dir}, j, &clock{now: epoch})
	r.Refresh()
	if ids := published(t, r); len(ids) != 1 {
		t.Errorf("published %v, want one", ids)
	}
	if j.count("level=ERROR") != 1 || j.count("20260102T000000Z.pem") != 1 || j.count("20260105T000000Z.pem") != 1 {
		t.Errorf("want both broken ones named once in\n%s", j.buf.String())
	}
	want := []string{
		".20260301T090000Z.pem.1234", "20260101T000000Z.pem", "20260102T000000Z.pem",
		"20260103T000000Z.pem.bak", "20260105T000000Z.pem", "mine.pem", sealingName,
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	// A key in use is not lost with its file's content.
	put(t, filepath.Join(dir, "20260101T000000Z.pem"), nil)
	before := r.JWKS()
	r.Refresh()
	if !bytes.Equal(before, r.JWKS()) {
		t.Errorf("published %s, before %s", r.JWKS(), before)
	}
}

// TestWaitsForWriter opens a directory whose only key is being written without links.
func TestWaitsForWriter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, err := os.ReadFile(written(t, es256))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Format(nameLayout))
	put(t, path, nil)
	synctest.Test(t, func(t *testing.T) {
		go func() {
			time.Sleep(3 * openPause / 2)
			put(t, path, data)
		}()
		r, err := Open(Config{Dir: dir}, (&journal{}).log())
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) != 2*openPause {
			t.Error("did not wait, or too long")
		}
		signing(t, r)
	})
	put(t, path, nil)
	synctest.Test(t, func(t *testing.T) {
		if _, err := Open(Config{Dir: dir}, (&journal{}).log()); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("got %v, want an error that names %s", err, path)
		}
	})
}

func TestWriteNew(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "key.pem")
	if err := writeNew(path, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := writeNew(path, []byte("two")); !os.IsExist(err) {
		t.Errorf("second writer got %v", err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "one" {
		t.Errorf("read %q, %v", data, err)
	}
}

// TestOpenKeysAreSaid warns of what everybody can read, and of nothing else.
func TestOpenKeysAreSaid(t *testing.T) {
	t.Parallel()
	for mode, want := range map[os.FileMode]int{0o600: 0, 0o440: 0, 0o640: 0, 0o644: 1, 0o604: 1} {
		path, j := written(t, es256), &journal{}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		opened(t, Config{Signing: []string{path}}, j, &clock{now: epoch})
		if got := j.count("level=WARN"); got != want {
			t.Errorf("%s: %d warnings, want %d", mode, got, want)
		}
	}
}

// TestNothingSecretIsSaid looks for key material in the log and in what is published.
func TestNothingSecretIsSaid(t *testing.T) {
	t.Parallel()
	path, j := written(t, es256), &journal{}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := opened(t, Config{Signing: []string{path}}, j, &clock{now: epoch})
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	lines = lines[1 : len(lines)-1]
	for cut := 10; cut < len(data); cut += 7 {
		put(t, path, data[:cut])
		r.Refresh()
		put(t, path, data[cut:])
		r.Refresh()
	}
	if j.count("level=ERROR") == 0 {
		t.Fatal("no broken file was noticed")
	}
	for _, line := range lines {
		if j.count(line[:12]) != 0 || bytes.Contains(r.JWKS(), []byte(line[:12])) {
			t.Errorf("key material in\n%s\n%s", j.buf.String(), r.JWKS())
		}
	}
}

// TestSignWhileKeysChange signs and publishes while keys rotate: what is signed can
// always be verified with what is published after.
func TestSignWhileKeysChange(t *testing.T) {
	t.Parallel()
	now := &clock{now: epoch}
	r := opened(t, Config{Dir: t.TempDir(), Rotate: hour(2), Retain: hour(60)}, &journal{}, now)
	done := make(chan struct{})
	var signers sync.WaitGroup
	for range 4 {
		signers.Go(func() {
			for {
				signing(t, r)
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	kids := map[string]bool{}
	for minutes := range 60 {
		now.set(time.Duration(minutes) * 10 * time.Minute)
		r.Refresh()
		kids[signing(t, r)] = true
	}
	close(done)
	signers.Wait()
	if len(kids) < 4 {
		t.Errorf("%d keys in ten hours", len(kids))
	}
}
