package audit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/audit/segment"
	"github.com/a2a-gateway/a2a-gateway/internal/keys"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// oneKey is a configured key that is no secret to anybody.
var oneKey = Encryption{Keys: []secret.Value{secret.New(strings.Repeat("a5", 31) + "00")}}

// days writes so many records on each of some days.
func days(t *testing.T, l *Log, d *fakeDisk, days, each int) {
	t.Helper()
	for range days {
		for i := range each {
			if err := errors.Join(l.Intent(exchange(fmt.Sprint(i))), l.Call(exchange(fmt.Sprint(i)))); err != nil {
				t.Fatal(err)
			}
		}
		d.set(func() { d.clock = d.clock.Add(24 * time.Hour) })
	}
}

func formsIn(t *testing.T, dir string) (forms []string) {
	t.Helper()
	names, err := segment.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		forms = append(forms, n.Day[8:]+string(n.Form))
	}
	return forms
}

// TestForms: in whatever form the files are, all ways to read them give the same.
func TestForms(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		config Config
		forms  string
	}{
		"as written": {Config{}, "[21 22 23 24]"},
		"compressed": {Config{Compress: true}, "[21.zst 22.zst 23.zst 24]"},
		"encrypted":  {Config{Encryption: oneKey}, "[21.enc 22.enc 23.enc 24.enc]"},
		"both":       {Config{Compress: true, Encryption: oneKey}, "[21.zst.enc 22.zst.enc 23.zst.enc 24.enc]"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			d := newFakeDisk()
			c.config.Dir = t.TempDir()
			l, ring := signedLog(t, c.config, d)
			days(t, l, d, 4, 20)
			l.tidyNow()
			if got := fmt.Sprint(formsIn(t, c.config.Dir)); got != c.forms {
				t.Errorf("files %s, want %s", got, c.forms)
			}
			readEverything(t, c.config.Source(), 163)
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			r, err := Verify(t.Context(), c.config.Source(), Check{Keys: ring.JWKS()})
			if err != nil || len(r.Findings) > 0 || r.Records != 164 || r.Segments != 4 {
				t.Errorf("%+v, %v", r, err)
			}
			l = signedBy(t, c.config, d, ring) // numbers go on
			days(t, l, d, 1, 5)
			readEverything(t, c.config.Source(), 174)
		})
	}
}

// readEverything reads a log in each way.
func readEverything(t *testing.T, s reader.Source, total int) {
	t.Helper()
	if at, lost := followed(t, s, reader.Cursor{}, total); int(at.Seq) != total || lost != nil { // small
		t.Errorf("followed to %+v, lost %v", at, lost)
	}
	half, _ := followed(t, s, reader.Cursor{}, total/2)
	if at, lost := followed(t, s, half, total-total/2); int(at.Seq) != total || lost != nil { // small
		t.Errorf("followed from the middle to %+v, lost %v", at, lost)
	}
	calls := 0
	for _, err := range s.Calls() {
		if err != nil {
			t.Fatal(err)
		}
		calls++
	}
	if want := total/2 - 1; calls != want && calls != want-1 {
		t.Errorf("%d calls of %d records", calls, total)
	}
	_, end, err := s.Last(7)
	if err != nil || int(end.Seq) != total { // small
		t.Errorf("last %+v, %v", end, err)
	}
	if got, err := s.End(); err != nil || got != end {
		t.Errorf("the end is at %+v, want %+v, %v", got, end, err)
	}
}

// TestEncryptedHoldsNothingReadable: nothing of a record can be seen without the key.
func TestEncryptedHoldsNothingReadable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := Config{Dir: dir, Encryption: oneKey, Compress: true}
	d := newFakeDisk()
	l, _ := signedLog(t, config, d)
	days(t, l, d, 2, 3)
	l.tidyNow()
	files, err := filepath.Glob(filepath.Join(dir, "audit-*"))
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		content, err := os.ReadFile(f)
		if err != nil || strings.Contains(string(content), "alice") || strings.Contains(string(content), `"seq"`) {
			t.Errorf("%s can be read, %v", f, err)
		}
	}
	if _, err := Verify(t.Context(), reader.Source{Path: dir}, Check{}); err == nil || !strings.Contains(err.Error(), "encrypted with a key that is not there") {
		t.Errorf("without the key: %v", err)
	}
}

// TestKeyGone: files whose key is not there cannot be read, which is no finding about them.
func TestKeyGone(t *testing.T) {
	t.Parallel()
	for _, compress := range []bool{false, true} {
		config := Config{Dir: t.TempDir(), Encryption: oneKey, Compress: compress}
		d := newFakeDisk()
		l, ring := signedLog(t, config, d)
		days(t, l, d, 2, 5)
		l.tidyNow()
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		other := Encryption{Keys: []secret.Value{secret.New(strings.Repeat("5a", 31) + "00")}}
		config.Encryption.Keys = slices.Concat(other.Keys, oneKey.Keys)
		l = signedBy(t, config, d, ring)
		days(t, l, d, 1, 5)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		config.Encryption = other
		r, err := Verify(t.Context(), config.Source(), Check{Keys: ring.JWKS()})
		if err == nil || !strings.Contains(err.Error(), "audit-2026-11-21.jsonl: it is encrypted with a key that is not there") {
			t.Errorf("compressed %v: %+v, %v", compress, r, err)
		}
	}
}

