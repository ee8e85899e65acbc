package sink

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"

	dto "github.com/prometheus/client_model/go"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/audit/postgres"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// memory is a sink whose outages are made by hand.
type memory struct {
	mu      sync.Mutex
	got     []uint64 // numbers, as they came
	calls   int
	failing error
	hangs   bool
	half    bool // what fails has been stored in part
	closed  bool
}

func (m *memory) Put(ctx context.Context, entries []reader.Entry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	if m.hangs {
		m.mu.Unlock()
		<-ctx.Done()
		m.mu.Lock()
		return ctx.Err()
	}
	for i, e := range entries {
		if m.failing != nil && (!m.half || i >= len(entries)/2) {
			return m.failing
		}
		if !bytes.HasPrefix(e.Line, fmt.Appendf(nil, `{"seq":%d,`, e.Seq)) {
			return fmt.Errorf("record %d is %s", e.Seq, e.Line)
		}
		m.got = append(m.got, e.Seq)
	}
	return nil
}

func (m *memory) Close() error {
	m.closed = true
	return nil
}

func (m *memory) set(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

func (m *memory) numbers() []uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.got)
}

// world is a log and its sink.
type world struct {
	dir   string
	log   *audit.Log
	sinks *Sinks
	tel   *telemetry.Telemetry
	said  *bytes.Buffer
}

// begin opens a log in dir with one sink. It ends with end.
func begin(t *testing.T, dir string, to Sink) *world {
	t.Helper()
	w := &world{dir: dir, said: new(bytes.Buffer)}
	var err error
	w.tel, err = telemetry.Open(t.Context(), telemetry.Config{Logs: telemetry.Logs{Output: w.said}}, "test")
	if err != nil {
		t.Fatal(err)
	}
	c := audit.Config{Dir: dir, SegmentSize: 64 << 10}
	if w.log, err = audit.Open(c, "gw", w.tel); err != nil {
		t.Fatal(err)
	}
	path := placePath(dir, "memory")
	at, err := openPlace(path)
	if err != nil {
		t.Fatal(err)
	}
	w.sinks = &Sinks{log: w.log, runners: []*runner{{
		name: "memory", kind: "postgres", batch: 20, timeout: time.Second, source: c.Source(), to: to, path: path, place: at,
		metrics: &w.tel.Metrics.Audit, log: w.tel.Log,
	}}}
	w.sinks.start(&w.tel.Metrics.Audit)
	return w
}

func (w *world) write(t *testing.T, n int) {
	t.Helper()
	for range n {
		if err := w.log.Event("test", map[string]string{"text": strings.Repeat("x", 500)}); err != nil {
			t.Fatal(err)
		}
	}
}

// end closes everything and returns what was logged.
func (w *world) end(t *testing.T) string {
	t.Helper()
	if err := errors.Join(w.log.Close(), w.sinks.Close(t.Context()), w.tel.Close(t.Context())); err != nil {
		t.Error(err)
	}
	return w.said.String()
}

// metric is the value of a metric of the sink.
func (w *world) metric(t *testing.T, name string) float64 {
	t.Helper()
	families, err := w.tel.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "a2a_gateway_audit_sink_"+name {
			continue
		}
		if len(f.GetMetric()) != 1 || f.GetMetric()[0].GetLabel()[0].GetValue() != "postgres" {
			t.Fatalf("%s: %v", name, f.GetMetric())
		}
		if m := f.GetMetric()[0]; f.GetType() == dto.MetricType_COUNTER {
			return m.GetCounter().GetValue()
		}
		return f.GetMetric()[0].GetGauge().GetValue()
	}
	t.Fatalf("there is no %s", name)
	return 0
}

// upTo is 1 to n.
func upTo(n uint64) (all []uint64) {
	for i := range n {
		all = append(all, i+1)
	}
	return all
}

