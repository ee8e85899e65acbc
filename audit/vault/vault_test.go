package vault

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/keys"
)

// clock is a time that tests set.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

const day = 24 * time.Hour

func ring(t testing.TB) *keys.Ring {
	t.Helper()
	r, err := keys.Open(keys.Config{Dir: t.TempDir()}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// world is a vault and its reader.
type world struct {
	*testing.T
	Reader
	clock *clock
	vault *Vault
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		T: t, Reader: Reader{Dir: t.TempDir(), Sealer: ring(t)},
		clock: &clock{at: time.Date(2026, 11, 22, 13, 0, 0, 0, time.UTC)},
	}
	w.open()
	return w
}

func (w *world) open() {
	w.Helper()
	v, err := Open(w.Dir, w.Sealer, w.clock.now)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = v.Close() })
	w.vault = v
}

func (w *world) put(subject, text string, keep time.Duration) Receipt {
	w.Helper()
	got, err := w.vault.Put(&Item{
		Time: w.clock.now(), RequestID: "r-" + text, Issuer: "https://issuer.example", Subject: subject, Agent: "billing",
		Label: "confidential", Request: &Body{Text: text, Bytes: int64(len(text))},
	}, keep)
	if err != nil {
		w.Fatal(err)
	}
	return got
}

func (w *world) text(id string) string {
	w.Helper()
	item, err := w.Item(id)
	if err != nil {
		return err.Error()
	}
	return item.Subject + ": " + item.Request.Text
}

// texts is what can be read.
func (w *world) texts() string {
	w.Helper()
	var all []string
	for item, err := range w.Items() {
		if err != nil {
			w.Fatal(err)
		}
		all = append(all, item.Request.Text)
	}
	return strings.Join(all, " ")
}

// files is all bytes of the directory.
func (w *world) files() []byte {
	w.Helper()
	var all []byte
	entries, err := os.ReadDir(w.Dir)
	if err != nil {
		w.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(w.Dir, e.Name()))
		if err != nil {
			w.Fatal(err)
		}
		all = append(all, b...)
	}
	return all
}

func TestPut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, two := w.put("alice", "one", 0), w.put("bob", "two", day)
	w.open() // a gateway that starts again
	three := w.put("alice", "three", 0)
	w.clock.pass(day)
	four := w.put("alice", "four", 0)
	for id, want := range map[string]string{
		one.ID: "alice: one", two.ID: "bob: two", three.ID: "alice: three", four.ID: "alice: four",
		"2026-11-22_000.1": ErrAbsent.Error(), "2026-11-22_000.999999": ErrAbsent.Error(), "../x": ErrAbsent.Error(),
		"2026-11-22_0000.0": ErrAbsent.Error(), "2026-11-20_000.0": ErrErased.Error(), "": ErrAbsent.Error(),
	} {
		if got := w.text(id); got != want {
			t.Errorf("%q: %s, want %s", id, got, want)
		}
	}
	if got := w.texts(); got != "one two three four" {
		t.Errorf("there are %s", got)
	}
	item, err := w.Item(one.ID)
	if err != nil || item.Digest != one.Digest || one.Bytes == 0 {
		t.Errorf("its digest is %s, of what was put %s (%v)", item.Digest, one.Digest, err)
	}
	if w.put("alice", "one", 0).Digest == one.Digest {
		t.Error("the same content has the same digest")
	}
	for _, plain := range []string{"one", "alice", "issuer.example", "confidential"} {
		if bytes.Contains(w.files(), []byte(plain)) {
			t.Errorf("%q can be read in the files", plain)
		}
	}
}

