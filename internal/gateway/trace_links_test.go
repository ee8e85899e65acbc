package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/a2a-gateway/a2a-gateway/internal/gateway"
)

// begun is a gateway with an exporter of its own, as a process of its own has.
type begun struct {
	*gateway.Gateway
	spans *tracetest.InMemoryExporter
}

func (w *world) traced(yaml string) begun {
	w.t.Helper()
	cfg, spans := w.load(yaml), tracetest.NewInMemoryExporter()
	cfg.Telemetry.Traces.Exporter = spans
	g, err := gateway.New(w.t.Context(), cfg, gateway.Options{Version: "test"})
	if err != nil {
		w.t.Fatal(err)
	}
	g.Start()
	w.t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // nothing is left that anybody waits for
		_ = g.Shutdown(ctx)
	})
	return begun{g, spans}
}

// named is the first span of a name.
func (b begun) named(t *testing.T, name string) tracetest.SpanStub {
	t.Helper()
	var found tracetest.SpanStub
	eventually(t, "the span "+name, func() bool {
		for _, s := range b.spans.GetSpans() {
			if s.Name == name && s.SpanKind != oteltrace.SpanKindClient || s.Name == name && strings.HasPrefix(name, "a2a_gateway.") {
				found = s
				return true
			}
		}
		return false
	})
	return found
}

// ask makes a call of agent a that must succeed.
func (b begun) ask(t *testing.T, who http.Header, method, params string) {
	t.Helper()
	status, body, err := try(client(t), http.MethodPost, b.URL()+"/agents/a", sendHeader(who),
		fmt.Sprintf(`{"jsonrpc":"2.0","id":"1","method":%q,"params":%s}`, method, params))
	if err != nil || status != http.StatusOK || strings.Contains(body, `"error"`) {
		t.Fatalf("%s: %d %s %v", method, status, body, err)
	}
}

// linksTo are the reasons for which a span is linked to another.
func linksTo(s, other tracetest.SpanStub) (why []string) {
	for _, l := range s.Links {
		if l.SpanContext.SpanID() == other.SpanContext.SpanID() && l.SpanContext.TraceID() == other.SpanContext.TraceID() {
			why = append(why, l.Attributes[0].Value.AsString())
		}
	}
	return why
}

// teller is an agent of one task, which keeps the webhook that it is given.
type teller struct {
	*httptest.Server
	mu   sync.Mutex
	hook hookGiven
}

// hookGiven is what the agent is given in the place of a webhook.
type hookGiven struct {
	URL            string `json:"url"`
	Token          string `json:"token"`
	Authentication struct {
		Credentials string `json:"credentials"`
	} `json:"authentication"`
}

const tellersTask = `{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}`

