package audit

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/audit/vault"
	"github.com/a2a-gateway/a2a-gateway/internal/keys"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// capturing is a log that captures whatever the caller of a call sends.
type capturing struct {
	*Log

	t    *testing.T
	disk *fakeDisk
	ring *keys.Ring
	dir  string
	made int
}

func newCapturing(t *testing.T, keep time.Duration) *capturing {
	t.Helper()
	ring, err := keys.Open(keys.Config{Dir: t.TempDir(), Algorithm: "EdDSA"}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ring.Close)
	c := &capturing{t: t, disk: newFakeDisk(), ring: ring, dir: t.TempDir()}
	c.disk.clock = time.Now().AddDate(0, 0, -30) // what is over by then is over now
	c.start(keep)
	return c
}

// start opens the log, as a gateway does that starts.
func (c *capturing) start(keep time.Duration) {
	c.t.Helper()
	config := Config{Dir: c.dir, Content: Content{Rules: []ContentRule{
		{Capture: captureRequest, Label: "internal", Retention: quantity.Duration(keep)},
	}}}
	c.Log = signedBy(c.t, config, c.disk, c.ring)
	if err := c.KeepWith(c.ring); err != nil {
		c.t.Fatal(err)
	}
}

func (c *capturing) stop() {
	c.t.Helper()
	if err := c.Close(); err != nil {
		c.t.Fatal(err)
	}
}

// call makes a call of somebody's.
func (c *capturing) call(who, issuer string) {
	c.t.Helper()
	c.made++
	e := exchange(fmt.Sprint(c.made))
	e.Principal, e.Issuer, e.Start = who, issuer, c.disk.now()
	c.Capture(e.Agent, "", []byte(`{"text":"hello"}`)).End(e)
	if e.Content == nil || e.Content.Lost {
		c.t.Fatal("nothing was captured")
	}
	if err := errors.Join(c.Intent(e), c.Call(e)); err != nil {
		c.t.Fatal(err)
	}
}

// events are the events about content, in short.
func (c *capturing) events() string {
	c.t.Helper()
	var all []string
	for _, f := range filesOf(c.t, c.dir) {
		for _, line := range f.lines {
			var e struct {
				Event string            `json:"event"`
				Attrs map[string]string `json:"attrs"`
			}
			if err := json.Unmarshal(line, &e); err != nil {
				c.t.Fatal(err)
			}
			if strings.HasPrefix(e.Event, "content.") {
				all = append(all, strings.TrimSpace(strings.Join([]string{
					e.Event, e.Attrs["outcome"], e.Attrs["who"], e.Attrs["principal"], e.Attrs["calls"],
				}, " ")))
			}
		}
	}
	return strings.Join(all, "; ")
}

func (c *capturing) verify(check Check) *Report {
	c.t.Helper()
	check.Keys, check.Interval = c.ring.JWKS(), 100*24*time.Hour
	return verified(c.t, c.dir, check)
}

func (c *capturing) wants(what string, want Contents) {
	c.t.Helper()
	r := c.verify(Check{Sealer: c.ring})
	if len(r.Findings) > 0 || r.Content == nil || *r.Content != want {
		c.t.Errorf("%s: %+v, want %+v; %s", what, r.Content, want, said(r))
	}
}

func (c *capturing) says(want string) {
	c.t.Helper()
	if got := c.events(); got != want {
		c.t.Errorf("events are %s, want %s", got, want)
	}
}

var admin = map[string]string{"who": "admin-token", "client_ip": "192.0.2.1"}

