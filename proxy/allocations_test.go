package proxy_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// governedWorld has everything on that a call can have without asking anybody: a hundred
// rules, one trace in a hundred, an extension that is asked for, and what every world has.
func governedWorld(b *testing.B) (w *proxytest.Gateway, header []string) {
	ratio := 0.01
	w = benchWorld(b, func(s *proxytest.Setup) {
		s.Traces.SampleRatio, s.Traces.Exporter = &ratio, tracetest.NewNoopExporter()
		s.Extensions = ext.Registry{{URI: "urn:declared", Kind: "data"}}
		for i := range 99 {
			s.Policy.Rules = append(s.Policy.Rules, policy.Rule{
				Name: fmt.Sprintf("rule-%d", i), Effect: "allow", Agents: []string{"rec"}, Groups: []string{fmt.Sprintf("group-%d", i)},
			})
		}
	})
	asked := "A2A-Extensions: urn:declared"
	instant(w, "", asked)
	return w, []string{asked}
}

// BenchmarkGoverned is BenchmarkServeHTTP with everything on.
func BenchmarkGoverned(b *testing.B) {
	w, header := governedWorld(b)
	body := []byte(proxytest.RPCBody("SendMessage", proxytest.Message(`,"contextId":"c"`)))
	serve(w, b, func() []byte { return body }, header...)
}

// BenchmarkDirect is the same call of the agent's, without a gateway, and like any that
// ends with who made it.
func BenchmarkDirect(b *testing.B) {
	w, header := governedWorld(b)
	body := []byte(proxytest.RPCBody("SendMessage", proxytest.Message(`,"contextId":"c"`)))
	from, to := bytes.NewReader(nil), new(bytes.Buffer)
	r := w.Request("", "POST", w.Agent.URL+"/rpc", string(body), append(header, "A2A-Version: 1.0")...)
	r.GetBody = nil // as the gateway's have none
	caller, end := context.WithCancel(b.Context())
	defer end()
	client := http.Transport{DisableCompression: true}
	defer client.CloseIdleConnections()
	b.ReportAllocs()
	for b.Loop() {
		from.Reset(body)
		r.Body = io.NopCloser(from)
		ctx, cancel := context.WithCancelCause(caller)
		resp, err := client.RoundTrip(r.WithContext(ctx))
		if err != nil {
			b.Fatal(err)
		}
		to.Reset()
		if _, err := to.ReadFrom(resp.Body); err != nil {
			b.Fatal(err)
		}
		_ = resp.Body.Close()
		cancel(nil)
	}
}

// TestAllocations holds a unary call to what it costs, so that a change that adds to it is
// a decision. What the agent and net/http's client take is measured beside it.
func TestAllocations(t *testing.T) {
	if testing.Short() || proxytest.RaceEnabled {
		t.Skip("counts allocations")
	}
	direct, all := testing.Benchmark(BenchmarkDirect), testing.Benchmark(BenchmarkGoverned)
	got := all.AllocsPerOp() - direct.AllocsPerOp()
	// Fewer than none, though the gateway makes some 25: its own connections to agents take
	// more than that less than net/http's client, which is what stands beside it.
	const most = -12
	if got > most {
		t.Errorf("%d allocations a call, at most %d wanted", got, most)
	}
	t.Logf("%d allocations a call of %d bytes; with net/http's client and the agent %d, %d bytes", got,
		all.AllocedBytesPerOp()-direct.AllocedBytesPerOp(), all.AllocsPerOp(), all.AllocedBytesPerOp())
}
