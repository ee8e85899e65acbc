package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// told is what a Watcher heard.
type told struct {
	mu  sync.Mutex
	all []error
}

func (h *told) hear(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, err)
}

func (h *told) heard() []error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.all)
}

// pragma runs a statement on the connection that writes. These are about it alone.
func pragma(text string) func(*testing.T, *Store) {
	return func(t *testing.T, s *Store) {
		t.Helper()
		if _, err := s.writer.conn.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
}

// A file that refuses a write is away for what has to be recorded, from then on and until it
// takes writes again; what it holds is read meanwhile. Who asks before the first call is told
// as well.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		refuse, mend func(*testing.T, *Store)
		words        string
		unasked      bool // a small write finds room yet
	}{
		"read-only": {refuse: pragma(`PRAGMA query_only = ON`), mend: pragma(`PRAGMA query_only = OFF`), words: "readonly database"},
		"full":      {refuse: pragma(`PRAGMA max_page_count = 1`), mend: pragma(`PRAGMA max_page_count = 4294967294`), words: "full", unasked: true},
		"locked by another program": {
			refuse: func(t *testing.T, s *Store) {
				t.Helper()
				db, err := sql.Open("sqlite", s.refusal.path)
				if err == nil {
					db.SetMaxOpenConns(1)
					_, err = db.Exec(`BEGIN IMMEDIATE`)
				}
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = db.Close() })
				time.AfterFunc(20*time.Second, func() { _ = db.Close() })
			}, mend: func(*testing.T, *Store) {}, words: "locked",
		},
	} {
		for _, first := range []string{"asked", "called"} {
			t.Run(name+", "+first, func(t *testing.T) {
				t.Parallel()
				if tc.unasked && first == "asked" {
					t.Skip("a write of nothing new works on such a file")
				}
				var says told
				s, err := Open(t.Context(), config(filepath.Join(t.TempDir(), "state.db")), &Watcher{Refuses: says.hear})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = s.Close() })
				n := 0
				claim := func() error {
					n++
					_, err := s.Claim(t.Context(), state.Record{Agent: "a", Kind: state.Task, ID: strings.Repeat("x", 4096) + strconv.Itoa(n)})
					return err
				}
				if err := errors.Join(claim(), s.Ready(t.Context(), "a"), s.Ping(t.Context())); err != nil {
					t.Fatalf("while all is well: %v", err)
				}
				tc.refuse(t, s)
				time.Sleep(2 * state.Proven)
				refused := func(what string, err error) {
					t.Helper()
					if !errors.Is(err, state.ErrUnavailable) || !strings.HasPrefix(err.Error(), "state: sqlite refuses writes: "+s.refusal.path+": ") || !strings.Contains(err.Error(), tc.words) {
						t.Errorf("%s: %v", what, err)
					}
				}
				if first == "asked" {
					refused("asked", s.Ready(t.Context(), "a"))
				} else {
					refused("a call", claim())
				}
				begin := time.Now()
				for range 20 {
					refused("known", s.Away("a"))
					refused("asked again", s.Ready(t.Context(), "a"))
					refused("looked at", s.Ping(t.Context()))
				}
				if took := time.Since(begin); took > 2*time.Second {
					t.Errorf("what is known took %v to say", took)
				}
				if _, there, err := s.Lookup(t.Context(), "a", state.Task, strings.Repeat("x", 4096)+"1"); !there || err != nil {
					t.Errorf("what is there is not read: %v, %v", there, err)
				}
				tc.mend(t, s)
				for end := time.Now().Add(time.Minute); s.Away("a") != nil && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
				}
				if err := errors.Join(s.Away("a"), claim(), s.Ready(t.Context(), "a"), s.Ping(t.Context())); err != nil {
					t.Errorf("with all as before: %v", err)
				}
				if heard := says.heard(); len(heard) != 2 || heard[0] == nil || heard[1] != nil {
					t.Errorf("the watcher heard %v", heard)
				}
			})
		}
	}
}

// What is wrong with one statement says nothing of the next.
func TestErrorsThatAreNoRefusals(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	for _, text := range []string{`INSERT INTO nowhere VALUES (1)`, `INSERT INTO records (agent) VALUES (NULL)`} {
		err := s.hand(func() error {
			_, err := s.writer.conn.ExecContext(context.Background(), text)
			return err
		})
		if err == nil || errors.Is(err, state.ErrUnavailable) || s.Away("a") != nil {
			t.Errorf("%s: %v, away %v", text, err, s.Away("a"))
		}
	}
}

// Ready writes once for all calls of a moment. What it writes does reach the file, or it would
// show nothing.
func TestReadyWritesNowAndThen(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	size := func() int64 {
		info, err := os.Stat(s.refusal.path + walSuffix)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before, begin, asked := size(), time.Now(), 0
	for ; time.Since(begin) < 100*time.Millisecond; asked++ {
		if err := s.Ready(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
	}
	const frame = 4096 + 24 // a page, and what stands before it
	n, most := (size()-before)/frame, int64(time.Since(begin)/state.Proven)+1
	if n < 1 || n > most {
		t.Errorf("%d questions were %d writes, want at most %d", asked, n, most)
	}
}
