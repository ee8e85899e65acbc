package audit

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/audit/segment"
)

// TestKnows: a place is known whatever became of the file, and not when the log is a copy
// from before, whether its numbers have come to that place again or not.
func TestKnows(t *testing.T) {
	t.Parallel()
	for what, config := range map[string]Config{
		"as written": {}, "compressed": {Compress: true}, "encrypted": {Encryption: oneKey}, "both": {Compress: true, Encryption: oneKey},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			copied := config
			config.Dir, copied.Dir = t.TempDir(), t.TempDir()
			d := newFakeDisk()
			l, ring := signedLog(t, config, d)
			days(t, l, d, 1, 10)
			if err := errors.Join(l.Close(), os.CopyFS(copied.Dir, os.DirFS(config.Dir))); err != nil {
				t.Fatal(err)
			}
			l = signedBy(t, config, d, ring)
			days(t, l, d, 2, 10)
			l.tidyNow()
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			var places []reader.Cursor
			for e, err := range config.Source().Records(t.Context(), reader.Cursor{}) {
				if err != nil {
					t.Fatal(err)
				}
				places = append(places, e.Cursor)
			}
			knows := func(s reader.Source, at reader.Cursor, want bool) {
				t.Helper()
				if got, err := s.Knows(at); got != want || err != nil {
					t.Errorf("%+v: %v, %v", at, got, err)
				}
			}
			of := func(s reader.Source, from, to int, want bool) {
				t.Helper()
				for _, at := range places[from:to] {
					knows(s, at, want)
				}
			}
			knows(config.Source(), reader.Cursor{}, true)
			of(config.Source(), 0, len(places), true)
			const before = 21 // with the checkpoint
			of(copied.Source(), 0, before, true)
			of(copied.Source(), before, len(places), false)
			l = signedBy(t, copied, d, ring)
			days(t, l, d, 3, 20) // past the end of the other
			l.tidyNow()
			of(copied.Source(), 0, before, true)
			of(copied.Source(), before, len(places), false)
			names, err := segment.List(copied.Dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(names[0].Path(copied.Dir), filepath.Join(copied.Dir, "moved")); err != nil {
				t.Fatal(err)
			}
			of(copied.Source(), 0, before, true) // as far as can be told
		})
	}
}

// TestKnowsMovedFiles: when all files were moved away the log goes on behind them.
func TestKnowsMovedFiles(t *testing.T) {
	t.Parallel()
	dir, _ := specimen(t)
	_, end, err := (reader.Source{Path: dir}).Last(0)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range filesOf(t, dir) {
		if err := os.Remove(f.path); err != nil {
			t.Fatal(err)
		}
	}
	if known, err := (reader.Source{Path: dir}).Knows(end); !known || err != nil {
		t.Errorf("%v, %v", known, err)
	}
	if err := os.Remove(filepath.Join(dir, chain.HeadFile)); err != nil {
		t.Fatal(err)
	}
	if known, err := (reader.Source{Path: dir}).Knows(end); known || err != nil {
		t.Errorf("without a head: %v, %v", known, err)
	}
}
