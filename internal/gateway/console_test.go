package gateway_test

import (
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/keys"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/state/sqlite"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
)

// pushSealed is a ring of keys as a state.Cipher, as the gateway seals deliveries.
type pushSealed struct{ *keys.Ring }

func (s pushSealed) Seal(plain, aad []byte) []byte { return s.Ring.Seal("push", plain, aad) }
func (s pushSealed) Open(sealed, aad []byte) ([]byte, error) {
	return s.Unseal("push", sealed, aad)
}

// bury leaves a delivery that was given up in the state of a gateway that does not run.
func (w *world) bury(yaml, id string) {
	w.t.Helper()
	cfg := w.load(yaml)
	log := slog.New(slog.DiscardHandler)
	store, err := sqlite.Open(w.t.Context(), cfg.State, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	ring, err := keys.Open(cfg.Keys, log)
	if err != nil {
		w.t.Fatal(err)
	}
	defer ring.Close()
	worker, err := push.NewWorker(cfg.Push, push.WorkerOptions{
		Queue: store, Values: store, Cipher: pushSealed{ring}, Holder: "test", Log: log,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	_, err = worker.Enqueue(w.t.Context(), &push.Delivery{
		ID: id, Agent: "billing", Task: "t-1", Config: "c-1", Owner: "alice", URL: "https://hooks.example/canary-path?canary-query",
		Version: wire.V10, Body: []byte(`{"task":"canary-body"}`), Token: secret.New("canary-token"),
	})
	now := time.Now()
	items, failed := store.Take(w.t.Context(), push.Queue, "test", now, 10, time.Minute)
	for _, it := range items {
		failed = errors.Join(failed, store.Bury(w.t.Context(), push.Queue, "test", it.ID, "attempt 1: status 410", now, state.Keep{For: time.Hour}))
	}
	if err := errors.Join(err, failed, store.Close()); err != nil || len(items) != 1 {
		w.t.Fatal(len(items), err)
	}
}

// TestDeadLetters: what was given up before a restart is there after it, can be had tried
// again and dropped with the token of the data directory, and who did so is on record.
func TestDeadLetters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	yaml := w.yaml(plain, openPolicy)
	w.bury(yaml, "msg_1")
	g := w.start(yaml)
	token, err := os.ReadFile(filepath.Join(w.dir, "admin.token"))
	if err != nil {
		t.Fatal(err)
	}
	credential := http.Header{"Authorization": {"Bearer " + strings.TrimSpace(string(token))}}
	list := g.AdminURL() + "/api/v1/push/deliveries?state=dead"
	if status, body := fetch(t, list, nil); status != http.StatusUnauthorized {
		t.Errorf("without a token: %d %s", status, body)
	}
	status, body := fetch(t, list, credential)
	if status != http.StatusOK || strings.Contains(body, "canary") ||
		!strings.Contains(body, `"target":"https://hooks.example"`) || !strings.Contains(body, `"failure":"status 410"`) {
		t.Errorf("%d %s", status, body)
	}
	for _, tt := range []struct{ verb, path, want string }{
		{http.MethodPost, "/msg_1/retry", `"state":"waiting"`}, {http.MethodDelete, "/msg_1", `"state":"dropped"`},
		{http.MethodDelete, "/msg_1", "NO_SUCH_DELIVERY"},
	} {
		_, body, err := try(client(t), tt.verb, g.AdminURL()+"/api/v1/push/deliveries"+tt.path, credential, "")
		if err != nil || !strings.Contains(body, tt.want) {
			t.Errorf("%s %s: %s %v", tt.verb, tt.path, body, err)
		}
	}
	segments, _ := filepath.Glob(filepath.Join(w.dir, "audit", "*"))
	var records strings.Builder
	for _, path := range segments {
		data, _ := os.ReadFile(path)
		records.Write(data)
	}
	for _, want := range []string{`"event":"push.retry"`, `"event":"push.drop"`, `"who":"admin-token"`, `"outcome":"not found"`} {
		if !strings.Contains(records.String(), want) {
			t.Errorf("no record has %s", want)
		}
	}
	if strings.Contains(w.log.String(), strings.TrimSpace(string(token))) {
		t.Error("the token is in the log")
	}
}

// The admin listener is not what a reload changes.
func TestAdminIsFixed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.start(w.yaml(plain, openPolicy))
	err := w.reload(g, w.yaml(plain, openPolicy+"admin: {address: \"127.0.0.1:0\", readOnly: true}\n"))
	if err == nil || !strings.Contains(err.Error(), "admin: changing it needs a restart") {
		t.Errorf("%v", err)
	}
	if err := w.reload(g, w.yaml(plain, openPolicy+"admin: {address: \"127.0.0.1:0\"}\n")); err != nil {
		t.Errorf("nothing has changed: %v", err)
	}
}

func TestAdminOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.start(w.yaml(plain, openPolicy+"admin: {address: \"off\"}\n"))
	if url := g.AdminURL(); url != "" {
		t.Errorf("admin at %s", url)
	}
}
