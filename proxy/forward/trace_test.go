package forward_test

import (
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
)

// traced is a world whose spans are kept.
func traced(t *testing.T, edit ...func(*proxytest.Setup)) (*proxytest.Gateway, *tracetest.InMemoryExporter) {
	spans := tracetest.NewInMemoryExporter()
	return proxytest.NewGateway(t, append(edit, func(s *proxytest.Setup) { s.Traces.Exporter = spans })...), spans
}

// kinds are the spans of a kind, once there are as many as wanted.
func kinds(t *testing.T, spans *tracetest.InMemoryExporter, kind trace.SpanKind, want int) []tracetest.SpanStub {
	t.Helper()
	var found []tracetest.SpanStub
	proxytest.Eventually(t, fmt.Sprint(want, " spans of kind ", kind), func() bool {
		found = nil
		for _, s := range spans.GetSpans() {
			if s.SpanKind == kind {
				found = append(found, s)
			}
		}
		return len(found) >= want
	})
	if len(found) != want {
		t.Errorf("%d spans of kind %v, want %d", len(found), kind, want)
	}
	return found
}

func attribute(s tracetest.SpanStub, key string) any {
	for _, a := range s.Attributes {
		if string(a.Key) == key {
			return a.Value.AsInterface()
		}
	}
	return nil
}

// TestEveryTryHasASpan: those of instances that could not be reached, and what the agent
// sees is the one that it got.
func TestEveryTryHasASpan(t *testing.T) {
	t.Parallel()
	var a *proxytest.Agent
	w, spans := traced(t, func(s *proxytest.Setup) {
		a = proxytest.NewAgent(t)
		s.Agent.Load.Instances = []upstream.Instances{{Static: []string{"127.0.0.1:1", strings.TrimPrefix(a.URL, "http://")}}}
	})
	a.Answers(proxytest.Agreeable)
	for range 20 {
		proxytest.WantStatus(t, "get", w.Call("alice", wire.SendMessage, proxytest.Message("")), 200)
		seen := a.One(t)
		servers, clients := []tracetest.SpanStub(nil), []tracetest.SpanStub(nil)
		proxytest.Eventually(t, "server span", func() bool {
			servers, clients = nil, nil
			for _, s := range spans.GetSpans() {
				if s.SpanKind == trace.SpanKindServer {
					servers = append(servers, s)
				} else {
					clients = append(clients, s)
				}
			}
			return len(servers) == 1
		})
		spans.Reset()
		last := clients[len(clients)-1]
		if !strings.Contains(seen.Header.Get("Traceparent"), last.SpanContext.SpanID().String()) {
			t.Fatalf("the agent was sent %s, the last span is %s", seen.Header.Get("Traceparent"), last.SpanContext.SpanID())
		}
		for _, c := range clients {
			if c.Parent.SpanID() != servers[0].SpanContext.SpanID() {
				t.Errorf("a try below %s", c.Parent.SpanID())
			}
		}
		if attribute(servers[0], "a2a_gateway.upstream.attempts") != int64(len(clients)) {
			t.Errorf("%d spans of %v tries", len(clients), attribute(servers[0], "a2a_gateway.upstream.attempts"))
		}
		if len(clients) == 2 {
			if attribute(clients[0], "error.type") != "UNAVAILABLE" || attribute(clients[0], "server.port") != int64(1) ||
				attribute(last, "http.response.status_code") != int64(200) {
				t.Errorf("tries: %v", clients)
			}
			return
		}
	}
	t.Error("no call was tried twice")
}