// TestErase: what is erased by the gateway that runs is in the chain, before and after,
// and accounts for what is not there any more; and for nobody else's.
func TestErase(t *testing.T) {
	t.Parallel()
	c := newCapturing(t, 0)
	for range 3 {
		c.call("alice", "https://a.example")
		c.call("bob", "https://a.example")
	}
	c.call("alice", "https://b.example")
	c.wants("before", Contents{Records: 7, Verified: 7})
	e, err := c.Erase(vault.Subject{Name: "alice", Issuer: "https://a.example"}, admin)
	if err != nil || e.Items != 3 {
		t.Fatalf("%+v, %v", e, err)
	}
	c.wants("after", Contents{Records: 7, Verified: 4, Erased: 3, Erasures: 1})
	c.disk.set(func() { c.disk.clock = c.disk.clock.Add(time.Minute) })
	c.call("alice", "https://a.example")
	c.wants("and more", Contents{Records: 8, Verified: 5, Erased: 3, Erasures: 1})
	if r := c.verify(Check{}); r.Content.Unread != 5 || r.Content.Erased != 3 {
		t.Errorf("without keys: %+v", r.Content)
	}
	if r := c.verify(Check{NoContent: true}); r.Content == nil || r.Content.Erasures != 1 || r.Content.Records != 0 {
		t.Errorf("without content: %+v", r.Content)
	}
	begun := "content.erased begun admin-token alice; content.erased done admin-token alice 3"
	c.says(begun)
	c.tellErasures()
	c.stop()
	c.start(0)
	c.says(begun)
	c.wants("in the end", Contents{Records: 8, Verified: 5, Erased: 3, Erasures: 1})
}

// TestEraseByDirectory: what is erased by a command while no gateway runs is in the chain
// when one does, and accounted for before.
func TestEraseByDirectory(t *testing.T) {
	t.Parallel()
	c := newCapturing(t, 0)
	c.call("alice", "x")
	c.call("bob", "x")
	c.stop()
	held := Config{Dir: c.dir}.Source().Held(c.ring)
	for range 2 {
		if _, err := held.Erase(vault.Subject{Name: "alice"}, "", c.disk.now); err != nil {
			t.Fatal(err)
		}
	}
	c.wants("while nothing runs", Contents{Records: 2, Verified: 1, Erased: 1, Erasures: 2, Pending: 2})
	c.says("")
	c.start(0)
	want := "content.erased done directory alice 1; content.erased done directory alice 0"
	c.says(want)
	c.wants("once it runs", Contents{Records: 2, Verified: 1, Erased: 1, Erasures: 2})
	// While it runs it is seen within a second.
	c.erasures.Lock() // else it may be seen when it has begun, as well
	if _, err := held.Erase(vault.Subject{Name: "bob"}, "", c.disk.now); err != nil {
		t.Fatal(err)
	}
	c.erasures.Unlock()
	c.tendContent()
	want += "; content.erased done directory bob 1"
	c.says(want)
	c.stop()
	c.start(0)
	c.says(want)
	c.wants("in the end", Contents{Records: 2, Erased: 2, Erasures: 3})
}

// TestEraseWithoutRules: what was captured can be erased, and its time ends, when nothing
// is captured any more.
func TestEraseWithoutRules(t *testing.T) {
	t.Parallel()
	c := newCapturing(t, 24*time.Hour)
	c.call("alice", "x")
	c.call("bob", "x")
	c.stop()
	c.Log = signedBy(t, Config{Dir: c.dir}, c.disk, c.ring)
	if err := c.KeepWith(c.ring); err != nil {
		t.Fatal(err)
	}
	if e, err := c.Erase(vault.Subject{Name: "alice"}, admin); err != nil || e.Items != 1 {
		t.Errorf("%+v, %v", e, err)
	}
	c.disk.set(func() { c.disk.clock = c.disk.clock.Add(48 * time.Hour) })
	c.tidyNow()
	c.says("content.erased begun admin-token alice; content.erased done admin-token alice 1; content.expired done   1")
}

// TestContentExpires: what retention removes is recorded, and no finding, even where it is
// not recorded.
func TestContentExpires(t *testing.T) {
	t.Parallel()
	c := newCapturing(t, 24*time.Hour)
	c.call("alice", "x")
	c.call("bob", "x")
	c.wants("before", Contents{Records: 2, Verified: 2})
	c.disk.set(func() { c.disk.clock = c.disk.clock.Add(48 * time.Hour) })
	c.tidyNow()
	c.says("content.expired done   2")
	c.wants("after", Contents{Records: 2, Expired: 2})
}