// TestOutage: while a sink takes nothing the log goes on, metrics and the log say so, and
// then the sink gets everything in order. An outage of an hour is said twice, not at each try.
func TestOutage(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*memory){
		"fails":         func(m *memory) { m.failing = errors.New("no such host") },
		"fails halfway": func(m *memory) { m.failing, m.half = errors.New("no such host"), true },
		"hangs":         func(m *memory) { m.hangs = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				m := &memory{}
				w := begin(t, dir, m)
				w.write(t, 10)
				time.Sleep(time.Second)
				if got := m.numbers(); !slices.Equal(got, upTo(10)) {
					t.Errorf("it has %v", got)
				}
				m.set(func() { lose(m) })
				w.write(t, 300) // several segments
				time.Sleep(time.Hour)
				calls := 0
				m.set(func() { calls = m.calls })
				if calls > 1000 {
					t.Errorf("tried %d times in an hour", calls)
				}
				if w.metric(t, "failing") != 1 || w.metric(t, "lag_records") != 300 || w.metric(t, "lag_seconds") < 3600 || w.metric(t, "failures_total") < 100 {
					t.Error("the metrics do not say so")
				}
				m.set(func() { m.failing, m.hangs = nil, false })
				time.Sleep(time.Minute)
				got := m.numbers()
				slices.Sort(got)
				if got = slices.Compact(got); !slices.Equal(got, upTo(310)) {
					t.Errorf("it has %v", got)
				}
				if w.metric(t, "failing") != 0 || w.metric(t, "lag_records") != 0 || w.metric(t, "lag_seconds") != 0 || w.metric(t, "records_total") != 310 {
					t.Error("the metrics do not say that it is over")
				}
				said := w.end(t)
				if strings.Count(said, "do not reach a sink") != 1 || strings.Count(said, "reach a sink again") != 1 {
					t.Errorf("it was logged as %s", said)
				}
			})
		})
	}
}

// TestRestart: a sink goes on where it was, whoever ended how, and Close hands over the
// last records.
func TestRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m := &memory{}
	for range 5 {
		w := begin(t, dir, m)
		w.write(t, 50)
		w.end(t)
		if !m.closed {
			t.Error("it was not closed")
		}
	}
	if got := m.numbers(); !slices.Equal(got, upTo(250)) {
		t.Errorf("it has %v", got)
	}
	w := begin(t, dir, m)
	m.set(func() { m.failing = errors.New("gone") })
	w.write(t, 50)
	until(t, "it fails", func() bool { return w.metric(t, "failing") == 1 })
	started := time.Now()
	if w.end(t); time.Since(started) > flushFor {
		t.Errorf("Close waited for a sink that takes nothing")
	}
	m.set(func() { m.failing = nil })
	begin(t, dir, m).end(t)
	if got := m.numbers(); !slices.Equal(got, upTo(300)) {
		t.Errorf("it has %v", got)
	}
}

func until(t *testing.T, what string, f func() bool) {
	t.Helper()
	for begin := time.Now(); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Since(begin) > time.Minute {
			t.Fatalf("%s: it did not come to that", what)
		}
	}
}

// TestRemoved: records that somebody removed are counted, and the rest arrives.
func TestRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m := &memory{}
	w := begin(t, dir, m)
	w.write(t, 10)
	w.end(t)
	w = begin(t, dir, m)
	m.set(func() { m.failing = errors.New("gone") })
	w.write(t, 500)
	w.end(t)
	segments, err := (reader.Source{Path: dir}).Segments()
	if err != nil || len(segments) < 3 {
		t.Fatal(segments, err)
	}
	holds := Holds(dir, []Config{{Name: "memory"}})
	for _, s := range segments {
		if !holds(s) {
			t.Errorf("%s is not held", s)
		}
	}
	if err := os.Remove(filepath.Join(dir, segments[1])); err != nil {
		t.Fatal(err)
	}
	m.set(func() { m.failing = nil })
	w = begin(t, dir, m)
	until(t, "all are there", func() bool { return w.metric(t, "lag_records") == 0 })
	lost, got := w.metric(t, "lost_records_total"), m.numbers()
	if lost == 0 || len(got)+int(lost) != 510 || got[len(got)-1] != 510 {
		t.Errorf("%v records were lost, %d are there", lost, len(got))
	}
	if said := w.end(t); strings.Count(said, "removed before a sink had them") != 1 {
		t.Errorf("it was logged as %s", said)
	}
	for i, s := range segments {
		if holds(s) != (i == len(segments)-1) {
			t.Errorf("%s of %v is held: %v", s, segments, holds(s))
		}
	}
	if !Holds(dir, []Config{{Name: "memory"}, {Name: "new"}})(segments[0]) {
		t.Error("nothing is held for a sink that has not begun")
	}
}

