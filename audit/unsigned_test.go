package audit

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
)

// kindsOf are the kinds of what was found, each once.
func kindsOf(r *Report) string {
	var all []string
	for _, f := range r.Findings {
		all = append(all, f.Kind)
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}

// young is a log that is being written and has no checkpoint yet.
func young(t *testing.T, now time.Time) (dir string, d *fakeDisk, l *Log) {
	t.Helper()
	dir, d = t.TempDir(), newFakeDisk()
	d.clock = now
	l, _ = signedLog(t, Config{Dir: dir}, d)
	for i := range 3 {
		if err := l.Intent(exchange(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	return dir, d, l
}

// TestVerifyYoung: that nothing is signed yet is no finding as long as nothing had to be,
// and only where nothing was.
func TestVerifyYoung(t *testing.T) {
	t.Parallel()
	dir, _, l := young(t, time.Now())
	if r := verified(t, dir, Check{}); len(r.Findings) > 0 || !r.Young || r.Unsigned != 3 || r.Signed != 0 {
		t.Errorf("%+v", r)
	}
	if r := verified(t, dir, Check{Head: NoHead}); len(r.Findings) > 0 || !r.Young {
		t.Errorf("with no look at the end: %+v", r)
	}
	if r := verified(t, dir, Check{Interval: time.Nanosecond}); kindsOf(r) != Unsigned || r.Young {
		t.Errorf("with a checkpoint every nanosecond: %+v", r)
	}
	head, err := os.ReadFile(filepath.Join(dir, chain.HeadFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, chain.HeadFile)); err != nil {
		t.Fatal(err)
	}
	if r := verified(t, dir, Check{}); kindsOf(r) != Unsigned {
		t.Errorf("without a head: %+v", r)
	}
	if err := os.WriteFile(filepath.Join(dir, chain.HeadFile), head, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if r := verified(t, dir, Check{}); len(r.Findings) > 0 || r.Young || r.Unsigned != 0 || r.Signed != 3 {
		t.Errorf("signed: %+v", r)
	}
}

// TestVerifyNotYoung: a log whose checkpoints were taken away does not pass for a young one.
func TestVerifyNotYoung(t *testing.T) {
	t.Parallel()
	empty := []byte("{\"segment\":\"\",\"seq\":0,\"hash\":\"\",\"time\":\"\",\"checkpoint\":\"\"}\n")
	for what, tt := range map[string]struct {
		age    time.Duration // of the log
		keep   int           // records
		head   []byte        // nil: as it is
		want   string
		copied bool // the head that is known is a copy from before
	}{
		"the end is gone":                        {0, 2, nil, "truncated, unsigned", false},
		"the end is gone, and the head is reset": {time.Minute, 2, empty, Unsigned, false},
		"all is gone, and the head is reset":     {0, 0, empty, Unsigned, false},
		// Who can write all of the files, within seconds of the first record, can do this. It is
		// what copies of the head are for.
		"within seconds":              {0, 2, empty, "", false},
		"within seconds, with a copy": {0, 2, empty, "truncated, unsigned", true},
		"of the future":               {-time.Hour, 2, empty, Unsigned, false},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			dir, d := t.TempDir(), newFakeDisk()
			d.clock = time.Now().Add(-tt.age)
			l, ring := signedLog(t, Config{Dir: dir}, d)
			if err := errors.Join(l.Intent(exchange("1")), l.Intent(exchange("2")), l.Intent(exchange("3")), l.Close()); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, chain.HeadFile)
			known, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			f := filesOf(t, dir)[0]
			if err := os.WriteFile(f.path, bytes.Join(f.lines[:tt.keep], nil), 0o600); err != nil {
				t.Fatal(err)
			}
			if tt.head != nil {
				if err := os.WriteFile(path, tt.head, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			check := Check{Keys: ring.JWKS()}
			if tt.copied {
				check.Head = filepath.Join(t.TempDir(), "copy")
				if err := os.WriteFile(check.Head, known, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if r := verified(t, dir, check); kindsOf(r) != tt.want {
				t.Errorf("found %q, want %q: %s", kindsOf(r), tt.want, said(r))
			}
		})
	}
}

// TestVerifyUnsigned counts what the next checkpoint will cover, which is no finding: a log
// that is written to always has some.
func TestVerifyUnsigned(t *testing.T) {
	t.Parallel()
	// Three hours from noon are in one day: with the next one a file begins, and a checkpoint ends this.
	dir, d, l := young(t, time.Now().Truncate(24*time.Hour).Add(12*time.Hour))
	l.sealNow()
	if err := l.syncNow(); err != nil { // with the head
		t.Fatal(err)
	}
	for want := range 3 {
		if r := verified(t, dir, Check{}); len(r.Findings) > 0 || r.Young || r.Unsigned != want || r.Signed != 3 {
			t.Errorf("%d are not signed yet: %+v", want, r)
		}
		d.set(func() { d.clock = d.clock.Add(time.Hour) })
		if err := l.Intent(exchange(fmt.Sprint("later ", want))); err != nil {
			t.Fatal(err)
		}
	}
}