func TestErase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.put("alice", "one", 0)
	w.put("bob", "two", 0)
	w.clock.pass(day)
	last := w.put("alice", "three", 30*day)
	before := w.files()
	done, err := w.Erase(Subject{Name: "alice"}, "", w.clock.now)
	if err != nil || done.Items != 2 || done.Bytes == 0 {
		t.Fatalf("erased %+v, %v", done, err)
	}
	if w.text(first.ID) != ErrErased.Error() || w.text(last.ID) != ErrErased.Error() || w.texts() != "two" {
		t.Errorf("there are %s", w.texts())
	}
	after := w.files()
	if len(after) < len(before) || bytes.Count(after, []byte("-----------")) == 0 {
		t.Error("keys were not overwritten in their place")
	}
	next := w.put("alice", "four", 0) // by the gateway that had the key at hand
	if w.text(next.ID) != "alice: four" {
		t.Error("what is captured afterwards is lost")
	}
	if again, err := w.Erase(Subject{Name: "alice", Issuer: "https://other.example"}, "", w.clock.now); err != nil || again.Items != 0 {
		t.Errorf("another issuer's alice: %+v, %v", again, err)
	}
	if again, err := w.Erase(Subject{Name: "alice", Issuer: "https://issuer.example"}, "", w.clock.now); err != nil || again.Items != 1 {
		t.Errorf("once more: %+v, %v", again, err)
	}
	if again, err := w.Erase(Subject{Name: "alice"}, "", w.clock.now); err != nil || again.Items != 0 {
		t.Errorf("nothing is left: %+v, %v", again, err)
	}
	entries, _, err := w.Untold()
	if err != nil || len(entries) != 4 || entries[0].Items != 2 {
		t.Errorf("%+v, %v", entries, err)
	}
}

// TestEraseUnknown makes sure that erasing says so when it does not know whose a key is.
func TestEraseUnknown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("alice", "one", 0)
	other := Reader{Dir: w.Dir, Sealer: ring(t)}
	done, err := other.Erase(Subject{Name: "alice"}, "", w.clock.now)
	if err == nil || done.State != "failed" || !strings.Contains(err.Error(), "keys.sealing") {
		t.Errorf("%+v, %v", done, err)
	}
	if w.texts() != "one" {
		t.Error("it is gone all the same")
	}
}

func TestRetention(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	short, long := w.put("alice", "short", day), w.put("alice", "long", 3*day)
	tidy := func(want int) {
		t.Helper()
		if e, err := w.vault.Tidy(); err != nil || e.Items != want {
			t.Errorf("%d items are over, want %d; %v", e.Items, want, err)
		}
	}
	tidy(0)
	w.clock.pass(day)
	tidy(0) // to the end of its last day
	w.clock.pass(day)
	w.put("alice", "now", 0)
	tidy(1)
	tidy(0)
	if w.text(short.ID) != ErrErased.Error() || w.text(long.ID) != "alice: long" {
		t.Errorf("there are %s", w.texts())
	}
	w.clock.pass(2 * day)
	tidy(1)
	if w.texts() != "now" || w.text(long.ID) != ErrErased.Error() {
		t.Errorf("there are %s", w.texts())
	}
	names, err := list(w.Dir)
	if err != nil || len(names) != 1 {
		t.Errorf("files are left: %v, %v", names, err)
	}
}