// TestPlaces: a place that cannot be read is not taken for the beginning.
func TestPlaces(t *testing.T) {
	t.Parallel()
	path := placePath(t.TempDir(), "x")
	first, err := openPlace(path)
	if err != nil || first.Log == "" {
		t.Fatal(first, err)
	}
	if again, err := openPlace(path); err != nil || again != first {
		t.Error(again, err)
	}
	for _, text := range []string{"", "{", `{"cursor":{}}`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := openPlace(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestCheck: what is wrong is named by its key.
func TestCheck(t *testing.T) {
	t.Parallel()
	good := func() Config {
		return Config{Postgres: &postgres.Config{URL: secret.New("postgres://db/x")}}
	}
	named := good()
	named.Name = "other"
	if err := Check([]Config{good(), named}); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*Config){
		"sinks[0].batch: 20001":          func(c *Config) { c.Batch = 20001 },
		"sinks[0].timeout: 1ms":          func(c *Config) { c.Timeout = quantity.Duration(time.Millisecond) },
		"sinks[0]: 0 kinds":              func(c *Config) { c.Postgres = nil },
		"sinks[0].postgres: url":         func(c *Config) { c.Postgres.URL = secret.Value{} },
		`sinks[0].name: "../x"`:          func(c *Config) { c.Name = "../x" },
		`sinks[1].name: another sink is`: func(c *Config) { c.Name = "other" },
	} {
		c := good()
		change(&c)
		if err := Check([]Config{c, named}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// account is a memory that keeps how far it has come, as a database does.
type account struct {
	memory

	at reader.Cursor
}

func (a *account) Put(ctx context.Context, entries []reader.Entry) error {
	err := a.memory.Put(ctx, entries)
	if err == nil {
		a.at = entries[len(entries)-1].Cursor
	}
	return err
}

func (a *account) Place(context.Context) (reader.Cursor, error) { return a.at, nil }

// TestRolledBack: a sink that has more than the log, which was restored from a copy, gets
// the records that have numbers again which it has seen.
func TestRolledBack(t *testing.T) {
	t.Parallel()
	for what, more := range map[string]int{"shorter than it was": 5, "longer": 500} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			dir, copied := t.TempDir(), t.TempDir()
			a := &account{}
			w := begin(t, dir, a)
			w.write(t, 10)
			w.end(t)
			if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			w = begin(t, dir, a)
			w.write(t, 200)
			w.end(t)
			if got := a.numbers(); !slices.Equal(got, upTo(210)) {
				t.Fatalf("it has %v", got)
			}
			a.set(func() { a.got, a.failing = nil, errors.New("gone") })
			w = begin(t, copied, a)
			w.write(t, more)
			until(t, "it is tried again", func() bool { return w.metric(t, "failures_total") > 1 })
			if n := w.metric(t, "lag_records"); int(n) != 10+more {
				t.Errorf("%v records are on their way", n)
			}
			a.set(func() { a.failing = nil })
			until(t, "all are there", func() bool { return w.metric(t, "lag_records") == 0 })
			if got := a.numbers(); !slices.Equal(got, upTo(uint64(10+more))) { //nolint:gosec // small
				t.Errorf("it has %v", got)
			}
			if said := w.end(t); strings.Count(said, "not in the log") != 1 {
				t.Errorf("it was logged as %s", said)
			}
		})
	}
}
