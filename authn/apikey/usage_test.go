package apikey

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
	"github.com/a2a-gateway/a2a-gateway/internal/durable"
)

// clock is a clock that tests turn.
type clock struct{ at atomic.Int64 }

func (c *clock) now() time.Time        { return time.Unix(c.at.Load(), 0).UTC() }
func (c *clock) set(t time.Time)       { c.at.Store(t.Unix()) }
func stamp(hour, minute int) time.Time { return time.Date(2030, 1, 1, hour, minute, 0, 0, time.UTC) }

func usageOf(t *testing.T, path string) *Usage {
	t.Helper()
	u, err := ReadUsage(path)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// What was used is on disk once the chain is closed, and is continued by the next one.
func TestKeyUsage(t *testing.T) {
	t.Parallel()
	k, path := keyStore(t)
	alice, bob := create(t, k, Spec{ID: "alice"}), create(t, k, Spec{ID: "bob"})
	create(t, k, Spec{ID: "carol"})
	usage := filepath.Join(t.TempDir(), "usage.json")
	var c clock
	chain := func() *authn.Chain { return openKeys(t, path, Options{Usage: usage, Now: c.now}) }
	c.set(stamp(1, 0))
	first := chain()
	for _, key := range []string{alice, bob, alice} {
		c.set(c.now().Add(time.Minute))
		if !accepted(first, key) {
			t.Fatal("refused")
		}
	}
	c.set(stamp(1, 2))
	accepted(first, alice)          // the clock was set back
	accepted(first, bob[:20])       // no use of a key
	accepted(first, bob[:20]+"a2a") // nor this
	first.Close()
	want := &Usage{Since: stamp(1, 0), Last: map[string]time.Time{"alice": stamp(1, 3), "bob": stamp(1, 2)}}
	if diff := cmp.Diff(want, usageOf(t, usage)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if info, err := os.Stat(usage); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	c.set(stamp(2, 0))
	second := chain()
	accepted(second, bob)
	second.Close()
	want.Last["bob"] = stamp(2, 0)
	if diff := cmp.Diff(want, usageOf(t, usage)); diff != "" {
		t.Errorf("second run: -want +got\n%s", diff)
	}
	before, _ := os.Stat(usage)
	idle := chain()
	idle.Close()
	if after, _ := os.Stat(usage); !os.SameFile(before, after) {
		t.Error("written without anything new")
	}
}

// Changes of the key file take no use away, not even that of a key which is gone for a
// while.
func TestKeyUsageSurvivesEdits(t *testing.T) {
	t.Parallel()
	k, path := keyStore(t)
	alice := create(t, k, Spec{ID: "alice"})
	usage := filepath.Join(t.TempDir(), "usage.json")
	var now clock
	now.set(stamp(1, 0))
	c := openKeys(t, path, Options{Usage: usage, Now: now.now})
	accepted(c, alice)
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	authntest.Eventually(t, "file removed", func() bool { return !accepted(c, alice) })
	now.set(stamp(3, 0))
	if err := durable.Replace(path, doc); err != nil {
		t.Fatal(err)
	}
	last := func() uint32 {
		if table := From(c).file.table.Load(); len(table.keys) > 0 {
			return table.keys[0].used.Load()
		}
		return 0
	}
	authntest.Eventually(t, "use known again", func() bool { return last() == unixSeconds(stamp(1, 0)) })
	if err := k.Revoke("alice"); err != nil {
		t.Fatal(err)
	}
	authntest.Eventually(t, "revoked", func() bool { return len(From(c).file.table.Load().keys) == 0 })
	bob := create(t, k, Spec{ID: "bob"})
	authntest.Eventually(t, "bob", func() bool { return accepted(c, bob) })
	c.Close()
	want := map[string]time.Time{"alice": stamp(1, 0), "bob": stamp(3, 0)}
	if diff := cmp.Diff(want, usageOf(t, usage).Last); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	now.set(stamp(4, 0).Add(usageKept))
	late := openKeys(t, path, Options{Usage: usage, Now: now.now})
	accepted(late, bob)
	late.Close()
	if diff := cmp.Diff(map[string]time.Time{"bob": now.now()}, usageOf(t, usage).Last); diff != "" {
		t.Errorf("a year later: -want +got\n%s", diff)
	}
}

// No use is lost while tables take one another's place.
func TestKeyUsageDuringReloads(t *testing.T) {
	t.Parallel()
	records, _ := manyRecords(50)
	var now clock
	now.set(stamp(1, 0))
	f := &keyFile{}
	f.table.Store(tableOf(t, records...))
	f.usage = &keyUsage{now: now.now, table: f.table.Load, gone: map[string]uint32{}}
	stop := make(chan struct{})
	var wg, reload sync.WaitGroup
	reload.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				f.adopt(tableOf(t, records...))
			}
		}
	})
	for g := range 2 {
		wg.Go(func() {
			for n := range 20_000 {
				table := f.table.Load()
				f.used(table, uint32(n%25*2+g), stamp(1, 0).Add(time.Duration(n)*time.Second))
			}
		})
	}
	wg.Wait()
	close(stop)
	reload.Wait()
	got := f.usage.last()
	for n := 20_000 - 25; n < 20_000; n++ {
		for g := range 2 {
			id := fmt.Sprint("service-", n%25*2+g)
			if want := unixSeconds(stamp(1, 0).Add(time.Duration(n) * time.Second)); got[id] != want {
				t.Errorf("%s: %d, want %d", id, got[id], want)
			}
		}
	}
}