// TestEraseUnrecorded: on a full disk nothing is erased, as nothing can be recorded; what
// was begun when the disk became full is recorded when there is room.
func TestEraseUnrecorded(t *testing.T) {
	t.Parallel()
	c := newCapturing(t, 0)
	c.call("alice", "x")
	c.disk.set(func() { c.disk.space = 0 })
	if _, err := c.Erase(vault.Subject{Name: "alice"}, admin); !errors.Is(err, ErrUnrecorded) || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v", err)
	}
	c.disk.set(func() { c.disk.space = 450 }) // for one record
	if e, err := c.Erase(vault.Subject{Name: "alice"}, admin); err != nil || e.Items != 1 {
		t.Errorf("%+v, %v", e, err)
	}
	c.says("content.erased begun admin-token alice")
	c.wants("while the disk is full", Contents{Records: 1, Erased: 1, Erasures: 1})
	c.disk.set(func() { c.disk.space = -1 })
	c.tendContent()
	c.says("content.erased begun admin-token alice; content.erased done admin-token alice 1")
	c.wants("in the end", Contents{Records: 1, Erased: 1, Erasures: 1})
}

// TestErasureInterrupted: a gateway that is killed while it erases leaves what the next one
// records, and what it has destroyed is accounted for.
func TestErasureInterrupted(t *testing.T) {
	t.Parallel()
	c := newCapturing(t, 0)
	c.call("alice", "x")
	if err := c.Event(eventErased, erasureAttrs(vault.Erasure{ID: "E", State: vault.Begun, Subject: "alice"}, admin)); err != nil {
		t.Fatal(err)
	}
	c.erasures.Lock() // else it may be seen when it has begun, as well
	if _, err := c.content.Load().held.Erase(vault.Subject{Name: "alice"}, "E", c.disk.now); err != nil {
		t.Fatal(err)
	}
	c.erasures.Unlock()
	c.wants("dead", Contents{Records: 1, Erased: 1, Erasures: 1})
	c.stop() // it has not seen what there is to tell
	c.start(0)
	c.says("content.erased begun admin-token alice; content.erased done directory alice 1")
	c.wants("in the end", Contents{Records: 1, Erased: 1, Erasures: 1})
}

// TestVerifyFindsContent: content that nobody erased, or that is not what was kept, is
// named.
func TestVerifyFindsContent(t *testing.T) {
	t.Parallel()
	for what, tt := range map[string]struct {
		do   func(c *capturing)
		want string
		all  int // findings
	}{
		"no keys":  {func(c *capturing) { c.away("content-*.keys") }, MissingContent, 4},
		"no files": {func(c *capturing) { c.away("content-*") }, MissingContent, 4},
		"a key overwritten": {func(c *capturing) {
			c.change("content-*.keys", func(b []byte) []byte { copy(b, strings.Repeat("-", 40)); return b })
		}, MissingContent, 2},
		"a key changed": {func(c *capturing) {
			c.change("content-*.keys", func(b []byte) []byte { b[50] ^= 3; return b })
		}, ChangedContent, 2},
		"content changed": {func(c *capturing) {
			c.change("content-*.enc", func(b []byte) []byte { b[60] ^= 1; return b })
		}, ChangedContent, 1},
		"content cut": {func(c *capturing) {
			c.change("content-*.enc", func(b []byte) []byte { return b[:len(b)-1] })
		}, MissingContent, 1},
		"another's was erased": {func(c *capturing) {
			if _, err := c.Erase(vault.Subject{Name: "carol"}, admin); err != nil {
				c.t.Fatal(err)
			}
			c.away("content-*.keys")
		}, MissingContent, 4},
		"one of them was erased before": {func(c *capturing) {
			if _, err := c.Erase(vault.Subject{Name: "alice"}, admin); err != nil {
				c.t.Fatal(err)
			}
			c.disk.set(func() { c.disk.clock = c.disk.clock.Add(time.Minute) })
			c.call("alice", "x") // this one was not
			c.away("content-*.keys")
		}, MissingContent, 3},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			c := newCapturing(t, 0)
			for range 2 {
				c.call("alice", "x")
				c.call("bob", "x")
			}
			tt.do(c)
			r := c.verify(Check{Sealer: c.ring})
			if kindsOf(r) != tt.want || len(r.Findings) != tt.all || r.Findings[0].Segment == "" || r.Findings[0].Line == 0 {
				t.Errorf("%s, %+v", said(r), r.Content)
			}
			if r.Content.Missing+r.Content.Changed != tt.all {
				t.Errorf("%+v", r.Content)
			}
			day := c.disk.now().AddDate(0, 0, 5)
			if r := c.verify(Check{Sealer: c.ring, From: day.AddDate(0, 0, -9), To: day.AddDate(0, 0, -7)}); len(r.Findings) > 0 {
				t.Errorf("of other days: %s", said(r))
			}
		})
	}
}