// TestEncryptedDamage: what is changed in an encrypted file is found, and a torn end is
// left for the next file.
func TestEncryptedDamage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := Config{Dir: dir, Encryption: oneKey}
	d := newFakeDisk()
	l, ring := signedLog(t, config, d)
	days(t, l, d, 2, 10)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	path := segment.Name{Day: "2026-11-21", Form: segment.Encrypted}.Path(dir)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	broken := slices.Clone(whole)
	broken[len(broken)/2] ^= 1
	if err := os.WriteFile(path, broken, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Verify(t.Context(), config.Source(), Check{Keys: ring.JWKS()})
	if err != nil || len(r.Findings) < 2 || r.Findings[0].Kind != kindTruncated || r.Findings[len(r.Findings)-1].Kind != kindChanged {
		t.Errorf("%s, %v", said(r), err)
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	appendTo(t, segment.Name{Day: "2026-11-22", Form: segment.Encrypted}.Path(dir), "\x00\x00\x02\x00torn")
	l = signedBy(t, config, d, ring)
	days(t, l, d, 1, 1)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err = Verify(t.Context(), config.Source(), Check{Keys: ring.JWKS()}); err != nil || len(r.Findings) > 0 || len(r.Torn) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestEncryptedDiskFull: half a frame is taken back like half a line, and where it cannot
// be, what is whole counts.
func TestEncryptedDiskFull(t *testing.T) {
	t.Parallel()
	for _, cut := range []error{nil, syscall.EIO} {
		config := Config{Dir: t.TempDir(), Encryption: oneKey}
		d := newFakeDisk()
		l, ring := signedLog(t, config, d)
		days(t, l, d, 1, 3)
		d.set(func() { d.space, d.cutErr = 300, cut })
		if err := l.Intent(exchange("too much")); err == nil {
			t.Fatal("there was no space")
		}
		d.set(func() { d.space, d.cutErr, d.clock = -1, nil, d.clock.Add(2*time.Second) })
		if err := errors.Join(l.Intent(exchange("later")), l.Close()); err != nil {
			t.Fatal(err)
		}
		if r, err := Verify(t.Context(), config.Source(), Check{Keys: ring.JWKS()}); err != nil || len(r.Findings) > 0 {
			t.Errorf("%s, %v", said(r), err)
		}
	}
}

// TestRetention: old files go, and the log still holds; a file that goes otherwise is missed.
func TestRetention(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		retention Retention
		read      string // the segment that a reader has come to, if there is one
		left      string
	}{
		"age":     {Retention{Age: quantity.Duration(36 * time.Hour)}, "", "[23 24 25]"},
		"size":    {Retention{Size: 2 * minSegmentSize}, "", "[23 24 25]"},
		"both":    {Retention{Age: quantity.Duration(100 * time.Hour), Size: 2 * minSegmentSize}, "", "[23 24 25]"},
		"not yet": {Retention{Age: quantity.Duration(1000 * time.Hour)}, "", "[21 22 23 24 25]"},
		"held":    {Retention{Age: quantity.Duration(36 * time.Hour)}, "audit-2026-11-22.jsonl", "[22 23 24 25]"},
		"full":    {Retention{Size: 2 * minSegmentSize}, "audit-2026-11-22.jsonl", "[23 24 25]"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			config := Config{Dir: dir, SegmentSize: minSegmentSize, Retention: c.retention}
			if c.read != "" {
				config.Held = reader.Cursor{Segment: c.read, Seq: 1}.Needs
			}
			d := newFakeDisk()
			l, ring := signedLog(t, config, d)
			days(t, l, d, 4, 40)
			days(t, l, d, 1, 1)
			d.set(func() { d.clock = d.clock.Add(-24 * time.Hour) })
			l.tidyNow()
			if got := fmt.Sprint(formsIn(t, dir)); got != c.left {
				t.Fatalf("left %s, want %s", got, c.left)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			holds(t, config, ring, c.left == "[21 22 23 24 25]")
			names, _ := segment.List(dir)
			if err := os.Remove(names[0].Path(dir)); err != nil {
				t.Fatal(err)
			}
			if r := verified(t, dir, Check{}); len(r.Findings) != 1 || r.Findings[0].Kind != kindMissingSegment {
				t.Errorf("after one more was removed: %s", said(r))
			}
		})
	}
}

func holds(t *testing.T, config Config, ring *keys.Ring, all bool) {
	t.Helper()
	r, err := Verify(t.Context(), config.Source(), Check{Keys: ring.JWKS()})
	if err != nil || len(r.Findings) > 0 || (r.Removed == 0) != all || r.Removed > 0 && r.From != r.Removed+1 {
		t.Errorf("%+v, %v", r, err)
	}
	// That older files were removed says a record of a later day.
	names, _ := segment.List(config.Dir)
	if r := verified(t, config.Dir, Check{Keys: ring.JWKS(), To: names[0].End().Add(-time.Hour)}); len(r.Findings) > 0 || r.Segments != 1 {
		t.Errorf("of the first day: %+v", r)
	}
}

// TestInterruptedTidying: what a crash leaves of it is made good.
func TestInterruptedTidying(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := Config{Dir: dir, Compress: true}
	d := newFakeDisk()
	l, ring := signedLog(t, config, d)
	days(t, l, d, 3, 10)
	first := segment.Name{Day: "2026-11-21"}
	appendTo(t, first.Path(dir)+".zst.new", "half")
	appendTo(t, first.Path(dir)+".zst", "of no use")
	l.tidyNow()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(formsIn(t, dir)); got != "[21.zst 22.zst 23]" {
		t.Errorf("left %s", got)
	}
	holds(t, config, ring, true)
}

func TestCheckForms(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]Config{
		"telemetry.audit.encryption.keys[1]: want 32 bytes": {Encryption: Encryption{Keys: []secret.Value{oneKey.Keys[0], secret.New("short")}}},
		"telemetry.audit.encryption.keys: 17 keys":          {Encryption: Encryption{Keys: make([]secret.Value, 17)}},
		"telemetry.audit.retention.age: 1m is less":         {Retention: Retention{Age: quantity.Duration(time.Minute)}},
		"telemetry.audit.retention.size: 1KiB is less":      {Retention: Retention{Size: 1024}},
	} {
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestCloseInterruptsCompressing: who ends the gateway does not wait for a backlog, of which
// the next one compresses what is left.
func TestCloseInterruptsCompressing(t *testing.T) {
	testenv.Long(t, "a backlog is written that takes long to compress")
	t.Parallel()
	dir := t.TempDir()
	d := newFakeDisk()
	config := Config{Dir: dir, SegmentSize: 256 << 20}
	l, ring := signedLog(t, config, d)
	for range 2 {
		for i := range 3000 {
			if err := l.Intent(exchange(fmt.Sprintf("%d-%x", i, i*7919*104729))); err != nil {
				t.Fatal(err)
			}
		}
		d.set(func() { d.clock = d.clock.Add(24 * time.Hour) })
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	one, err := os.ReadFile(segment.Name{Day: "2026-11-21"}.Path(dir))
	if err != nil {
		t.Fatal(err)
	}
	for day := range 8 { // which are no part of the log
		n := segment.Name{Day: fmt.Sprintf("2026-10-%02d", day+1)}
		if err := os.WriteFile(n.Path(dir), slices.Concat(slices.Repeat([][]byte{one}, (4<<20)/len(one))...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config.Compress = true
	l = signedBy(t, config, d, ring)
	began := time.Now()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	took, left := time.Since(began), formsIn(t, dir)
	if !slices.Contains(left, "21") || took > 5*time.Second {
		t.Errorf("it took %v to close, with %v", took, left)
	}
	if half, err := filepath.Glob(filepath.Join(dir, "*.new")); len(half) > 0 || err != nil {
		t.Errorf("left %v, %v", half, err)
	}
	l = signedBy(t, config, d, ring)
	l.tidyNow()
	if got := fmt.Sprint(formsIn(t, dir)); got != "[01.zst 02.zst 03.zst 04.zst 05.zst 06.zst 07.zst 08.zst 21.zst 22.zst 23]" {
		t.Errorf("left %s", got)
	}
}

// TestTidyingHoldsUpNothing: what is due by the clock is done while old files are looked after.
func TestTidyingHoldsUpNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		asked, answer := make(chan struct{}, 1), make(chan struct{})
		config := Config{Dir: dir, Retention: Retention{Age: quantity.Duration(36 * time.Hour)}}
		config.Held = func(string) bool {
			select {
			case asked <- struct{}{}:
			default:
			}
			<-answer
			return true
		}
		for _, day := range []string{"1999-12-01", "1999-12-02"} { // the time begins in 2000
			if err := os.WriteFile(segment.Name{Day: day}.Path(dir), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		l, _ := signedLog(t, config, nil)
		<-asked
		if err := l.Intent(exchange("1")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * defaultInterval)
		if r := verified(t, dir, Check{}); r.Checkpoints != 1 {
			t.Errorf("%d checkpoints while files are looked after", r.Checkpoints)
		}
		close(answer)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
