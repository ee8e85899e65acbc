//go:build !minimal

package postgres_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/audit/postgres"
	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/keys"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// sinkOf is the sink of a log that is called log.
func sinkOf(t testing.TB, c postgres.Config, gateway, log string) *postgres.Sink {
	t.Helper()
	s, err := postgres.New(c, postgres.Options{Gateway: gateway, Log: log, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func put(t testing.TB, s *postgres.Sink, entries ...reader.Entry) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := s.Put(ctx, entries); err != nil {
		t.Fatal(err)
	}
}

func place(t testing.TB, s *postgres.Sink) reader.Cursor {
	t.Helper()
	at, err := s.Place(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// entries are records 1 to n of a gateway, as from one segment.
func entries(gateway, what string, from, n int, at time.Time) (all []reader.Entry) {
	for i := from; i < from+n; i++ {
		line := fmt.Sprintf(`{"seq":%d,"v":1,"gateway":%q,"type":"call","time":%q,"agent":%q,"status":200,"hash":"%064x"}`,
			i, gateway, at.Format(time.RFC3339Nano), what, i*1000+len(what))
		all = append(all, reader.Entry{
			Seq: uint64(i), Line: []byte(line), // small
			Cursor: reader.Cursor{Segment: "audit-2026-11-21.jsonl", Offset: int64(i) * 100, Seq: uint64(i)}, // small
		})
	}
	return all
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 123456789, time.UTC)

// TestPut: what comes again is there once; what has another content under a number that
// was used is there as well; each log has a place of its own.
func TestPut(t *testing.T) {
	t.Parallel()
	server := anybodys(t)
	c := server.config()
	s := sinkOf(t, c, "g", "first")
	if at := place(t, s); at != (reader.Cursor{}) {
		t.Errorf("an empty table has come to %v", at)
	}
	put(t, s, entries("g", "a", 1, 10, noon)...)
	put(t, s, entries("g", "a", 5, 10, noon.Add(24*time.Hour))[6:]...) // another day
	put(t, s, entries("g", "a", 1, 10, noon)...)
	if at, want := place(t, s), entries("g", "a", 10, 1, noon)[0].Cursor; at != want {
		t.Errorf("it has come to %v, want %v", at, want)
	}
	anew := sinkOf(t, c, "g", "second")
	if at := place(t, anew); at != (reader.Cursor{}) {
		t.Errorf("another log has come to %v", at)
	}
	put(t, anew, entries("g", "another", 1, 3, noon)...)
	count := ask[string](t, server, "SELECT string_agg(n::text, ' ' ORDER BY agent) FROM (SELECT agent, count(*) n FROM "+c.Table+" GROUP BY agent) a")
	if count != "14 3" {
		t.Errorf("%s records", count)
	}
	if got := ask[string](t, server, "SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid WHERE inhparent = $1::regclass", c.Table); got !=
		strings.ReplaceAll("T_20261121 T_20261122 T_20261123", "T", c.Table) {
		t.Errorf("partitions %s", got)
	}
}

// TestGateways: several gateways make one table at the same time, and fill it.
func TestGateways(t *testing.T) {
	t.Parallel()
	server := anybodys(t)
	c := server.config()
	var running sync.WaitGroup
	for g := range 6 {
		running.Go(func() {
			name := fmt.Sprint("g", g)
			s := sinkOf(t, c, name, name)
			for i := range 10 {
				if err := s.Put(t.Context(), entries(name, "a", 1+20*i, 20, noon.AddDate(0, 0, i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()
	if n := ask[int](t, server, "SELECT count(*) FROM (SELECT DISTINCT gateway, seq FROM "+c.Table+") r"); n != 6*200 {
		t.Errorf("%d records", n)
	}
}

// TestRetention: days that are over are dropped, and what comes for them late has a place.
func TestRetention(t *testing.T) {
	t.Parallel()
	server := anybodys(t)
	c := server.config()
	c.Retention = quantity.Duration(48 * time.Hour)
	s := sinkOf(t, c, "g", "l")
	now := time.Now()
	put(t, s, entries("g", "a", 1, 1, now.AddDate(0, 0, -10))...)
	put(t, s, entries("g", "a", 2, 1, now.AddDate(0, 0, -1))...)
	put(t, s, entries("g", "a", 3, 1, now)...)
	_ = s.Close()
	again := sinkOf(t, c, "g", "l") // looks at once
	put(t, again, entries("g", "a", 4, 1, now)...)
	if got := ask[string](t, server, "SELECT string_agg(seq::text, ' ' ORDER BY seq) FROM "+c.Table); got != "2 3 4" {
		t.Errorf("records %s are left", got)
	}
	put(t, again, entries("g", "a", 5, 1, now.AddDate(0, 0, -10))...)
	other := sinkOf(t, c, "h", "l")
	put(t, other, entries("h", "a", 1, 1, now)...) // drops what the first has just made
	put(t, sinkOf(t, c, "g", "l"), entries("g", "a", 6, 1, now.AddDate(0, 0, -10))...)
}

// TestNotOurs: a table that is somebody else's, or of a later version, is left alone.
func TestNotOurs(t *testing.T) {
	t.Parallel()
	server := anybodys(t)
	for name, comment := range map[string]string{"is not for audit records": "orders", "is of a later version, 99": "a2a-gateway audit records, schema 99"} {
		c := server.config()
		conn, err := pgx.Connect(t.Context(), server.URL())
		if err != nil {
			t.Fatal(err)
		}
		_, err = conn.Exec(t.Context(), fmt.Sprintf("CREATE TABLE %s (a int); COMMENT ON TABLE %[1]s IS '%s'", c.Table, comment))
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.Close(t.Context())
		s := sinkOf(t, c, "g", "l")
		if err := s.Put(t.Context(), entries("g", "a", 1, 1, noon)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want: %s", err, name)
		}
	}
}

// TestTable: what a log wrote and a table has is the same byte for byte, so that it can be
// verified; the columns say what the record does.
func TestTable(t *testing.T) {
	t.Parallel()
	server := anybodys(t)
	c := server.config()
	c.Table = "public." + c.Table
	dir := t.TempDir()
	writeLog(t, dir)
	s := sinkOf(t, c, "gw", "l")
	var all []reader.Entry
	for e, err := range (reader.Source{Path: dir}).Records(t.Context(), reader.Cursor{}) {
		if err != nil {
			t.Fatal(err)
		}
		e.Line = bytes.Clone(e.Line)
		all = append(all, e)
	}
	put(t, s, all...)
	text := ask[string](t, server, `SELECT string_agg(record::text, E'\n' ORDER BY seq) FROM `+c.Table)
	copied := filepath.Join(t.TempDir(), all[0].Cursor.Segment)
	if err := os.WriteFile(copied, []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join(dir, all[0].Cursor.Segment))
	if err != nil || !bytes.Equal(want, []byte(text+"\n")) {
		t.Errorf("the table has\n%s\nthe log\n%s\n%v", text, want, err)
	}
	got := ask[string](t, server, `SELECT concat_ws(' ', principal, agent, skill, task_id, decision, status, duration_ms, client_ip, record->>'user_agent')
		FROM `+c.Table+` WHERE type = 'call'`)
	if got != `alice billing pay t1 allow 200 3 192.0.2.7 sdk \u202e "1.0"` {
		t.Errorf("columns %s", got)
	}
	if got := ask[string](t, server, `SELECT concat_ws(' ', event, principal, task_id) FROM `+c.Table+` WHERE type = 'event'`); got != "push.drop operator t2" {
		t.Errorf("columns of an event: %s", got)
	}
}

func writeLog(t *testing.T, dir string) {
	t.Helper()
	tel, err := telemetry.Open(t.Context(), telemetry.Config{Logs: telemetry.Logs{Output: io.Discard}}, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tel.Close(context.Background()) })
	ring, err := keys.Open(keys.Config{Dir: t.TempDir(), Algorithm: "EdDSA"}, tel.Log)
	if err != nil {
		t.Fatal(err)
	}
	defer ring.Close()
	l, err := audit.Open(audit.Config{Dir: dir}, "gw", tel)
	if err != nil {
		t.Fatal(err)
	}
	l.SignWith(ring)
	e := &telemetry.Exchange{
		Arrival:       telemetry.Arrival{Start: noon, Duration: 3 * time.Millisecond, RequestID: "r1", ClientIP: "192.0.2.7", UserAgent: "sdk \u202e \"1.0\""},
		Call:          telemetry.Call{Agent: "billing", Method: "SendMessage", TaskID: "t1"},
		Authorization: telemetry.Authorization{Skill: "pay", Decision: "allow"},
		Caller:        telemetry.Caller{Principal: "alice"},
		Answer:        telemetry.Answer{Status: 200},
	}
	for _, err := range []error{l.Intent(e), l.Call(e), l.Event("push.drop", map[string]string{"who": "operator", "task_id": "t2"}), l.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestCheck: what is wrong with a configuration is named, and no password is.
func TestCheck(t *testing.T) {
	t.Parallel()
	good := postgres.Config{URL: secret.New("postgres://u:hunter2@db/x")}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*postgres.Config){
		"url is missing":   func(c *postgres.Config) { c.URL = secret.Value{} },
		"url: it is no":    func(c *postgres.Config) { c.URL = secret.New("postgres://u:hunter2@db:notaport/x") },
		"table: \"A\"":     func(c *postgres.Config) { c.Table = "A" },
		"table: \"a; DROP": func(c *postgres.Config) { c.Table = "a; DROP TABLE b" },
		"table: \"aaaaa":   func(c *postgres.Config) { c.Table = strings.Repeat("a", 41) },
		"retention: 1h is": func(c *postgres.Config) { c.Retention = quantity.Duration(time.Hour) },
	} {
		c := good
		change(&c)
		err := c.Check()
		if err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := postgres.New(c, postgres.Options{}); err == nil {
			t.Errorf("%s: New takes it", name)
		}
	}
	if !slices.Contains(strings.Fields(fmt.Sprintf("%v", good.URL)), "[redacted]") {
		t.Error("the URL is printed")
	}
}