func (c *capturing) away(pattern string) {
	paths, _ := filepath.Glob(filepath.Join(c.dir, pattern))
	for _, path := range paths {
		if err := os.Remove(path); err != nil {
			c.t.Fatal(err)
		}
	}
}

func (c *capturing) change(pattern string, how func([]byte) []byte) {
	paths, _ := filepath.Glob(filepath.Join(c.dir, pattern))
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			c.t.Fatal(err)
		}
		if err := os.WriteFile(path, how(data), 0o600); err != nil {
			c.t.Fatal(err)
		}
	}
}

// TestVerifyWhileErasuresAreTold: an erasure that is recorded behind what a verification
// has read of the log is known to it all the same.
func TestVerifyWhileErasuresAreTold(t *testing.T) {
	t.Parallel()
	c := newCapturing(t, 0)
	defer c.stop()
	c.call("alice", "x")
	v, err := newVerifier(reader.Source{Path: c.dir}, Check{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (Config{Dir: c.dir}).Source().Held(c.ring).Erase(vault.Subject{Name: "alice"}, "", c.disk.now); err != nil {
		t.Fatal(err)
	}
	c.tellErasures()
	if err := v.readPending(); err != nil || len(v.pending) != 1 {
		t.Errorf("%d erasures are known of, %v", len(v.pending), err)
	}
}

// TestErasuresAnyOrder does what may be done in any order: what is there and what is not
// always adds up, and a log that nobody damaged is found whole.
func TestErasuresAnyOrder(t *testing.T) {
	testenv.Long(t, "records are erased in every order")
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		c := newCapturing(t, 0)
		held := Config{Dir: c.dir}.Source().Held(c.ring)
		there, gone, erasures := map[string]int{}, 0, 0
		defer c.stop()
		for range rapid.IntRange(1, 8).Draw(r, "steps") {
			who := rapid.SampledFrom([]string{"alice", "bob", "a\u202eb\\"}).Draw(r, "who")
			c.disk.set(func() { c.disk.clock = c.disk.clock.Add(time.Minute) })
			switch what := rapid.SampledFrom([]string{"call", "call", "erase", "directory", "restart", "day"}).Draw(r, "what"); what {
			case "call":
				c.call(who, "x")
				there[who]++
			case "erase", "directory":
				var err error
				if what == "erase" {
					_, err = c.Erase(vault.Subject{Name: who}, admin)
				} else {
					_, err = held.Erase(vault.Subject{Name: who}, "", c.disk.now)
				}
				if err != nil {
					r.Fatal(err)
				}
				erasures++
				gone += there[who]
				there[who] = 0
			case "restart":
				c.stop()
				c.start(0)
			case "day":
				c.disk.set(func() { c.disk.clock = c.disk.clock.Add(24 * time.Hour) })
			}
		}
		left := 0
		for _, n := range there {
			left += n
		}
		report := c.verify(Check{Sealer: c.ring})
		got := Contents{}
		if report.Content != nil {
			got = *report.Content
		}
		if len(report.Findings) > 0 && kindsOf(report) != Unsigned || got.Verified != left || got.Erased != gone || got.Erasures != erasures {
			r.Fatalf("%+v; %d are there, %d were erased in %d erasures; %s", got, left, gone, erasures, said(report))
		}
	})
}

// FuzzNaming: a record is never misread for one that names content.
func FuzzNaming(f *testing.F) {
	f.Add(`,"content":{"id":"2026-11-22_000.0","digest":"sha-256:00","bytes":3,"label":"internal","until":"2026-11-23"}`)
	f.Add(`,"content":{"label":"internal","lost":true},"segment":{"name":"audit-2026-11-22.jsonl"}`)
	f.Add(`,"user_agent":"\",\"content\":{\"id\":\"x\"}"`)
	f.Fuzz(func(t *testing.T, members string) {
		body := `{"seq":1,"v":1,"type":"call"` + members
		line := body + `,"hash":"` + strings.Repeat("0", 64) + `"}`
		n, ok := namingOf([]byte(line), []byte(body))
		if ok && n == (naming{}) && !strings.Contains(line, `"content":{`) {
			t.Errorf("%+v", n)
		}
		erasureOf([]byte(line), 1)
	})
}
