//go:build !minimal

package kafka_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"

	dto "github.com/prometheus/client_model/go"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/audit/kafka"
	"github.com/a2a-gateway/a2a-gateway/audit/sink"
	"github.com/a2a-gateway/a2a-gateway/internal/keys"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// world is a gateway's audit log that is copied to a topic.
type world struct {
	dir   string
	ring  *keys.Ring
	log   *audit.Log
	sinks *sink.Sinks
	tel   *telemetry.Telemetry
}

func begin(t testing.TB, c kafka.Config) *world {
	t.Helper()
	w := &world{dir: t.TempDir()}
	var err error
	if w.tel, err = telemetry.Open(t.Context(), telemetry.Config{Logs: telemetry.Logs{Output: io.Discard}}, "test"); err != nil {
		t.Fatal(err)
	}
	if w.ring, err = keys.Open(keys.Config{Dir: t.TempDir(), Algorithm: "EdDSA"}, w.tel.Log); err != nil {
		t.Fatal(err)
	}
	local := audit.Config{Dir: w.dir, SegmentSize: 512 << 10}
	if w.log, err = audit.Open(local, "gw", w.tel); err != nil {
		t.Fatal(err)
	}
	w.log.SignWith(w.ring)
	w.sinks, err = sink.Open([]sink.Config{{Batch: 500, Timeout: quantity.Duration(5 * time.Second), Kafka: &c}},
		sink.Options{Source: local.Source(), Log: w.log, Gateway: "gw", Telemetry: w.tel})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) write(t testing.TB) {
	t.Helper()
	if err := w.log.Event("test", map[string]string{"text": strings.Repeat("x", 200)}); err != nil {
		t.Fatal(err)
	}
}

// end closes everything, and returns how many records there are.
func (w *world) end(t testing.TB) int {
	t.Helper()
	err := w.log.Close()
	seq := int(w.log.Seq()) // small
	if err := errors.Join(err, w.sinks.Close(t.Context()), w.tel.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	w.ring.Close()
	return seq
}

// metric is the value of a metric of the sink.
func (w *world) metric(t testing.TB, name string) float64 {
	t.Helper()
	families, err := w.tel.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "a2a_gateway_audit_sink_"+name {
			continue
		}
		m := f.GetMetric()[0]
		if m.GetLabel()[0].GetValue() != "kafka" {
			t.Fatalf("%s: %v", name, m)
		}
		if f.GetType() == dto.MetricType_COUNTER {
			return m.GetCounter().GetValue()
		}
		return m.GetGauge().GetValue()
	}
	t.Fatalf("there is no %s", name)
	return 0
}

// compare holds what a reader makes of the topic to the files, and verifies it.
func (w *world) compare(t testing.TB, got []*kgo.Record) {
	t.Helper()
	dir := restore(t, got)
	for _, path := range glob(t, filepath.Join(w.dir, "*.jsonl")) {
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, filepath.Base(path))); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s has %d bytes, in the topic %d: %v", filepath.Base(path), len(want), len(got), err)
		}
	}
	report, err := audit.Verify(t.Context(), reader.Source{Path: dir}, audit.Check{Keys: w.ring.JWKS(), Head: audit.NoHead})
	if err != nil || len(report.Findings) > 0 || !report.Trusted {
		t.Errorf("%+v %v", report, err)
	}
}

// restore does with messages what docs/audit.md says, and returns where the files are.
func restore(t testing.TB, got []*kgo.Record) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/audit.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?s)\| (grep -F '"gateway":"gw-1"' \|\n.*?\n  }')\n`).FindSubmatch(page)
	if found == nil {
		t.Fatal("docs/audit.md does not say how to read a topic")
	}
	var values bytes.Buffer
	for _, r := range got {
		values.Write(append(r.Value, '\n'))
	}
	cmd := exec.Command("sh", "-c", strings.Replace(string(found[1]), "gw-1", "gw", 1)) // our own page
	cmd.Dir, cmd.Stdin = t.TempDir(), &values
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return cmd.Dir
}

func glob(t testing.TB, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: %v %v", pattern, paths, err)
	}
	return paths
}

func until(t testing.TB, what string, f func() bool) {
	t.Helper()
	for begin := time.Now(); !f(); time.Sleep(10 * time.Millisecond) {
		if time.Since(begin) > 2*time.Minute {
			t.Fatalf("%s: it did not come to that", what)
		}
	}
}

// TestReader: a log that was copied to a topic is there again by what docs/audit.md says,
// and holds; brokers that have failed meanwhile are nothing that would be seen.
func TestReader(t *testing.T) {
	t.Parallel()
	cluster := brokers(t)
	w := begin(t, configOf(cluster))
	for i := range 2000 {
		w.write(t)
		if i%500 == 0 {
			cluster.ShufflePartitionLeaders()
		}
	}
	last := w.end(t)
	got := messages(t, topic, cluster.ListenAddrs()...)
	inOrder(t, numbers(t, got), last)
	w.compare(t, append(got, got[len(got)/2:]...)) // some came again
	if n := len(glob(t, filepath.Join(w.dir, "*.jsonl"))); n < 2 {
		t.Errorf("%d segments only", n)
	}
}
