package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/state/statetest"
)

// occupied keeps the writer busy until release is called.
func occupied(t *testing.T, s *Store) (release func()) {
	t.Helper()
	begun, ended, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	first := true
	go func() {
		done <- s.hand(func() error {
			if first {
				close(begun)
				<-ended
			}
			first = false
			return nil
		})
	}()
	<-begun
	return func() {
		close(ended)
		if err := <-done; err != nil {
			t.Errorf("the job that kept the writer busy: %v", err)
		}
	}
}

// waiting returns when n jobs wait for the writer.
func waiting(s *Store, n int) {
	for len(s.writer.jobs) < n {
		runtime.Gosched()
	}
}

// A caller who leaves is answered at once, and its claim is recorded all the same.
func TestClaimOfWhoHasGone(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	release := occupied(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		_, err := s.Claim(ctx, statetest.Example())
		left <- err
	}()
	waiting(s, 1)
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller who left was told %v", err)
	}
	release()
	if err := s.Ping(t.Context()); err != nil { // comes behind the claim
		t.Fatal(err)
	}
	r := statetest.Example()
	if got, ok, err := s.Lookup(t.Context(), r.Agent, r.Kind, r.ID); !ok || err != nil || got.Owner != r.Owner {
		t.Errorf("its claim: %+v, %v, %v", got, ok, err)
	}
}

// Writes that come together are one transaction; one that fails takes nobody with it,
// and leaves nothing of its own.
func TestOneFailsAlone(t *testing.T) {
	t.Parallel()
	const callers = 20
	s := fresh(t)
	release := occupied(t, s)
	errs := make([]chan error, callers)
	for i := range callers {
		errs[i] = make(chan error, 1)
		go func() {
			errs[i] <- s.hand(func() error {
				_, err := s.values.put.Exec(s.values.row("s", fmt.Sprint(i), nil, 0)...)
				if err == nil && i == 7 {
					_, err = s.values.put.Exec([]byte("s"), []byte("null"), nil, 0)
				}
				return err
			})
		}()
	}
	waiting(s, callers)
	release()
	for i := range callers {
		if err := <-errs[i]; (err != nil) != (i == 7) {
			t.Errorf("caller %d: %v", i, err)
		}
		if _, ok, err := s.Get(t.Context(), "s", fmt.Sprint(i)); ok == (i == 7) || err != nil {
			t.Errorf("the value of caller %d is there: %v, %v", i, ok, err)
		}
	}
}

// A disk that is full fails claims of new ids, which then have no owner, and nothing
// else; with room again they succeed.
func TestR12_DiskFull(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	room := func(pages int) {
		t.Helper()
		if err := s.hand(func() error {
			_, err := s.writer.conn.ExecContext(context.Background(), fmt.Sprint("PRAGMA max_page_count = ", pages))
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	room(60)
	known, failed := statetest.Example(), statetest.Example()
	if _, err := s.Claim(t.Context(), known); err != nil {
		t.Fatal(err)
	}
	var err error
	for i := range 10_000 {
		failed.ID = fmt.Sprint(i)
		if _, err = s.Claim(t.Context(), failed); err != nil {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "full") {
		t.Fatalf("the claim that found no room: %v", err)
	}
	if err := s.Put(t.Context(), "s", "k", make([]byte, 10_000), 0); err == nil {
		t.Error("a value found room")
	}
	for range 2 { // as it is remembered, and as it stands in the file
		if got, err := s.Claim(t.Context(), known); err != nil || got.Owner != known.Owner {
			t.Errorf("a known id: %q, %v", got.Owner, err)
		}
		s.forget()
	}
	if _, ok, err := s.Lookup(t.Context(), failed.Agent, failed.Kind, failed.ID); ok || err != nil {
		t.Errorf("the id of the claim that failed: %v, %v", ok, err)
	}
	room(10_000)
	failed.Owner = "bob"
	if got, err := s.Claim(t.Context(), failed); err != nil || got.Owner != "bob" {
		t.Errorf("with room again: %q, %v", got.Owner, err)
	}
}

// A file that goes bad while it is open gives errors, not absence.
func TestR12_DamageDenies(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	r := statetest.Example()
	if _, err := s.Claim(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if err := s.hand(func() error {
		_, err := s.writer.conn.ExecContext(context.Background(), `UPDATE records SET extensions = x'ff'`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	s.forget()
	if got, ok, err := s.Lookup(t.Context(), r.Agent, r.Kind, r.ID); ok || err == nil || got.Owner != "" {
		t.Errorf("Lookup: %+v, %v, %v", got, ok, err)
	}
	r.Owner = "bob"
	if got, err := s.Claim(t.Context(), r); err == nil || got.Owner != "" {
		t.Errorf("Claim: %+v, %v", got, err)
	}
	if list, err := s.Tasks(t.Context(), state.Query{Agent: r.Agent, Everyone: true, Limit: 9}); err == nil || list != nil {
		t.Errorf("Tasks: %+v, %v", list, err)
	}
}

func TestClosed(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Put(t.Context(), "s", "k", nil, 0); !errors.Is(err, ErrClosed) {
		t.Errorf("Put: %v", err)
	}
	if err := s.Ping(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("Ping: %v", err)
	}
	r := statetest.Example()
	if _, ok, err := s.Lookup(t.Context(), r.Agent, r.Kind, r.ID); ok || err == nil || errors.Is(err, sql.ErrNoRows) {
		t.Errorf("Lookup: %v, %v", ok, err)
	}
}
