package vault

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestUntold: whoever tells of erasures gets each once, by its last entry, and again
// until the place is kept.
func TestUntold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	untold := func(want string) int64 {
		t.Helper()
		all, end, err := w.Untold()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range all {
			got = append(got, e.ID+":"+e.State+":"+e.Subject+e.Why)
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("untold are %s, want %s", s, want)
		}
		return end
	}
	untold("")
	w.put("alice", "one", 0)
	for _, id := range []string{"a", "b"} {
		if _, err := w.Erase(Subject{Name: "alice"}, id, w.clock.now); err != nil {
			t.Fatal(err)
		}
	}
	untold("a:done:alice b:done:alice")
	if err := w.note(Erasure{ID: "c", State: Begun, Subject: "bob"}); err != nil {
		t.Fatal(err)
	}
	end := untold("a:done:alice b:done:alice c:begun:bob")
	if err := w.Told(end); err != nil || end != w.Noted() {
		t.Fatal(end, err)
	}
	untold("")
	w.append(`{"id":"d","state":"beg`) // somebody was killed
	untold("")
	if err := w.note(Erasure{ID: "c", State: Done, Subject: "bob"}); err != nil {
		t.Fatal(err)
	}
	w.append("{}\nnothing\n{\"state\":\"begun\",\"subject\":\"old\"}\n{\"state\":\"done\",\"subject\":\"old\"}\n{\"state\":\"done\",\"subject\":\"older\"}\n")
	untold("c:done:bob :done:old :done:older")
	for _, place := range []string{"", "x", "-1", "99999999999"} {
		if err := os.WriteFile(filepath.Join(w.Dir, erasurePlace), []byte(place), 0o600); err != nil {
			t.Fatal(err)
		}
		untold("a:done:alice b:done:alice c:done:bob :done:old :done:older")
	}
}

func (w *world) append(text string) {
	w.Helper()
	f, err := os.OpenFile(filepath.Join(w.Dir, erasureLog), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		w.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		w.Fatal(err)
	}
	if err := f.Close(); err != nil {
		w.Fatal(err)
	}
}

// TestOf: one subject's items come page by page.
func TestOf(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var want []string
	for i := range 6 {
		want = append(want, w.put("alice", "mine", 0).ID)
		w.put("bob", "other", 0)
		if i%2 == 1 {
			w.clock.pass(day)
		}
	}
	for from := -1; from < len(want); from++ {
		after := ""
		if from >= 0 {
			after = want[from]
		}
		var got []string
		for item, err := range w.Of(Subject{Name: "alice"}, after) {
			if err != nil || item.Subject != "alice" {
				t.Fatal(item, err)
			}
			got = append(got, item.ID)
		}
		if !slices.Equal(got, want[from+1:]) {
			t.Errorf("after %q: %v", after, got)
		}
	}
	for _, err := range w.Of(Subject{Name: "alice"}, "nonsense") {
		if !errors.Is(err, ErrAbsent) {
			t.Error(err)
		}
	}
}

// TestErasureIsOfWhatWasThere: what is captured once an erasure has begun is not erased by
// it, wherever in between the gateway makes its drawers.
func TestErasureIsOfWhatWasThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("alice", "before", 0)
	ticking := func() time.Time { // is asked when the erasure has seen what there is
		w.put("alice", "meanwhile", 0)
		return w.clock.now()
	}
	if _, err := w.Erase(Subject{Name: "alice"}, "", ticking); err != nil {
		t.Fatal(err)
	}
	w.put("alice", "after", 0)
	if got := w.texts(); got != "after" { // meanwhile went into the drawer that was there before
		t.Errorf("there are %s", got)
	}
}

// TestShelf: what is there is held against its digest, what is not is told from what was
// changed.
func TestShelf(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shelf, blind := &Shelf{Reader: w.Reader}, &Shelf{Reader: Reader{Dir: w.Dir}}
	stranger := &Shelf{Reader: Reader{Dir: w.Dir, Sealer: ring(t)}}
	one, two := w.put("alice", "one", 0), w.put("bob", "two", 0)
	check := func(what string, s *Shelf, r Receipt, want error) {
		t.Helper()
		if err := s.Check(r.ID, r.Digest); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
	}
	check("there", shelf, one, nil)
	check("there, without keys", blind, one, nil)
	check("by a stranger", stranger, one, ErrChanged)
	check("another's digest", shelf, Receipt{ID: one.ID, Digest: two.Digest}, ErrChanged)
	// What stands there is random, and may say that it goes on behind the end.
	if err := shelf.Check("2026-11-22_000.7", one.Digest); !errors.Is(err, ErrChanged) && !errors.Is(err, ErrAbsent) {
		t.Errorf("another's place: %v", err)
	}
	check("behind the end", shelf, Receipt{ID: "2026-11-22_000.99999"}, ErrAbsent)
	check("no id", shelf, Receipt{ID: "../../x"}, ErrAbsent)
	check("no file", shelf, Receipt{ID: "2026-11-20_000.0"}, ErrErased)
	if _, err := w.Erase(Subject{Name: "alice"}, "", w.clock.now); err != nil {
		t.Fatal(err)
	}
	fresh := &Shelf{Reader: w.Reader}
	check("erased", fresh, one, ErrErased)
	check("erased, without keys", &Shelf{Reader: Reader{Dir: w.Dir}}, one, ErrErased)
	check("that of somebody else", fresh, two, nil)
	three := w.put("carol", "three", 0)
	check("came meanwhile", fresh, three, nil)
	n, at, _ := parseID(three.ID)
	data, err := os.ReadFile(n.path(w.Dir, dataForm))
	if err != nil {
		t.Fatal(err)
	}
	data[at+frameHead+keyID+20] ^= 1
	if err := os.WriteFile(n.path(w.Dir, dataForm), data, 0o600); err != nil {
		t.Fatal(err)
	}
	check("changed", fresh, three, ErrChanged)
}

