package proxytest

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/authn/schemes"
	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/ext/provided"
	"github.com/a2a-gateway/a2a-gateway/internal/egress"
	"github.com/a2a-gateway/a2a-gateway/internal/keys"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/sse/ssetest"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/guard"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
	"github.com/a2a-gateway/a2a-gateway/policy/pdp"
	"github.com/a2a-gateway/a2a-gateway/proxy"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals/standing"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
	"github.com/a2a-gateway/a2a-gateway/proxy/webhooks"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
	"github.com/a2a-gateway/a2a-gateway/telemetry/anomaly"
	"github.com/a2a-gateway/a2a-gateway/telemetry/metrics"
)

// Gateway is a gateway that serves on the loopback interface, with its parts, an agent behind it,
// and callers in front. It is the test's testing.TB too, so that helpers can fail the test.
type Gateway struct {
	testing.TB
	Agent     *Agent
	URL       string            // of the gateway
	Base      string            // of the first agent at the gateway
	Keys      map[string]string // the callers' API keys, by the callers' ids
	Ring      *keys.Ring        // that seals content, where any is captured
	Client    *http.Client
	http2     *http.Client // for h2
	Proxy     *proxy.Proxy
	Telemetry *telemetry.Telemetry
	Audit     *audit.Log
	Dir       string
	Logs      *buffer
	Mail      *Mailbox // where push is relay
	Approvals *approvals.Store

	Sources []*card.Source // of the agents' cards, in the order of the agents
}

// buffer is a bytes.Buffer for two goroutines.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// NewGateway starts a gateway, after the functions in edit have changed its Setup. Everything in
// it is what the program has, except for the agent; the end of the test closes it.
func NewGateway(t testing.TB, edit ...func(*Setup)) *Gateway {
	t.Helper()
	w := &Gateway{TB: t, Agent: NewAgent(t), Keys: map[string]string{}, Dir: t.TempDir(), Logs: &buffer{}}
	memory := state.NewMemory(state.Config{})
	t.Cleanup(func() { _ = memory.Close() })
	s := &Setup{
		Policy: Everyone(), Store: memory, Steps: memory, Counts: memory, Values: memory, Push: "passthrough",
		Agent: agents.Config{ID: "rec"},
	}
	s.Server.Address, s.Server.PublicURL = "127.0.0.1:0", "http://127.0.0.1"
	file := filepath.Join(w.Dir, "keys.yaml")
	w.admitRegulars(file)
	s.Authn.APIKeys = &apikey.Config{File: file}
	s.Agent.Card.URL = secret.URL(w.Agent.URL + "/card")
	for _, f := range edit {
		f(s)
	}
	w.Agent.docs = s.Docs
	for name, agent := range s.Bound {
		w.addKeys(file, apikey.Spec{ID: name, Agents: []string{agent}})
	}
	for name, tenant := range s.Tenants {
		w.addKeys(file, apikey.Spec{ID: name, Tenant: tenant})
	}
	s.Server.Defaults()
	w.start(s)
	return w
}

// addKeys makes API keys in a file, and keeps them in Keys by the ids of their callers.
func (w *Gateway) addKeys(file string, specs ...apikey.Spec) {
	keys, err := apikey.Open(file)
	Must(w, err)
	for _, spec := range specs {
		_, key, err := keys.Create(spec)
		Must(w, err)
		w.Keys[spec.ID] = key
	}
}