func newTeller(t *testing.T) *teller {
	t.Helper()
	a := new(teller)
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodGet {
			_, _ = fmt.Fprintf(w, `{"name":"Teller","description":"d","version":"1","supportedInterfaces":[{"url":"http://%s/rpc",`+
				`"protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"capabilities":{"pushNotifications":true},`+
				`"defaultInputModes":[],"defaultOutputModes":[],"skills":[{"id":"s","name":"S","description":"s","tags":[]}]}`, r.Host)
			return
		}
		var call struct {
			ID     string         `json:"id"`
			Method string         `json:"method"`
			Params jsontext.Value `json:"params"`
		}
		body, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(body, &call)
		result := tellersTask
		switch call.Method {
		case "SendMessage":
			result = `{"task":` + tellersTask + `}`
		case "CreateTaskPushNotificationConfig":
			a.mu.Lock()
			_ = json.Unmarshal(call.Params, &a.hook)
			a.mu.Unlock()
			result = string(call.Params)
		}
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%q,"result":%s}`, call.ID, result)
	}))
	t.Cleanup(a.Close)
	return a
}

// TestTraceLinksAcrossReplicas: calls of one task at two gateways with one Redis are linked
// to the one that it began with, whichever gateway that was at; notifications and their
// deliveries are too.
func TestTraceLinksAcrossReplicas(t *testing.T) {
	t.Parallel()
	redis := startRedis(t)
	w := newWorld(t)
	agent := newTeller(t)
	got := make(chan string, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r.Header.Get("Traceparent") }))
	t.Cleanup(receiver.Close)
	who := w.key("alice")
	var all [2]begun
	for i := range all {
		yaml := w.yaml(together, openPolicy+fmt.Sprintf("agents: [{id: a, card: %q}]\nkeys: {dir: %q}\n", agent.URL, w.dir+"/keys")+
			openPush+redis.yaml())
		all[i] = w.traced(strings.Replace(yaml, fmt.Sprintf("dataDir: %q", w.dir), fmt.Sprintf("dataDir: %q", t.TempDir()), 1))
	}
	one, other := all[0], all[1]
	one.ask(t, who, "SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}}`)
	other.ask(t, who, "GetTask", `{"id":"t"}`)
	other.ask(t, who, "CreateTaskPushNotificationConfig", `{"taskId":"t","id":"h","url":"`+receiver.URL+`"}`)
	first, second, registered := one.named(t, "SendMessage"), other.named(t, "GetTask"), other.named(t, "CreateTaskPushNotificationConfig")
	for _, s := range []tracetest.SpanStub{second, registered} {
		if why := linksTo(s, first); len(s.Links) != 1 || len(why) != 1 || why[0] != "task" {
			t.Errorf("%s is linked to %v, want the first call %v", s.Name, s.Links, first.SpanContext)
		}
	}
	if len(first.Links) != 0 {
		t.Errorf("the first call is linked to %v", first.Links)
	}

	agent.mu.Lock()
	hook := agent.hook
	agent.mu.Unlock()
	target, err := url.Parse(hook.URL)
	if err != nil || hook.URL == "" {
		t.Fatalf("the agent was given %q: %v", hook.URL, err)
	}
	header := http.Header{
		"Content-Type": {"application/a2a+json"}, "X-A2a-Notification-Token": {hook.Token},
		"Authorization": {"Bearer " + hook.Authentication.Credentials},
	}
	if status, body, err := try(client(t), http.MethodPost, one.URL()+target.Path, header, `{"task":`+tellersTask+`}`); err != nil || status != http.StatusOK {
		t.Fatalf("notify: %d %s %v", status, body, err)
	}
	select {
	case <-got:
	case <-time.After(patience):
		t.Fatal("no delivery")
	}
	notified := one.named(t, "PushNotification")
	if a, b := linksTo(notified, first), linksTo(notified, registered); len(notified.Links) != 2 || len(a) != 1 || len(b) != 1 {
		t.Errorf("the notification is linked to %v", notified.Links)
	}
	var delivered tracetest.SpanStub
	eventually(t, "the span of the delivery", func() bool {
		for _, g := range all {
			for _, s := range g.spans.GetSpans() {
				if s.Name == "a2a_gateway.push.deliver" {
					delivered = s
				}
			}
		}
		return delivered.Name != ""
	})
	if why := linksTo(delivered, first); len(why) != 1 || why[0] != "task" {
		t.Errorf("the delivery is linked to %v", delivered.Links)
	}
}

// TestTraceLinksAcrossRestart: with the state in a file, a call is linked to one that was
// made before a restart. Where the state is gone there is nothing to link to.
func TestTraceLinksAcrossRestart(t *testing.T) {
	t.Parallel()
	for driver, links := range map[string]int{"sqlite": 1, "memory": 0} {
		w := newWorld(t)
		agent, who := newTeller(t), w.key("alice")
		yaml := w.yaml(plain, openPolicy+fmt.Sprintf("agents: [{id: a, card: %q}]\nstate: {driver: %s}\n", agent.URL, driver))
		const send = `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}}`
		before := w.traced(yaml)
		before.ask(t, who, "SendMessage", send)
		first := before.named(t, "SendMessage")
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		err := before.Shutdown(ctx)
		if cancel(); err != nil {
			t.Fatal(err)
		}
		after := w.traced(yaml)
		after.ask(t, who, "SendMessage", send) // the agent goes on with the same task
		after.ask(t, who, "GetTask", `{"id":"t"}`)
		again := after.named(t, "SendMessage")
		if why := linksTo(again, first); len(why) != links || len(again.Links) != links {
			t.Errorf("%s: after a restart it is linked to %v, want %d links", driver, again.Links, links)
		}
		from := first
		if links == 0 {
			from = again
		}
		if s := after.named(t, "GetTask"); len(linksTo(s, from)) != 1 || len(s.Links) != 1 {
			t.Errorf("%s: the call after that is linked to %v", driver, s.Links)
		}
	}
}
