package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

const approvalURI = "https://a2a-gateway.dev/extensions/approval/v1"

// judge is an approver on an SDK: it decides by the amount in the message that it is shown, with a message or
// with a task that it completes.
type judge struct {
	mu   sync.Mutex
	seen []string // ids of messages
}

func (j *judge) act(ec *a2asrv.ExecutorContext, _ []string) []a2a.Event {
	j.mu.Lock()
	j.seen = append(j.seen, ec.Message.ID)
	j.mu.Unlock()
	for _, p := range ec.Message.Parts {
		data, _ := p.Data().(map[string]any)
		q, _ := data[approvalURI].(map[string]any)
		if q == nil {
			continue
		}
		text := fmt.Sprint(q["message"])
		decision := "approve"
		if strings.Contains(text, "2000") {
			decision = "reject"
		}
		part := a2a.NewDataPart(map[string]any{approvalURI: map[string]any{"decision": decision, "reason": "the amount", "digest": q["digest"]}})
		if strings.Contains(text, "task") {
			return []a2a.Event{
				a2a.NewSubmittedTask(ec, ec.Message), a2a.NewArtifactEvent(ec, part), a2a.NewStatusUpdateEvent(ec, a2a.TaskStateCompleted, nil),
			}
		}
		return []a2a.Event{a2a.NewMessage(a2a.MessageRoleAgent, part)}
	}
	return []a2a.Event{a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewTextPart("no question"))}
}

// TestAgentsApprove has agents on the official SDKs, of every version and binding, decide about calls, each once,
// and looks at what the caller gets and what is on record.
func TestAgentsApprove(t *testing.T) {
	t.Parallel()
	for _, f := range gatewaytest.AllFlavours() {
		if f.Version == "0.1" { // in which no agent is asked
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			j := &judge{}
			desk := gatewaytest.StartWith(t, f, nil, j.act)
			work := gatewaytest.Start(t, gatewaytest.Flavours()[1])
			w := newWorld(t)
			key := w.key("alice")
			g := w.start(w.yaml(plain, fmt.Sprintf(`policy:
  rules:
    - {name: all, effect: allow, agents: ["*"]}
    - {name: ask, effect: approve, agents: [work], approvers: {agents: [desk]}}
  approvals: {wait: 30s}
agents:
  - {id: work, card: %q}
  - {id: desk, card: {url: %q, bindings: [JSONRPC, HTTP+JSON, GRPC]}, endpoints: [%s]}
`, work.CardURL, desk.CardURL, quotedList(desk.Endpoints))))
			for _, text := range []string{"message pay 10", "message task pay 10", "message pay 2000", "message task pay 2000"} {
				got := sendTo(t, g.URL()+"/agents/work", key, text)
				rejected := strings.Contains(got, "TASK_STATE_REJECTED") && strings.Contains(got, "the amount")
				if rejected != strings.Contains(text, "2000") || !rejected && !strings.Contains(got, `"ROLE_AGENT"`) {
					t.Errorf("%s: %s", text, got)
				}
			}
			j.mu.Lock()
			defer j.mu.Unlock()
			if len(j.seen) != 4 || work.Exec.Calls() != 2 {
				t.Errorf("the approver was asked %d times, %q, and the agent called %d times", len(j.seen), j.seen, work.Exec.Calls())
			}
			for kind, want := range map[string]int{"approval.ask": 4, "approval.approve": 2, "approval.reject": 2} {
				list := slices.DeleteFunc(w.records("event"), func(e map[string]any) bool { return e["event"] != kind })
				if len(list) != want {
					t.Errorf("%d events %s, want %d", len(list), kind, want)
				}
				for _, event := range list {
					e, _ := event["attrs"].(map[string]any)
					if e["who"] != "agent:desk" || e["digest"] == "" || e["approval"] == "" || kind != "approval.ask" && (e["signed_in"] != "agent" || e["interface"] == nil) {
						t.Errorf("%v", e)
					}
				}
			}
		})
	}
}

// TestReplicasAskOnce: of two gateways with one Redis one asks, though both look after the calls that wait; and
// the other one shows what the agent has said.
func TestReplicasAskOnce(t *testing.T) {
	t.Parallel()
	redis := startRedis(t)
	w, j := newWorld(t), &judge{}
	desk, work := gatewaytest.StartWith(t, jsonrpc10(), nil, j.act), gatewaytest.Start(t, jsonrpc10())
	key := w.key("alice")
	all := w.replicas("", fmt.Sprintf(`policy:
  rules:
    - {name: all, effect: allow, agents: ["*"]}
    - {name: ask, effect: approve, agents: [work], approvers: {subjects: [nobody]}, advisers: [desk]}
  approvals: {wait: 1ms}
agents: [{id: work, card: %q}, {id: desk, card: %q}]
admin: {tokens: [{name: nobody, role: admin, digest: "sha256:e8468ef05f45f2bb63d10a2f235d0185dc27039d66e3ea5e6255e1dc79671729"}]}
`, work.CardURL, desk.CardURL)+redis.yaml())
	for i := range 10 {
		if got := sendTo(t, all[i%2].URL()+"/agents/work", key, "message pay 10"); !strings.Contains(got, "TASK_STATE_AUTH_REQUIRED") {
			t.Fatal(got, w.log.String())
		}
	}
	time.Sleep(5 * time.Second) // in which both have looked twice
	j.mu.Lock()
	defer j.mu.Unlock()
	if seen := slices.Compact(slices.Sorted(slices.Values(j.seen))); len(j.seen) != 10 || len(seen) != 10 || work.Exec.Calls() != 0 {
		t.Errorf("the adviser was asked %d times, %q, and the agent called %d times", len(j.seen), j.seen, work.Exec.Calls())
	}
}

func quotedList(list []string) string {
	var out []string
	for _, s := range list {
		out = append(out, fmt.Sprintf("%q", s))
	}
	return strings.Join(out, ", ")
}

// sendTo sends a message in 1.0 over JSON-RPC.
func sendTo(t *testing.T, base string, key http.Header, text string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	doc, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": map[string]any{
		"message": map[string]any{"messageId": fmt.Sprint(time.Now().UnixNano()), "role": "ROLE_USER", "parts": []any{map[string]any{"text": text}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base, bytes.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = key.Clone()
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("A2A-Version", "1.0")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