func (w *Gateway) start(s *Setup) {
	ctx := w.TB.(interface{ Context() context.Context }).Context()
	var err error
	w.Telemetry, err = telemetry.Open(ctx, telemetry.Config{
		Traces: s.Traces, Logs: telemetry.Logs{Output: w.Logs, Format: "json", Level: s.Level},
	}, "test")
	Must(w, err)
	w.Cleanup(func() { _ = w.Telemetry.Close(context.Background()) })
	w.Audit, err = audit.Open(audit.Config{Dir: filepath.Join(w.Dir, "audit"), Content: s.Content, Digest: s.Digest}, "test", w.Telemetry)
	Must(w, err)
	w.Cleanup(func() { _ = w.Audit.Close() })
	if s.Content.Rules != nil {
		w.Ring = w.sealer()()
		Must(w, w.Audit.KeepWith(w.Ring))
	}
	chain, err := schemes.New(ctx, s.Authn, schemes.Options{Logger: w.Telemetry.Log})
	Must(w, err)
	w.Cleanup(chain.Close)

	handler := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { w.Proxy.ServeHTTP(rw, r) })
	front, err := server.New(s.Server, handler, w.Telemetry.Log)
	Must(w, err)
	Must(w, front.Start())
	w.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = front.Shutdown(ctx)
	})
	public, err := url.Parse(front.PublicURL())
	Must(w, err)

	var ids []string
	var all []*agents.Agent
	for _, a := range append([]agents.Config{s.Agent}, s.More...) {
		a.Load.Breaker.Off = !s.Breaker
		Must(w, a.Validate())
		up, err := upstream.New(a.Config, s.Upstream)
		Must(w, err)
		w.Cleanup(up.Close)
		source := card.NewSource(a.Card, up.Client(), w.Telemetry.Log)
		if !s.NoCard {
			Must(w, source.Refresh(ctx))
		}
		w.Sources = append(w.Sources, source)
		ids = append(ids, a.ID)
		agent, err := agents.New(a, source, up)
		Must(w, err)
		all = append(all, agent)
	}
	book, err := s.Extensions.Compile()
	Must(w, err)
	w.Cleanup(book.Close)
	rules, _, err := policy.Compile(s.Policy, ids, book.Extra().Methods()...)
	Must(w, err)
	labels := metrics.Labels{Agents: ids}
	for _, e := range s.Extensions {
		labels.URIs = append(labels.URIs, e.URI)
	}
	for _, m := range book.Extra().Methods() {
		labels.Methods = append(labels.Methods, m.Name)
	}
	s.name(&labels)
	w.Telemetry.Metrics.SetLabels(labels)
	if s.Sealer == nil {
		s.Sealer = w.sealer()
	}
	s.Hub.Config, s.Hub.Limits = s.streaming(), proxy.StreamLimits(s.Server)
	hub := stream.NewHub(s.Hub)
	w.Approvals = approvals.New(s.Values, s.Values, time.Hour, func(string, standing.State) {})
	w.Approvals.Configure(s.Approvals)
	w.Cleanup(hub.Close)
	w.Proxy, err = proxy.New(proxy.Options{
		Limits: w.limiter(s, ids), Panel: w.panel(s, ids), Guards: w.guards(s, ids),
		PublicURL: public, Server: s.Server, Agents: all, Authn: chain, Policy: rules,
		Hosts:     s.Server.Hosts,
		Approvals: proxy.Approvals{Store: w.Approvals, Begun: func(*approvals.Call) {}},
		Telemetry: w.Telemetry, Audit: w.Audit, Anomalies: w.watch(s),
		Push: push.Config{Mode: s.Push}, Relay: w.relay(s), Load: s.Load,
		Memory:     proxy.Memory{Ledger: ledger.New(s.Store, s.shares(rules, all)), Salt: []byte("salt"), Sealer: s.Sealer, Values: s.Values},
		Extensions: proxy.Extensions{Book: book, Providers: provided.Providers(), Steps: s.Steps},
		Documents: proxy.Documents{
			Schemes: card.Schemes{APIKeyHeader: "X-API-Key"}, Catalog: s.Catalog, JWKS: s.JWKS, Signing: s.Signing, GRPC: true,
		},
		Streaming: proxy.Streaming{Streams: s.Streams, StreamConfig: s.streaming(), Hub: hub, Drain: s.Drain},
	})
	Must(w, err)
	w.URL = front.URL()
	w.Base = w.URL + "/agents/" + s.Agent.ID
	transport := &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}
	w.Cleanup(transport.CloseIdleConnections)
	w.Client = &http.Client{
		Transport: ssetest.Watch(w.TB, transport), Timeout: Patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// limiter is what the setup's limits make, nil for none.
func (w *Gateway) limiter(s *Setup, agents []string) *limits.Limiter {
	w.Helper()
	if len(s.Limits.Each) == 0 {
		return nil
	}
	local := state.NewMemory(state.Config{})
	w.Cleanup(func() { _ = local.Close() })
	l, err := limits.New(s.Limits, limits.Options{
		Agents: agents, Store: s.Counts, Local: local, Log: w.Telemetry.Log, Fell: w.Telemetry.Metrics.Policy.LimitUncounted,
	})
	Must(w, err)
	w.Cleanup(l.Close)
	return l
}

// panel is what the setup's authorizers make, nil for none.
func (w *Gateway) panel(s *Setup, agents []string) *pdp.Panel {
	w.Helper()
	if len(s.Authorizers) == 0 {
		return nil
	}
	p, err := pdp.New(s.Authorizers, pdp.Options{
		Agents: agents, Gateway: s.Server.ID, Log: w.Telemetry.Log, Asked: w.Telemetry.Metrics.Policy.AuthorizerAsked,
	})
	Must(w, err)
	w.Cleanup(p.Close)
	return p
}

// guards are what the setup's make, nil for none.
func (w *Gateway) guards(s *Setup, agents []string) *guard.Set {
	w.Helper()
	g, err := guard.New(s.Guards, guard.Options{
		Agents: agents, Hold: s.GuardWindow, Log: w.Telemetry.Log, Asked: w.Telemetry.Metrics.Guards.Asked, Files: true,
	})
	Must(w, err)
	w.Cleanup(g.Close)
	return g
}

// For is the gateway of a test for one of its subtests, whose failures are then its own.
func (w *Gateway) For(t testing.TB) *Gateway {
	again := *w
	again.TB = t
	return &again
}

// relay is what stands between agents and webhooks, where notifications are relayed.
func (w *Gateway) relay(s *Setup) *webhooks.Relay {
	if s.Push != "relay" {
		return nil
	}
	out, err := egress.New(egress.Options{})
	Must(w, err)
	w.Cleanup(out.Close)
	w.Mail = &Mailbox{}
	hooks := push.NewRegistry(s.Values, cipher{w.sealer()}).With(s.Relay, out)
	return &webhooks.Relay{Hooks: hooks, Queue: w.Mail, Counts: s.Counts}
}

// H2 is a client that speaks plaintext HTTP/2 only.
func (w *Gateway) H2() *http.Client {
	if w.http2 == nil {
		transport := &http.Transport{Protocols: new(http.Protocols), DisableCompression: true}
		transport.Protocols.SetUnencryptedHTTP2(true)
		w.Cleanup(transport.CloseIdleConnections)
		w.http2 = &http.Client{Transport: transport, Timeout: Patience}
	}
	return w.http2
}

// watch looks for what the setup's anomalies say, nil for nothing.
func (w *Gateway) watch(s *Setup) *anomaly.Watch {
	w.Helper()
	if s.Anomalies == nil {
		return nil
	}
	watch, err := anomaly.New(w.Context(), anomaly.Options{
		Config: *s.Anomalies, Tell: func(anomaly.Event) {}, Values: s.Values, Log: w.Telemetry.Log,
	})
	Must(w, err)
	w.Cleanup(watch.Close)
	return watch
}

// NewGatewayFor starts a gateway whose agent has a card with these interfaces and answers on all of them.
func NewGatewayFor(t testing.TB, doc func(string) string, edit ...func(*Setup)) *Gateway {
	t.Helper()
	w := NewGateway(t, append(edit, func(s *Setup) { s.Agent.Card.URL += "?" })...)
	w.BecomeCard(doc)
	w.Agent.Answers(Fluent)
	return w
}