// TestSpansOfAStream: its events, and the links to the call in which the task began.
func TestSpansOfAStream(t *testing.T) {
	t.Parallel()
	w, spans := traced(t)
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		rw.Header().Set("Content-Type", "text/event-stream")
		for _, event := range []string{
			`{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_SUBMITTED"}}}`,
			`{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[{"text":"x"}]}}}`,
			`{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}`,
		} {
			_, _ = fmt.Fprintf(rw, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", r.RPC().ID, event)
		}
	})
	proxytest.WantStatus(t, "stream", w.Call("alice", wire.SendStreamingMessage, proxytest.Message(""), "Traceparent: 00-"+strings.Repeat("1", 32)+"-"+strings.Repeat("2", 16)+"-00"), 200)
	first := kinds(t, spans, trace.SpanKindServer, 1)[0]
	if first.SpanContext.TraceID().String() != strings.Repeat("1", 32) || attribute(first, "a2a.task.id") != "t" ||
		attribute(first, "http.route") != "/agents/{agent}" || attribute(first, "gen_ai.agent.name") != "Recorder" {
		t.Errorf("span %v: %v", first.SpanContext, first.Attributes)
	}
	var events []string
	for _, e := range first.Events {
		events = append(events, fmt.Sprint(e.Name, e.Attributes[0].Value.AsInt64(), e.Attributes[1].Value.AsString()))
	}
	if got := strings.Join(events, " "); got != "a2a.stream.event1task a2a.stream.event2artifactUpdate a2a.stream.event3statusUpdate" {
		t.Errorf("events %s", got)
	}
	w.Agent.Answers(proxytest.Agreeable)
	proxytest.WantStatus(t, "get", w.Call("alice", wire.GetTask, `{"id":"t"}`), 200)
	second := kinds(t, spans, trace.SpanKindServer, 2)[1]
	if len(second.Links) != 1 || second.Links[0].SpanContext.SpanID() != first.SpanContext.SpanID() {
		t.Errorf("links %v", second.Links)
	}
	if client := kinds(t, spans, trace.SpanKindClient, 2)[1]; attribute(client, "a2a.task.id") != "t" || client.Name != wire.GetTask {
		t.Errorf("client span %s %v", client.Name, client.Attributes)
	}
}

// TestA28_WhoseTraceStateGoesOn: that of a trusted proxy does, that of strangers does not,
// nor does anybody's baggage, and only the former decides what is sampled.
func TestA28_WhoseTraceStateGoesOn(t *testing.T) {
	t.Parallel()
	for _, trusted := range []bool{false, true} {
		w, spans := traced(t, func(s *proxytest.Setup) {
			none := 0.0
			if s.Traces.SampleRatio = &none; trusted {
				s.Server.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
			}
		})
		w.Call("alice", wire.SendMessage, proxytest.Message(""), "Traceparent: 00-"+strings.Repeat("1", 32)+"-"+strings.Repeat("2", 16)+"-01",
			"Tracestate: vendor=secret", "Baggage: user=alice", "X-Forwarded-For: 192.0.2.1")
		seen := w.Agent.One(t).Header
		if got := seen.Get("Tracestate"); (got == "vendor=secret") != trusted || seen.Get("Baggage") != "" {
			t.Errorf("trusted %v: tracestate %q, baggage %q", trusted, got, seen.Get("Baggage"))
		}
		if got := seen.Get("Traceparent"); strings.HasSuffix(got, "-01") != trusted || !strings.Contains(got, strings.Repeat("1", 32)) {
			t.Errorf("trusted %v: traceparent %s", trusted, got)
		}
		if trusted {
			kinds(t, spans, trace.SpanKindServer, 1)
		} else if all := spans.GetSpans(); len(all) != 0 {
			t.Errorf("a stranger had %d spans made", len(all))
		}
	}
}

// TestRegainedStreamsGoOnWithTheTrace: the gateway's own questions are spans of the call.
func TestRegainedStreamsGoOnWithTheTrace(t *testing.T) {
	t.Parallel()
	w, spans := traced(t, func(s *proxytest.Setup) {
		window := quantity.Duration(proxytest.Patience)
		s.Stream.Resubscribe = &window
	})
	event := func(r *proxytest.Request, text string) string {
		return fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", r.RPC().ID, text)
	}
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		rw.Header().Set("Content-Type", "text/event-stream")
		if strings.Contains(r.RPC().Method, "Subscribe") {
			_, _ = io.WriteString(rw, event(r, `{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`)+
				event(r, `{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}`))
			return
		}
		_, _ = io.WriteString(rw, event(r, `{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`))
		_ = http.NewResponseController(rw).Flush()
		panic(http.ErrAbortHandler)
	})
	got := w.Call("alice", wire.SendStreamingMessage, proxytest.Message(""))
	if !strings.Contains(got.Body, "COMPLETED") {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	server := kinds(t, spans, trace.SpanKindServer, 1)[0]
	clients := kinds(t, spans, trace.SpanKindClient, 2)
	for _, r := range w.Agent.Take() {
		if !strings.Contains(r.Header.Get("Traceparent"), server.SpanContext.TraceID().String()) {
			t.Errorf("%s was sent with %q", r.RPC().Method, r.Header.Get("Traceparent"))
		}
	}
	own := 0
	for _, c := range clients {
		if attribute(c, "a2a_gateway.upstream.own") == true {
			own++
		}
	}
	if own != 1 || attribute(server, "a2a_gateway.stream.regained") != int64(1) {
		t.Errorf("%d questions of the gateway's own; %v", own, server.Attributes)
	}
}
