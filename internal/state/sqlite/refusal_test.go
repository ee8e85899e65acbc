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
func pragma(t *testing.T, s *Store, text string) {
	t.Helper()
	if _, err := s.writer.conn.ExecContext(t.Context(), text); err != nil {
		t.Fatal(err)
	}
}

// pragmas refuse writes by one statement and take them again by another.
func pragmas(refuse, mend string) func(*testing.T, *Store) func() {
	return func(t *testing.T, s *Store) func() {
		t.Helper()
		pragma(t, s, refuse)
		return func() { pragma(t, s, mend) }
	}
}

// hold has another program hold the file, until it is told to let go. That a write waits for
// it as long as for a backup would tell nothing more.
func hold(t *testing.T, s *Store) func() {
	t.Helper()
	pragma(t, s, `PRAGMA busy_timeout = 500`)
	db, err := sql.Open("sqlite", s.refusal.path)
	if err == nil {
		db.SetMaxOpenConns(1)
		_, err = db.Exec(`BEGIN IMMEDIATE`)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return func() { _ = db.Close() }
}

// A file that refuses a write is away for what has to be recorded, from then on and until it
// takes writes again; what it holds is read meanwhile. Who asks before the first call is told
// as well.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		refuse  func(*testing.T, *Store) (mend func())
		words   string
		unasked bool // a small write finds room yet
	}{
		"read-only":                 {refuse: pragmas(`PRAGMA query_only = ON`, `PRAGMA query_only = OFF`), words: "readonly database"},
		"full":                      {refuse: pragmas(`PRAGMA max_page_count = 1`, `PRAGMA max_page_count = 4294967294`), words: "full", unasked: true},
		"locked by another program": {refuse: hold, words: "locked"},
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
				mend := tc.refuse(t, s)
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
				mend()
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
