package gateway_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

// With nothing but the standard variable set, a call's trace goes on through the
// gateway to the agent, and the collector gets the gateway's part of it.
func TestTraces(t *testing.T) {
	received := make(chan *collector.ExportTraceServiceRequest, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		got := new(collector.ExportTraceServiceRequest)
		if err = errors.Join(err, proto.Unmarshal(body, got)); err != nil || r.URL.Path != "/v1/traces" {
			http.Error(w, "bad", http.StatusBadRequest)
			return
		}
		received <- got
	}))
	t.Cleanup(func() { receiver.CloseClientConnections(); receiver.Close() })
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")

	w := newWorld(t)
	agent := newCounter(t, nil)
	g := w.start(w.yaml(plain, openPolicy+fmt.Sprintf("agents: [{id: a, card: %q}]\n", agent.CardURL)))
	const trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	header := w.token("caller")
	header.Set("Traceparent", "00-"+trace+"-"+parent+"-01")
	if status, body := call(t, g, "a", header); status != http.StatusOK {
		t.Fatal(status, body)
	}
	got := agent.last().Get("Traceparent")
	if !strings.HasPrefix(got, "00-"+trace+"-") || strings.Contains(got, parent) {
		t.Errorf("the agent got traceparent %q", got)
	}
	if err := g.Shutdown(t.Context()); err != nil { // sends what waits
		t.Fatal(err)
	}
	parents := map[string]string{} // by span id
	for _, scope := range (<-received).GetResourceSpans()[0].GetScopeSpans() {
		for _, span := range scope.GetSpans() {
			if id := hex.EncodeToString(span.GetTraceId()); id != trace {
				t.Errorf("span %q is in trace %s", span.GetName(), id)
			}
			parents[hex.EncodeToString(span.GetSpanId())] = hex.EncodeToString(span.GetParentSpanId())
		}
	}
	client := strings.Split(got, "-")[2]
	if len(parents) != 2 || parents[parents[client]] != parent {
		t.Errorf("spans by parent: %v; want the agent's %s below a server span below %s", parents, client, parent)
	}
}