// Troubles with the usage file are a line in the log, once, and nothing to callers.
func TestKeyUsageTrouble(t *testing.T) {
	t.Parallel()
	k, path := keyStore(t)
	alice := create(t, k, Spec{ID: "alice"})
	dir := t.TempDir()
	foreign := filepath.Join(dir, "foreign.json")
	if err := os.WriteFile(foreign, []byte("keys: precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ path, says string }{
		"no directory": {filepath.Join(dir, "none", "usage.json"), "not written"},
		"other file":   {foreign, "not kept"},
		"directory":    {dir, "not kept"},
	} {
		var log authntest.Log
		c := openKeys(t, path, Options{Usage: tt.path, Logger: log.Logger()})
		for range 3 {
			if !accepted(c, alice) {
				t.Errorf("%s: refused", name)
			}
		}
		if u := From(c).file.usage; u != nil {
			c.Close() // ends the goroutine, after which write is the test's
			u.write()
			u.write()
		}
		c.Close()
		if n := strings.Count(log.String(), tt.says); n != 1 {
			t.Errorf("%s: said %d times: %s", name, n, log.String())
		}
	}
	if doc, _ := os.ReadFile(foreign); string(doc) != "keys: precious" {
		t.Errorf("somebody's file became %q", doc)
	}
}

// Another usage file is another watch; the same one is shared.
func TestKeyUsageOfReloadedChain(t *testing.T) {
	t.Parallel()
	k, path := keyStore(t)
	create(t, k, Spec{ID: "alice"})
	dir := t.TempDir()
	a := openKeys(t, path, Options{Usage: filepath.Join(dir, "a")})
	b := openKeys(t, path, Options{Usage: filepath.Join(dir, "a"), Previous: From(a)})
	c := openKeys(t, path, Options{Usage: filepath.Join(dir, "c"), Previous: From(b)})
	if From(a).file != From(b).file || From(b).file == From(c).file {
		t.Error("not shared as configured")
	}
	for _, chain := range []*authn.Chain{a, b, c} {
		chain.Close()
	}
}

func TestParseKeyUsage(t *testing.T) {
	t.Parallel()
	for doc, ok := range map[string]bool{
		`{"since": "2030-01-01T00:00:00Z", "keys": {}}`:                            true,
		`{"since": "2030-01-01T00:00:00Z", "keys": {"a": "2030-01-01T00:00:00Z"}}`: true,
		``:                       false,
		`{}`:                     false,
		`{"keys": {}}`:           false,
		`[]`:                     false,
		`{"since": "yesterday"}`: false,
		`{"since": "2030-01-01T00:00:00Z", "keys": {}, "more": 1}`: false,
		`{"since": "2030-01-01T00:00:00Z", "keys": {}} {}`:         false,
		`{"since": "2030-01-01T00:00:00Z", "keys": {"a": 7}}`:      false,
	} {
		if _, err := parseKeyUsage([]byte(doc)); (err == nil) != ok {
			t.Errorf("%s: %v", doc, err)
		}
	}
	if _, err := ReadUsage(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func FuzzParseKeyUsage(f *testing.F) {
	f.Add([]byte(`{"since": "2030-01-01T00:00:00Z", "keys": {"a": "2030-01-01T00:00:00Z"}}`))
	f.Add([]byte(`{"since": "0001-01-01T00:00:01Z", "keys": {"..": "9999-12-31T23:59:59Z", "a": "1960-01-01T00:00:00Z"}}`))
	f.Add([]byte(`{"since": "2030-01-01T00:00:00Z", "keys": {}}`))
	f.Add([]byte(`{"since": "2030-01-01T00:00:00+23:59", "keys": {"a": null}}`))
	f.Add([]byte(`{"since": "2030-01-01T00:00:00Z", "keys": {"a": "2030-01-01T00:00:00Z", "\u0061": "2031-01-01T00:00:00Z"}}`))
	f.Add([]byte(`{"keys": [1]}{"since": ""}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		was, err := parseKeyUsage(doc)
		if err != nil {
			return
		}
		// What is continued from any file can be read again.
		u := &keyUsage{since: was.Since, now: func() time.Time { return time.Unix(0, 0) },
			table: func() *keyTable { return new(keyTable) }, gone: map[string]uint32{}}
		for id, at := range was.Last {
			u.gone[id] = unixSeconds(at)
		}
		if _, err := parseKeyUsage(u.document()); err != nil {
			t.Fatalf("%v in\n%s", err, u.document())
		}
	})
}
