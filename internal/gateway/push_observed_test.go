package gateway_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/gateway"
	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

const (
	// openPush lets webhooks be where tests have theirs, and has them tried again soon.
	openPush = "push: {mode: relay, allowPrivateNetworks: true, plaintext: true, attempts: {first: 10ms, longest: 50ms}}\n"

	trace = "0af7651916cd43dd8448eb211c80319c"
)

// pushing is a task of a caller whose agent notifies a webhook.
type pushing struct {
	t       *testing.T
	world   *world
	g       *gateway.Gateway
	courier *gatewaytest.Courier
	caller  http.Header
}

func pushes(t *testing.T, sections string) *pushing {
	t.Helper()
	w := newWorld(t)
	p := &pushing{t: t, world: w, courier: gatewaytest.NewCourier(t)}
	p.caller = sendHeader(w.key("alice"))
	p.g = w.start(w.yaml(plain, openPush+sections+p.agents()))
	return p
}

func (p *pushing) agents() string {
	return fmt.Sprintf("agents: [{id: courier, card: %q}]\n", p.courier.CardURL)
}

// rpc calls the agent.
func (p *pushing) rpc(method, params string, more http.Header) {
	p.t.Helper()
	header := p.caller.Clone()
	for name, values := range more {
		header[name] = values
	}
	status, body, err := try(client(p.t), http.MethodPost, p.g.URL()+"/agents/courier", header,
		fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params))
	if err != nil || status != http.StatusOK || strings.Contains(body, `"error"`) {
		p.t.Fatalf("%s: %d %s %v", method, status, body, err)
	}
}

// register makes a task whose webhook is at url, and returns the task.
func (p *pushing) register(name, url string, header http.Header) string {
	p.t.Helper()
	p.rpc("SendMessage", fmt.Sprintf(`{"message":{"messageId":%q,"role":"ROLE_USER","parts":[{"text":"go"}]}}`, name), nil)
	p.rpc("CreateTaskPushNotificationConfig",
		fmt.Sprintf(`{"taskId":"task-%s","id":"mine","url":%q,"token":"hush-token"}`, name, url), header)
	return "task-" + name
}

func (p *pushing) notify(task string, n int) {
	p.t.Helper()
	if status, err := p.courier.Notify("", task, n, nil); err != nil || status != http.StatusOK {
		p.t.Fatalf("notify: %d %v", status, err)
	}
}

// audit is what has been recorded so far.
func (p *pushing) audit() []byte {
	p.t.Helper()
	files, err := filepath.Glob(filepath.Join(p.world.dir, "audit", "*.jsonl"))
	var all []byte
	for _, f := range files {
		b, failed := os.ReadFile(f)
		if failed != nil {
			err = failed
		}
		all = append(all, b...)
	}
	if err != nil || len(files) == 0 {
		p.t.Fatalf("audit records: %v %v", files, err)
	}
	return all
}

// deliveries are the recorded ones of a task.
func (p *pushing) deliveries(task string) (list []map[string]string) {
	p.t.Helper()
	for line := range bytes.Lines(p.audit()) {
		var r struct {
			Event string
			Attrs map[string]string
		}
		if json.Unmarshal(line, &r) == nil && r.Event == "push.delivery" && r.Attrs["task_id"] == task {
			list = append(list, r.Attrs)
		}
	}
	return list
}

// outcomes are those of a task's deliveries, in order.
func (p *pushing) outcomes(task string) string {
	p.t.Helper()
	var list []string
	for _, d := range p.deliveries(task) {
		list = append(list, d["outcome"])
	}
	return strings.Join(list, " ")
}

// TestDeliveriesAreObserved: each attempt is counted and recorded, with whose it is and
// the trace of the call that registered the webhook, and without what is secret.
func TestDeliveriesAreObserved(t *testing.T) {
	t.Parallel()
	p := pushes(t, openPolicy)
	var asked atomic.Int64
	traces := make(chan string, 10)
	hooks := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		traces <- r.Header.Get("Traceparent")
		if asked.Add(1) == 1 {
			w.WriteHeader(http.StatusBadGateway)
		}
	}))
	t.Cleanup(hooks.Close)
	task := p.register("t", hooks.URL+"/hush-path?key=hush-query",
		http.Header{"Traceparent": {"00-" + trace + "-b7ad6b7169203331-01"}})
	p.notify(task, 1)
	eventually(t, "a delivery", func() bool { return p.outcomes(task) == "failed delivered" })
	for i, d := range p.deliveries(task) {
		for name, want := range map[string]string{
			"agent": "courier", "config_id": "mine", "principal": "alice", "issuer": "api-keys", "target_host": "127.0.0.1",
			"version": "1.0", "attempt": fmt.Sprint(i + 1), "status": []string{"502", "200"}[i], "trace_id": trace,
			"why": []string{"status 502", ""}[i],
		} {
			if d[name] != want {
				t.Errorf("attempt %d: %s is %q, want %q", i+1, name, d[name], want)
			}
		}
		if got := <-traces; !strings.HasPrefix(got, "00-"+trace+"-") {
			t.Errorf("the webhook got traceparent %q", got)
		}
	}
	if bytes.Contains(p.audit(), []byte("hush")) {
		t.Errorf("the record has secrets:\n%s", p.audit())
	}
	_, metrics := fetch(t, p.g.StatusURL()+"/metrics", nil)
	for _, line := range []string{
		`a2a_gateway_push_deliveries_total{agent="courier",result="failed"} 1`,
		`a2a_gateway_push_deliveries_total{agent="courier",result="delivered"} 1`,
		`a2a_gateway_push_delivery_duration_seconds_count{agent="courier"} 2`,
		`a2a_gateway_push_queue_depth `, `a2a_gateway_push_dead 0`, `a2a_gateway_push_queue_oldest_seconds `,
	} {
		if !strings.Contains(metrics, line) {
			t.Errorf("/metrics lacks %s", line)
		}
	}
}
