package console

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/console/health"
	"github.com/a2a-gateway/a2a-gateway/internal/console/process"
	"github.com/a2a-gateway/a2a-gateway/internal/console/replicas"
)

// machine is a Running.
type machine struct {
	loads int
	fails error // of a reload
	away  error // of the state
}

func (m *machine) Status(context.Context) process.Status {
	return process.Status{
		Version: "test", Started: time.Unix(1, 0).UTC(), Uptime: 5, Agents: 1, Ready: true,
		Checks: []process.Check{{Name: "serving", OK: true}, {Name: "audit", Why: "disk full"}}, Config: process.Loaded{Digest: "sha256:1"},
	}
}

func (m *machine) Health(context.Context) health.Health {
	return health.Health{
		Build:  health.Build{ID: "gateway-1", Go: "go1.26", Platform: "linux/amd64", Processors: 2},
		Limits: []health.Limit{{Name: "server.limits.streams", Unit: "streams", Used: 3, Max: 10, Refuses: true}},
		State:  health.StoreHealth{Driver: "redis", Shared: true, Why: "refused"},
		Audit:  health.AuditHealth{OK: true, Seq: 7}, Sinks: []health.SinkHealth{{Kind: "otlp", Waiting: 2, Oldest: 1.5}},
	}
}

func (m *machine) Cluster(context.Context) (replicas.Cluster, error) {
	return replicas.Cluster{Shared: true, Gateways: []replicas.Peer{{Instance: "1", Version: "test", Ready: true, Self: true}, {Instance: "2", Sealed: true}}}, m.away
}

func (m *machine) Config() (jsontext.Value, error) {
	return jsontext.Value(`{"policy":{"default":"deny","rules":[{"name":"a"},{"name":"b"},{"name":"c"}],"guards":[{"name":"keys","on":null,"use":"secrets","action":"","mode":"","kinds":null,"links":{"allow":null,"deny":null},"size":{"text":"","parts":0},"agents":null,"groups":["finance"],"times":[]},{"name":"names","on":["request"],"use":"presidio","action":"redact","mode":"shadow","service":{"url":"https://presidio.example","token":"","score":0},"agents":["billing"]}]}}`), nil
}

func (m *machine) Reload(context.Context) error {
	m.loads++
	return m.fails
}

// TestStatus: whoever watches sees how the gateway stands.
func TestStatus(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	got := w.ask("GET", "/api/v1/status", nil)
	if got.status != 200 || !strings.Contains(got.body, `{"name":"audit","ok":false,"why":"disk full"}`) {
		t.Error(got)
	}
}

// TestCluster: whoever watches sees which gateways share the state.
func TestCluster(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	got := w.ask("GET", "/api/v1/cluster", nil)
	if got.status != 200 || !strings.Contains(got.body, `{"shared":true,"gateways":[{"instance":"1","version":"test","ready":true,`) || !strings.Contains(got.body, `"sealed":true`) {
		t.Error(got)
	}
}

// TestHealth: whoever watches sees what the process knows of itself, and which certificates
// the admin listener serves.
func TestHealth(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	got := w.ask("GET", "/api/v1/health", nil)
	for _, want := range []string{
		`"name":"server.limits.streams","unit":"streams","used":3,"max":10,"refuses":true`, `"state":{"driver":"redis","shared":true,"ok":false,"why":"refused"}`,
		`"kind":"otlp","waiting":2,"oldest":1.5`, `"certificates":[]`,
	} {
		if got.status != 200 || !strings.Contains(got.body, want) {
			t.Errorf("%s; want %s", got, want)
		}
	}
}

// TestReload: a reload is on record before it is made, and so is one that came to nothing,
// of which the operator is told why.
func TestReload(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	if got := w.ask("POST", "/api/v1/config/reload", nil); got.status != 200 || w.machine.loads != 1 {
		t.Error(got, w.machine.loads)
	}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{process.ConfigInvalid{Err: errors.New("config.yaml:3:1: unknown key")}, "INVALID_CONFIG config.yaml:3:1: unknown key"},
		{process.ErrNoFile, "NO_CONFIG_FILE this gateway runs without"},
	} {
		w.machine.fails = tt.err
		got := w.ask("POST", "/api/v1/config/reload", nil)
		for _, want := range strings.SplitN(tt.want, " ", 2) {
			if got.status < 400 || !strings.Contains(got.body, want) {
				t.Errorf("%v: %s", tt.err, got)
			}
		}
	}
	event := map[string]string{"event": "config.reload", "who": "admin-token", "client_ip": "127.0.0.1"}
	failed := map[string]string{"event": "config.reload", "who": "admin-token", "client_ip": "127.0.0.1", "outcome": "failed"}
	want := []map[string]string{event, event, failed, event, failed}
	if diff := cmp.Diff(want, w.recorded()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	w.unrecorded, w.machine.loads = true, 0
	if got := w.ask("POST", "/api/v1/config/reload", nil); got.status != 503 || w.machine.loads != 0 {
		t.Error(got, w.machine.loads)
	}
}
