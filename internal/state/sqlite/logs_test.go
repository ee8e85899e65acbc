package sqlite

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

var kept3 = state.Bound{Entries: 3, Bytes: 1000, TTL: time.Hour}

// rows counts what the tables of logs hold.
func rows(t *testing.T, s *Store) (logs, entries int) {
	t.Helper()
	if err := s.readers.QueryRow(`SELECT (SELECT count(*) FROM logs), (SELECT count(*) FROM log_entries)`).
		Scan(&logs, &entries); err != nil {
		t.Fatal(err)
	}
	return logs, entries
}

// Logs are there after a restart, and go on where they ended.
func TestLogsSurvive(t *testing.T) {
	t.Parallel()
	c := config(filepath.Join(t.TempDir(), "state.db"))
	s := reopen(t, c, time.Now)
	entries := [][]byte{[]byte("1"), []byte("2"), []byte("3"), []byte("4")}
	if err := s.Append(t.Context(), "a", 0, entries, kept3); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = reopen(t, c, time.Now)
	if err := s.Append(t.Context(), "a", 3, entries, kept3); !errors.Is(err, state.ErrMoved) {
		t.Errorf("before its end: %v", err)
	}
	if err := s.Append(t.Context(), "a", 4, [][]byte{[]byte("5")}, kept3); err != nil {
		t.Fatal(err)
	}
	got, err := s.Read(t.Context(), "a", 0, 9)
	if err != nil || got.First != 3 || got.Last != 5 || string(slices.Concat(got.Entries...)) != "345" {
		t.Errorf("%+v, %v", got, err)
	}
}

// What was cut off, dropped or ran out leaves no rows behind, however many they are; a
// log that is only half removed does not come back by what is left.
func TestLogsLeaveNothing(t *testing.T) {
	t.Parallel()
	s, at := kept(t, 48*time.Hour)
	many, all := make([][]byte, 2*batch+1), kept3
	all.Entries = 1 << 40
	put := func(log string, after uint64, entries [][]byte, keep state.Bound) {
		t.Helper()
		if err := s.Append(t.Context(), log, after, entries, keep); err != nil {
			t.Fatal(err)
		}
	}
	hold := func(when string, logs, entries int) {
		t.Helper()
		if l, e := rows(t, s); l != logs || e != entries {
			t.Errorf("%s: %d logs of %d entries; want %d of %d", when, l, e, logs, entries)
		}
	}
	put("cut", 0, many, all)
	put("cut", uint64(len(many)), nil, kept3)
	put("dropped", 0, many, all)
	if err := s.Drop(t.Context(), "dropped"); err != nil {
		t.Fatal(err)
	}
	hold("after a cut and a drop", 1, 3)
	put("big", 0, many, all)
	put("anew", 0, many, all)
	at.pass(time.Hour)
	put("anew", 0, many[:1], all) // in the place of what ran out
	hold("begun anew", 3, 3+len(many)+1)
	half := func() error { _, err := s.sweepBatch(0, at.now().UnixNano()); return err }
	if err := s.hand(half); err != nil {
		t.Fatal(err)
	}
	hold("half swept", 2, len(many)+3+1-batch)
	put("big", 0, many[:2], all)
	if got, err := s.Read(t.Context(), "big", 0, 9); err != nil || got.Last != 2 || len(got.Entries) != 2 {
		t.Errorf("what came back: %+v, %v", got, err)
	}
	at.pass(time.Hour)
	if err := s.sweep(); err != nil {
		t.Fatal(err)
	}
	hold("after the sweep", 0, 0)
}