// TestNamesAreNotUsedAgain: content that is kept after a restart gets no id that content
// which is gone had, though all of the latter's files could be removed.
func TestNamesAreNotUsedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gone := w.put("alice", "one", 0)
	restart := func() {
		t.Helper()
		if err := w.vault.Close(); err != nil {
			t.Fatal(err)
		}
		w.open()
		if _, err := w.vault.Tidy(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Erase(Subject{Name: "alice"}, "", w.clock.now); err != nil {
		t.Fatal(err)
	}
	restart()
	restart()
	if got := w.put("bob", "two", 0); got.ID == gone.ID {
		t.Errorf("both are %s", got.ID)
	}
	if got := w.text(gone.ID); got != ErrErased.Error() {
		t.Errorf("what was erased is %q", got)
	}
	shelf := &Shelf{Reader: w.Reader}
	if err := shelf.Check(gone.ID, gone.Digest); !errors.Is(err, ErrErased) {
		t.Errorf("what was erased is %v", err)
	}
	if entries, err := filepath.Glob(filepath.Join(w.Dir, "*"+dataForm)); err != nil || len(entries) != 1 {
		t.Errorf("there are %v, %v", entries, err)
	}
}

// TestTorn cuts both files here and there: what is whole stays readable.
func TestTorn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one := w.put("alice", "one", 0)
	two := w.put("bob", "two", 0)
	n, at, _ := parseID(two.ID)
	data, err := os.ReadFile(n.path(w.Dir, dataForm))
	if err != nil {
		t.Fatal(err)
	}
	locks, err := os.ReadFile(n.path(w.Dir, keysForm))
	if err != nil {
		t.Fatal(err)
	}
	second := bytes.IndexByte(locks, '\n') + 1
	for size := at; size < int64(len(data)); size += 7 {
		w.cut(n, data[:size], locks)
	}
	for size := second; size < len(locks); size += 7 {
		w.cut(n, data, locks[:size])
	}
	w.open()
	three := w.put("alice", "three", 0)
	if w.text(one.ID) != "alice: one" || w.text(three.ID) != "alice: three" {
		t.Errorf("there are %s", w.texts())
	}
}

func (w *world) cut(n name, data, locks []byte) {
	w.Helper()
	if err := errors.Join(os.WriteFile(n.path(w.Dir, dataForm), data, 0o600), os.WriteFile(n.path(w.Dir, keysForm), locks, 0o600)); err != nil {
		w.Fatal(err)
	}
	if got := w.texts(); got != "one" {
		w.Fatalf("with %d and %d bytes there are %s", len(data), len(locks), got)
	}
}

// TestChanged makes sure that a frame is readable in its place only, and unchanged.
func TestChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one := w.put("alice", "one", 0)
	w.put("alice", "two", 0)
	n, _, _ := parseID(one.ID)
	data, err := os.ReadFile(n.path(w.Dir, dataForm))
	if err != nil {
		t.Fatal(err)
	}
	half := len(data) / 2 // both frames are as long
	for what, changed := range map[string][]byte{
		"changed": append(append([]byte{}, data[:len(data)-1]...), data[len(data)-1]^1),
		"swapped": append(append([]byte{}, data[half:]...), data[:half]...),
	} {
		if err := os.WriteFile(n.path(w.Dir, dataForm), changed, 0o600); err != nil {
			t.Fatal(err)
		}
		faults := 0
		for _, err := range w.Items() {
			if err != nil {
				faults++
			}
		}
		if faults == 0 {
			t.Errorf("%s: nobody notices", what)
		}
	}
}

// TestMany makes sure that puts, erasures and readers do not disturb each other.
func TestMany(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for j := range 50 {
				item := &Item{Subject: fmt.Sprint("user-", i), Label: "internal", Request: &Body{Text: fmt.Sprint(j)}}
				if _, err := w.vault.Put(item, day); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Go(func() {
		for range 10 {
			if _, err := w.Erase(Subject{Name: "user-0"}, "", w.clock.now); err != nil {
				t.Error(err)
			}
			if _, err := w.vault.Tidy(); err != nil {
				t.Error(err)
			}
		}
	})
	all.Wait()
	if _, err := w.Erase(Subject{Name: "user-0"}, "", w.clock.now); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for item, err := range w.Items() {
		if err != nil {
			t.Fatal(err)
		}
		count[item.Subject]++
	}
	if count["user-0"] != 0 || count["user-1"] != 50 || count["user-3"] != 50 {
		t.Errorf("there are %v", count)
	}
}

func TestWriteFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one := w.put("alice", "one", 0)
	_ = w.vault.files.data.Close() // as if the disk had gone
	if _, err := w.vault.Put(&Item{Subject: "alice"}, 0); err == nil {
		t.Fatal("nobody noticed")
	}
	two := w.put("alice", "two", 0)
	if w.text(one.ID) != "alice: one" || w.text(two.ID) != "alice: two" {
		t.Errorf("there are %s", w.texts())
	}
}
