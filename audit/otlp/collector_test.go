//go:build !minimal

package otlp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/audit/otlp"
	"github.com/a2a-gateway/a2a-gateway/audit/sink"
	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// program is what make collector builds.
const program = "../../bin/collector"

// opentelemetry is a Collector that appends what it gets to a file before it answers.
type opentelemetry struct {
	http, grpc   string
	config, file string
	cmd          *exec.Cmd
}

func newCollector(t *testing.T) *opentelemetry {
	t.Helper()
	if _, err := os.Stat(program); err != nil {
		testenv.Missing(t, "no collector was built; make collector does")
	}
	dir := t.TempDir()
	c := &opentelemetry{http: vacant(t), grpc: vacant(t), config: filepath.Join(dir, "collector.yaml"), file: filepath.Join(dir, "received.jsonl")}
	// Without rotation the exporter keeps in its memory what it has confirmed.
	err := os.WriteFile(c.config, fmt.Appendf(nil, `receivers: {otlp: {protocols: {grpc: {endpoint: %q}, http: {endpoint: %q}}}}
exporters: {file: {path: %q, rotation: {max_megabytes: 1000}}}
service:
  telemetry: {metrics: {level: none}, logs: {level: error}}
  pipelines: {logs: {receivers: [otlp], exporters: [file]}}
`, c.grpc, c.http, c.file), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.kill)
	return c
}

// vacant is an address that nobody listens at.
func vacant(t *testing.T) string {
	t.Helper()
	address := gatewaytest.FreeAddress()
	if address == "" {
		t.Fatal("no port is free")
	}
	return address
}

func (c *opentelemetry) start(t *testing.T) {
	t.Helper()
	c.cmd = exec.Command(program, "--config", "file:"+c.config)
	c.cmd.Stdout, c.cmd.Stderr = t.Output(), t.Output()
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
}

func (c *opentelemetry) kill() {
	if c.cmd != nil {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
		c.cmd = nil
	}
}

// logRecord is of one what the tests look at.
type logRecord struct {
	TimeUnixNano, SeverityText, EventName, TraceID string
	Body                                           struct{ StringValue string }
	Attributes                                     []struct {
		Key   string
		Value struct{ IntValue, StringValue string }
	}
}

// received are the records in the file. What was torn by a kill was not confirmed, and the
// next request follows it on the same line.
func (c *opentelemetry) received(t *testing.T) (all []logRecord) {
	t.Helper()
	text, err := os.ReadFile(c.file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	const begins = `{"resourceLogs":`
	for _, part := range bytes.Split(text, []byte(begins)) {
		var in struct {
			ResourceLogs []struct {
				ScopeLogs []struct{ LogRecords []logRecord }
			}
		}
		if json.Unmarshal(append([]byte(begins), bytes.TrimSpace(part)...), &in) != nil {
			continue
		}
		for _, r := range in.ResourceLogs {
			for _, s := range r.ScopeLogs {
				all = append(all, s.LogRecords...)
			}
		}
	}
	return all
}

// lines are the records of a log, as they stand in its files.
func lines(t *testing.T, dir string) (all []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "audit-*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")...)
	}
	return all
}

// complete reports whether records are all lines, each at least once, and none before the
// one that it follows.
func complete(all []logRecord, lines []string) error {
	next := 0
	for _, r := range all {
		i := slices.Index(lines, r.Body.StringValue)
		switch {
		case i < 0:
			return fmt.Errorf("it has what is no record: %s", r.Body.StringValue)
		case i > next:
			return fmt.Errorf("after record %d it has record %d", next, i+1)
		case i == next:
			next++
		}
	}
	if next != len(lines) {
		return fmt.Errorf("it has %d of %d records", next, len(lines))
	}
	return nil
}

func openLog(t *testing.T, dir string, c otlp.Config) (*audit.Log, *sink.Sinks) {
	t.Helper()
	tel, err := telemetry.Open(t.Context(), telemetry.Config{Logs: telemetry.Logs{Output: io.Discard}}, "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tel.Close(context.Background()) })
	config := audit.Config{Dir: dir, SegmentSize: 64 << 10}
	l, err := audit.Open(config, "gw", tel)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sink.Open([]sink.Config{{Batch: 50, Timeout: quantity.Duration(5 * time.Second), OTLP: &c}},
		sink.Options{Source: config.Source(), Log: l, Gateway: "gw", Telemetry: tel})
	if err != nil {
		t.Fatal(err)
	}
	return l, s
}

// TestCollectorKilled: a Collector is killed again and again while records come, and in
// the end it has all of them, byte for byte and in order.
func TestCollectorKilled(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"http/protobuf", "grpc"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			c, dir := newCollector(t), t.TempDir()
			to := otlp.Config{Endpoint: secret.URL("http://" + c.http), Protocol: protocol}
			if protocol == "grpc" {
				to.Endpoint = secret.URL("http://" + c.grpc)
			}
			l, s := openLog(t, dir, to)
			write := func(n int) {
				for range n {
					if err := l.Event("test", map[string]string{"text": `"\u202e ä`, "agent": "billing"}); err != nil {
						t.Fatal(err)
					}
					time.Sleep(time.Millisecond)
				}
			}
			for round := range 3 {
				write(100) // while nobody is there
				c.start(t)
				await(t, "some have come", func() bool { return len(c.received(t)) > round*100 })
				process := c.cmd.Process
				killed := time.AfterFunc(150*time.Millisecond, func() { _ = process.Kill() })
				write(300)
				killed.Stop()
				c.kill()
			}
			c.start(t)
			await(t, "all have come", func() bool {
				got := c.received(t)
				return len(got) > 0 && slices.ContainsFunc(got, func(r logRecord) bool {
					return strings.HasPrefix(r.Body.StringValue, fmt.Sprintf(`{"seq":%d,`, l.Seq()))
				})
			})
			if err := errors.Join(l.Close(), s.Close(t.Context())); err != nil {
				t.Error(err)
			}
			all, want := c.received(t), lines(t, dir)
			if err := complete(all, want); err != nil {
				t.Error(err)
			}
			if r := all[0]; r.EventName != "a2a_gateway.test" || r.SeverityText != "INFO" || len(r.TimeUnixNano) != 19 || len(r.Attributes) < 6 {
				t.Errorf("the first is %+v", r)
			}
			text, _ := os.ReadFile(c.file)
			for _, about := range []string{`{"key":"service.name","value":{"stringValue":"a2a-gateway"}}`, `{"key":"service.instance.id","value":{"stringValue":"gw"}}`,
				`{"key":"service.version","value":{"stringValue":"1.2.3"}}`} {
				if !bytes.Contains(text, []byte(about)) {
					t.Errorf("the resource has no %s", about)
				}
			}
			t.Logf("%d records came %d times", len(want), len(all))
		})
	}
}

func await(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !happened(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within a minute", what)
		}
	}
}
