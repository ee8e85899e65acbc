package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/a2a-gateway/a2a-gateway/audit/postgres/postgrestest"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// archive is where audit records are to be: a PostgreSQL, and a Collector that has each
// request in its file before it confirms it.
type archive struct {
	postgres         *postgrestest.Server
	collector        *process // nil while there is none
	config, received string
	endpoint         string
}

func newArchive(t *testing.T) *archive {
	t.Helper()
	if _, err := os.Stat(collectorProgram); err != nil {
		testenv.Missing(t, "no collector was built; make collector does")
	}
	dir := t.TempDir()
	a := &archive{postgres: newPostgres(t), config: filepath.Join(dir, "collector.yaml"), received: filepath.Join(dir, "received.jsonl"), endpoint: vacant(t)}
	// Without rotation the exporter keeps in its memory what it has confirmed.
	write(t, a.config, fmt.Sprintf(`receivers: {otlp: {protocols: {http: {endpoint: %q}}}}
exporters: {file: {path: %q, rotation: {max_megabytes: 1000}}}
service:
  telemetry: {metrics: {level: none}}
  pipelines: {logs: {receivers: [otlp], exporters: [file]}}
`, a.endpoint, a.received))
	return a
}

func (a *archive) startCollector(t *testing.T) {
	t.Helper()
	a.collector = launch(t, collectorProgram, nil, "--config", "file:"+a.config)
}

// bodies are those of the log records that the Collector has, as they came. What a kill has
// torn was not confirmed, and the next request follows it on the same line.
func (a *archive) bodies(t *testing.T) (all []string) {
	t.Helper()
	text, err := os.ReadFile(a.received)
	if err != nil {
		t.Fatal(err)
	}
	const begins = `{"resourceLogs":`
	for _, part := range bytes.Split(text, []byte(begins)) {
		var in struct {
			ResourceLogs []struct {
				ScopeLogs []struct {
					LogRecords []struct{ Body struct{ StringValue string } }
				}
			}
		}
		if json.Unmarshal(append([]byte(begins), bytes.TrimSpace(part)...), &in) != nil {
			continue
		}
		for _, r := range in.ResourceLogs {
			for _, s := range r.ScopeLogs {
				for _, record := range s.LogRecords {
					all = append(all, record.Body.StringValue)
				}
			}
		}
	}
	return all
}

// rows are the records that the table has.
func (a *archive) rows(t *testing.T) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, a.postgres.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	rows, err := conn.Query(ctx, "SELECT record::text FROM a2a_audit ORDER BY seq")
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// records are those of the segments, without what a kill has torn.
func records(t *testing.T, dir string) (all []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "data", "audit", "audit-*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.HasSuffix(line, "\n") && json.Valid([]byte(line)) {
				all = append(all, strings.TrimSuffix(line, "\n"))
			}
		}
	}
	return all
}

// TestSinks has calls go through a gateway whose records are to be in PostgreSQL and in a
// Collector. Both go away and come back, and the gateway is killed while neither is there;
// in the end the table has every record of the segments once, and the Collector each at
// least once and in order.
func TestSinks(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	w := watch(t, teller(t, "x"), []string{"OTEL_SDK_DISABLED=true"}, fmt.Sprintf(`telemetry:
  audit:
    segmentSize: 64KiB
    checkpoint: {every: 50, interval: 1s}
    sinks:
      - {batch: 100, timeout: 5s, postgres: {url: %q}}
      - {batch: 100, timeout: 5s, otlp: {endpoint: "http://%s"}}
`, a.postgres.URL(), a.endpoint))
	answered := 0
	calls := func(n int) {
		for range n {
			if !strings.Contains(w.ask(t, "SendMessage", hello), "the-task") {
				t.Fatal("a call was refused")
			}
			answered++
		}
	}
	calls(40) // no Collector yet
	a.startCollector(t)
	calls(40)
	a.postgres.End()
	calls(40)
	a.collector.signal(syscall.SIGKILL)

	// Somebody calls while the gateway is killed.
	var more atomic.Int64
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			resp, err := http.Post(w.url+"/agents/teller", "application/json",
				strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":`+hello+`}`))
			if err != nil {
				return
			}
			_ = resp.Body.Close()
			more.Add(1)
		}
	}()
	within(t, "calls are answered", func() bool { return more.Load() >= 20 })
	w.signal(syscall.SIGKILL)
	<-stopped
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	w.process = launch(t, path, []string{"OTEL_SDK_DISABLED=true"}, "serve", "-c", filepath.Join(w.dir, "config.yaml"))
	serving := w.await(`"msg":"serving"`)
	w.url, w.status = between(serving, `"url":"`), between(serving, `"status_url":"`)

	calls(40)
	metric := func(name string) string {
		return `a2a_gateway_audit_sink_` + name
	}
	scrape := func() string { return w.say(t, http.MethodGet, w.status+"/metrics", "") }
	within(t, "the metrics say that both are away", func() bool {
		text := scrape()
		return strings.Contains(text, metric(`failing{sink="otlp"} 1`)) && strings.Contains(text, metric(`failing{sink="postgres"} 1`))
	})
	a.postgres.Start(t)
	a.startCollector(t)
	calls(40)
	within(t, "the metrics say that both are back", func() bool {
		text := scrape()
		return strings.Contains(text, metric(`failing{sink="otlp"} 0`)) && strings.Contains(text, metric(`failing{sink="postgres"} 0`))
	})
	if text := scrape(); !strings.Contains(text, metric(`lost_records_total{sink="otlp"} 0`)) || !strings.Contains(text, metric(`lost_records_total{sink="postgres"} 0`)) {
		t.Error("the metrics say that records were lost")
	}
	compare(t, a, w, answered+int(more.Load()))
	if code := w.signal(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// compare waits until both places have what the segments have, so many calls at least.
func compare(t *testing.T, a *archive, w *watched, least int) {
	t.Helper()
	var failed error
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		want := records(t, w.dir)
		ended := 0
		for _, r := range want {
			if strings.Contains(r, `"type":"call"`) {
				ended++
			}
		}
		if ended < least {
			t.Fatalf("the segments have %d calls, %d were answered", ended, least)
		}
		rows, got := a.rows(t), a.bodies(t)
		if !slices.Equal(rows, want) {
			failed = fmt.Errorf("the table has %d records, the segments %d", len(rows), len(want))
			continue
		}
		if failed = inOrder(got, want); failed == nil {
			t.Logf("%d records; the Collector got them %d times", len(want), len(got))
			return
		}
	}
	t.Error(failed)
}

// inOrder reports whether got is all of want, each at least once, and none before the one
// that it follows.
func inOrder(got, want []string) error {
	number := make(map[string]int, len(want))
	for i, r := range want {
		number[r] = i
	}
	next := 0
	for _, r := range got {
		i, ok := number[r]
		switch {
		case !ok:
			return fmt.Errorf("it has what is in no segment: %s", r)
		case i > next:
			return fmt.Errorf("after record %d of the segments it has record %d", next, i+1)
		case i == next:
			next++
		}
	}
	if next != len(want) {
		return fmt.Errorf("it has %d of %d records", next, len(want))
	}
	return nil
}