// TestShelfRemembersSome looks into more files than keys are kept of.
func TestShelfRemembersSome(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shelf := &Shelf{Reader: w.Reader}
	var all []Receipt
	for range 3 * mostBunches {
		all = append(all, w.put("alice", "one", 0))
		w.clock.pass(day)
	}
	rapid.Check(t, func(r *rapid.T) {
		one := rapid.SampledFrom(all).Draw(r, "one")
		if err := shelf.Check(one.ID, one.Digest); err != nil || len(shelf.keys) > mostBunches {
			r.Fatal(err, len(shelf.keys))
		}
	})
}

// TestTidyUnopened: a key that cannot be opened does not keep what is over in other files.
func TestTidyUnopened(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stranger, err := Open(w.Dir, ring(t), w.clock.now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stranger.Put(&Item{Subject: "alice"}, day); err != nil {
		t.Fatal(err)
	}
	_ = stranger.Close()
	w.open()
	w.put("alice", "one", day)
	w.clock.pass(2 * day)
	if e, err := w.vault.Tidy(); err == nil || e.Items != 1 || e.State != Failed || e.Why != Retention {
		t.Errorf("%+v, %v", e, err)
	}
}

// FuzzErasures: whatever stands in the log of erasures, reading it ends, and what it gives
// are entries.
func FuzzErasures(f *testing.F) {
	f.Add("{\"id\":\"a\",\"time\":\"2026-11-22T13:00:00Z\",\"state\":\"begun\",\"subject\":\"alice\",\"items\":0,\"bytes\":0}\n" +
		"{\"id\":\"a\",\"time\":\"2026-11-22T13:00:00Z\",\"state\":\"done\",\"subject\":\"alice\",\"items\":2,\"bytes\":7}\n")
	f.Add("{\"state\":\"done\"}\n{\"state\":\"failed\"}\n{}\n\n{\"id\":\"b\",\"sta")
	f.Add("\x00\n{\"id\":\"x\",\"state\":\"done\",\"why\":\"retention\"}\n")
	f.Fuzz(func(t *testing.T, text string) {
		ids := map[string]bool{}
		for _, e := range lastEntries([]byte(text)) {
			if e.State != Begun && e.State != Done && e.State != Failed || e.ID != "" && ids[e.ID] {
				t.Errorf("%+v", e)
			}
			ids[e.ID] = true
		}
	})
}

// FuzzFrames: whatever stands in the files, reading them ends.
func FuzzFrames(f *testing.F) {
	f.Add([]byte{0, 0, 0, 20, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 1, 2, 3, 4}, []byte("00 x\n--\n"), int64(0))
	f.Add([]byte{255, 255, 255, 255}, []byte("0102030405060708090a0b0c0d0e0f10 AAAA\n"), int64(3))
	f.Add([]byte{}, []byte{}, int64(0))
	f.Add(make([]byte, 200), []byte("--\n--\n"), int64(-1))                                                                    // frames of no length
	f.Add([]byte{0, 0, 0, 20, 1}, []byte("0102030405060708090a0b0c0d0e0f10 AAAA"), int64(1<<62))                               // torn, both
	f.Add([]byte{127, 255, 255, 255, 0}, []byte("0102030405060708090a0b0c0d0e0f10 "+strings.Repeat("A", 2000)+"\n"), int64(4)) // large
	f.Fuzz(func(t *testing.T, data, keys []byte, at int64) {
		dir := t.TempDir()
		n := name{day: "2026-11-22"}
		if err := errors.Join(os.WriteFile(n.path(dir, dataForm), data, 0o600), os.WriteFile(n.path(dir, keysForm), keys, 0o600)); err != nil {
			t.Fatal(err)
		}
		for range frames(dir, n, 0, func(id [keyID]byte) bool { return id[0]%2 == 0 }) { //nolint:revive // reading is all
		}
		_ = (&Shelf{Reader: Reader{Dir: dir}}).Check(n.id(at), "")
	})
}
