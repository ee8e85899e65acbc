package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// tenants are all that a call can say about which agent it is for: where it goes, what it
// names as tenant in the body or the path, and which agent its key is good for.
type tenants struct{ where, field, key string }

// agree reports whether nothing names another agent than the one.
func (s tenants) agree(agent string) bool {
	for _, said := range []string{s.where, strings.TrimSuffix(s.field, "/skills/work"), s.key} {
		if said != "" && said != agent {
			return false
		}
	}
	return true
}

// TestA11_ThreeSources: path or host, tenant and key may each name an agent. What they do
// not agree about reaches nobody, and what one of them says is enough.
func TestA11_ThreeSources(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := newCounter(t, nil), newCounter(t, nil)
	keys := map[string]http.Header{"": w.key("unbound"), "a": w.keyFor("bound", "a"), "b": w.keyFor("bound", "b")}
	g := w.start(w.yaml(plain, openPolicy+fmt.Sprintf(
		"agents: [{id: a, card: %s, hosts: [a.test]}, {id: b, card: %s, hosts: [b.test]}]\n", everyBinding(a.CardURL), everyBinding(b.CardURL))))
	calls, reached := 0, 0
	for _, where := range []struct{ path, host, agent string }{{"/agents/a", "", "a"}, {"/", "a.test", "a"}, {"/a2a", "", ""}} {
		for _, field := range []string{"", "a", "b", "a/skills/work", "b/skills/work", "globex"} {
			for _, rest := range []bool{false, true} {
				for key, credential := range keys {
					calls++
					s := tenants{where.agent, field, key}
					id := fmt.Sprint(calls)
					status, answer := w.addressed(g.URL()+where.path, where.host, field, rest, credential, id)
					inA, inB := a.times(id), b.times(id)
					if inA > 0 && !s.agree("a") || inB > 0 && !s.agree("b") || inA+inB > 1 {
						t.Errorf("%+v, HTTP+JSON %t: a got %d, b %d: %s", s, rest, inA, inB, answer)
					}
					ok := status == http.StatusOK && !strings.Contains(answer, `"error"`)
					if ok != (inA+inB == 1) {
						t.Errorf("%+v, HTTP+JSON %t: the agents got %d, the answer is %d %s", s, rest, inA+inB, status, answer)
					}
					if one := s == (tenants{"a", "", ""}) || s == (tenants{"", "a", ""}) || s == (tenants{"", "", "b"}); one && !ok {
						t.Errorf("%+v, HTTP+JSON %t: %d %s", s, rest, status, answer)
					}
					reached += inA + inB
				}
			}
		}
	}
	t.Logf("%d of %d calls reached an agent", reached, calls)
}

// addressed sends a message that says in each way which agent it is for.
func (w *world) addressed(base, host, field string, rest bool, credential http.Header, id string) (int, string) {
	w.t.Helper()
	message := fmt.Sprintf(`{"message":{"messageId":%q,"role":"ROLE_USER","parts":[{"text":"hello"}]}`, id)
	if field != "" && !rest {
		message += fmt.Sprintf(`,"tenant":%q`, field)
	}
	url, body := base, message+"}"
	if rest {
		url = strings.TrimSuffix(base, "/")
		if field != "" {
			url += "/" + field
		}
		url += "/message:send"
	} else {
		body = fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"SendMessage","params":%s}`, id, body)
	}
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header, req.Host = sendHeader(credential), host
	resp, err := client(w.t).Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// times is how often a message came.
func (c *counter) times(id string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen[id]
}

// TestA04_OneIDTwice: where callers choose the ids of tasks, two agents have tasks of one
// id. Each is its owner's at its agent, and no task at all elsewhere.
func TestA04_OneIDTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var old gatewaytest.Flavour
	for _, f := range gatewaytest.AllFlavours() {
		if f.Version == "0.1" {
			old = f
		}
	}
	agents := map[string]*gatewaytest.Agent{"alice": gatewaytest.Start(t, old), "bob": gatewaytest.Start(t, old)}
	agents["alice"].ID, agents["bob"].ID = "hers", "his"
	keys := map[string]http.Header{}
	for who := range agents {
		for _, a := range agents {
			keys[who+" "+a.ID] = w.keyFor(who, a.ID)
		}
	}
	g := w.start(w.yaml(plain, everyAgent+origins([]*gatewaytest.Agent{agents["alice"], agents["bob"]})))
	dial := func(who, id string, f gatewaytest.Flavour) gatewaytest.Client {
		c, _ := gatewaytest.Dial(t, f.SDKs()[0], gatewaytest.HTTPClient(t, keys[who+" "+id], nil),
			g.URL()+"/agents/"+id, f.Version, f.Binding)
		return c
	}
	for who, a := range agents {
		r := say("input")
		r.Message.TaskID, r.Message.ContextID = "one-id", "session-of-"+who
		if _, err := dial(who, a.ID, old).SendMessage(t.Context(), r); err != nil {
			t.Fatalf("%s: %v", who, err)
		}
	}
	for _, f := range gatewaytest.AllFlavours() {
		for who, own := range agents {
			for _, a := range agents {
				before := a.Exec.Requests()
				task, err := dial(who, a.ID, f).GetTask(context.Background(), &a2a.GetTaskRequest{ID: "one-id"})
				if a == own && (err != nil || task.ContextID != "session-of-"+who) {
					t.Errorf("%s as %s at %s: %v, %v", who, f.Name, a.ID, task, err)
				}
				if a != own && (err == nil || f.Name != "go03-grpc" && !errors.Is(err, a2a.ErrTaskNotFound) || a.Exec.Requests() != before) {
					t.Errorf("%s as %s at %s: %v, %v", who, f.Name, a.ID, task, err)
				}
			}
		}
	}
}
