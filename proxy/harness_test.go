package proxy_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/goleak"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/authn/schemes"
	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/card/signature"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/provided"
	"github.com/a2a-gateway/a2a-gateway/internal/keys"
	"github.com/a2a-gateway/a2a-gateway/internal/overload"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/sse/ssetest"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
	"github.com/a2a-gateway/a2a-gateway/policy/pdp"
	"github.com/a2a-gateway/a2a-gateway/proxy"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/catalog"
	"github.com/a2a-gateway/a2a-gateway/proxy/cursors"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
	"github.com/a2a-gateway/a2a-gateway/telemetry/anomaly"
	"github.com/a2a-gateway/a2a-gateway/telemetry/metrics"
)

// net/http lets a connection it refused linger for half a second, by itself.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

// patience is how long a test waits for what must happen before it fails.
const patience = time.Minute

// recorder is an agent that keeps every request and answers as it is told.
type recorder struct {
	*httptest.Server
	mu      sync.Mutex
	seen    []*record
	handler func(http.ResponseWriter, *record)
	doc     func(base string) string // its card

	// docs has the cards where one server is several agents; the query says which.
	docs map[string]func(base string) string
}

// record is one request as the agent got it.
type record struct {
	*http.Request
	body []byte
}

func newRecorder(t testing.TB) *recorder {
	a := &recorder{handler: agreeable, doc: cardOf}
	a.Server = httptest.NewUnstartedServer(a)
	a.Config.Protocols = new(http.Protocols)
	a.Config.Protocols.SetHTTP1(true)
	a.Config.Protocols.SetUnencryptedHTTP2(true) // gRPC
	a.Start()
	t.Cleanup(a.Close)
	return a
}

// ServeHTTP implements http.Handler. Reading the card is not recorded.
func (a *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/card" {
		doc := a.docs[r.URL.RawQuery]
		if doc == nil {
			doc = a.doc
		}
		_, _ = io.WriteString(w, doc("http://"+r.Host))
		return
	}
	body, _ := io.ReadAll(r.Body)
	rec := &record{Request: r, body: body}
	a.mu.Lock()
	a.seen = append(a.seen, rec)
	handler := a.handler
	a.mu.Unlock()
	handler(w, rec)
}

// answers sets what the agent does with a call from now on.
func (a *recorder) answers(f func(http.ResponseWriter, *record)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.handler = f
}

// take gives the requests since the last take.
func (a *recorder) take() []*record {
	a.mu.Lock()
	defer a.mu.Unlock()
	seen := a.seen
	a.seen = nil
	return seen
}

// one gives the only request since the last take.
func (a *recorder) one(t testing.TB) *record {
	t.Helper()
	seen := a.take()
	if len(seen) != 1 {
		t.Fatalf("the agent saw %d requests, want 1", len(seen))
	}
	return seen[0]
}

// silent fails the test if the agent saw anything.
func (a *recorder) silent(t testing.TB, what string) {
	t.Helper()
	if seen := a.take(); len(seen) != 0 {
		t.Errorf("%s: the agent saw %s %s %s", what, seen[0].Method, seen[0].URL, seen[0].body)
	}
}

// cardOf is a card with an interface for each version and binding.
func cardOf(base string) string {
	const list = `{"url":"%[1]s/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"},
		{"url":"%[1]s/rpc","protocolBinding":"JSONRPC","protocolVersion":"0.3"},
		{"url":"%[1]s/rpc","protocolBinding":"JSONRPC","protocolVersion":"0.1"},
		{"url":"%[1]s/rest","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"},
		{"url":"%[1]s/rest","protocolBinding":"HTTP+JSON","protocolVersion":"0.3"}`
	return fmt.Sprintf(`{"name":"Recorder","description":"d","version":"1","supportedInterfaces":[`+list+`],
		"capabilities":{"streaming":true,"pushNotifications":true,"extendedAgentCard":true,
			"extensions":[{"uri":"urn:declared"}]},
		"defaultInputModes":[],"defaultOutputModes":[],
		"skills":[{"id":"read","name":"Read","description":"r","tags":[]},
			{"id":"write it","name":"Write","description":"w","tags":[]}]}`, base)
}

// agreeable answers every call with the task it names, or a new one. A new task
// has a context of its own; one that is named keeps what is known of it.
func agreeable(w http.ResponseWriter, r *record) {
	fresh := r.Header.Get("X-Request-Id")
	if named := taskNamed(r); named != "" {
		reply(w, r, taskResult(r, named, ""))
		return
	}
	reply(w, r, taskResult(r, "task-"+fresh, "context-"+fresh))
}

// rpc is what the tests read of a JSON-RPC request.
type rpc struct {
	ID     jsonRaw `json:"id"`
	Method string  `json:"method"`
	Params struct {
		ID      string `json:"id"`
		TaskID  string `json:"taskId"`
		Message struct {
			TaskID    string `json:"taskId"`
			ID        string `json:"messageId"`
			ContextID string `json:"contextId"`
			Context   string `json:"context_id"`
		} `json:"message"`
	} `json:"params"`
}

type jsonRaw []byte

// UnmarshalJSON keeps the bytes.
func (r *jsonRaw) UnmarshalJSON(b []byte) error {
	*r = bytes.Clone(b)
	return nil
}

func (r *record) rpc() rpc {
	var c rpc
	_ = json.Unmarshal(r.body, &c) // HTTP+JSON: nothing to read
	return c
}

func (r *record) isRPC() bool { return r.URL.Path == "/rpc" }

// is10 reports whether the call is of version 1.0.
func (r *record) is10() bool { return r.Header.Get("A2A-Version") == "1.0" }

func taskNamed(r *record) string {
	c := r.rpc()
	return cmp.Or(c.Params.Message.TaskID, c.Params.TaskID, c.Params.ID)
}

// taskResult is a finished task in the version the call is in.
func taskResult(r *record, id, context string) string {
	task := fmt.Sprintf(`{"kind":"task","id":%q,"contextId":%q,"status":{"state":"completed"}}`, id, context)
	if r.is10() || !r.isRPC() {
		task = fmt.Sprintf(`{"id":%q,"contextId":%q,"status":{"state":"TASK_STATE_COMPLETED"}}`, id, context)
	}
	sends := strings.HasSuffix(r.rpc().Method, "Message") || strings.Contains(r.URL.Path, "message:")
	if sends && (r.is10() || !r.isRPC()) {
		task = `{"task":` + task + `}`
	}
	return task
}

// reply answers with a result, wrapped as the binding wants it, and as a stream
// of one event where the call asks for a stream.
func reply(w http.ResponseWriter, r *record, result string) {
	body := result
	if r.isRPC() {
		body = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, r.rpc().ID, result)
	}
	streams := strings.Contains(r.rpc().Method+r.URL.Path, "tream") || strings.Contains(r.rpc().Method+r.URL.Path, "ubscribe")
	if streams {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: "+body+"\n\n")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, body)
}

// raw answers with exactly these bytes on the connection, and closes it.
func rawAnswer(bytes string) func(http.ResponseWriter, *record) {
	return func(w http.ResponseWriter, _ *record) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		_, _ = io.WriteString(c, bytes)
		_ = c.Close()
	}
}

// setup is what a test may change before the world is built.
type setup struct {
	server server.Config
	agent  agents.Config
	more   []agents.Config

	extensions ext.Registry
	steps      state.Steps
	content    audit.Content
	sealer     cursors.Sealer // nil for one of the world's own
	policy     policy.Config
	authn      schemes.Config
	store      state.Ledger
	catalog    catalog.Config
	push       string
	relay      push.Config  // where push is relay
	values     state.Values // where webhooks are kept
	failOpen   bool
	noCard     bool
	drain      func(func()) func() bool
	docs       map[string]func(base string) string // cards of further agents on the same server, by query
	wrap       func(http.Handler) http.Handler
	system     http.Handler
	jwks       func() []byte
	signing    signature.Ring // of cards
	streams    *openstreams.Streams
	load       *overload.Ladder
	stream     stream.Config
	hub        stream.HubOptions // what else it has: for replicas
	upstream   upstream.Options
	breaker    bool              // may open; most tests fail calls on purpose
	bound      map[string]string // further callers, each good for one agent only
	tenants    map[string]string // further callers, and whose tenants they are
	level      string            // of the logs
	traces     telemetry.Traces

	limits      limits.Config
	counts      state.Limits // where limits are counted; the store's memory unless said
	authorizers pdp.Config
	anomalies   *anomaly.Config // nil where nobody looks for any
}

// shares is who uses whose tasks.
func (s *setup) shares(rules *policy.Set, all []*agents.Agent) ledger.Config {
	c := ledger.Config{
		Scope: s.policy.Tasks.Scope, Adopt: s.policy.Tasks.Contexts == "adopt", Backend: agents.Backends(all),
	}
	if len(s.policy.Tasks.Sharing) > 0 {
		c.Share = proxy.Sharing(rules)
	}
	return c
}

// world is a gateway with its parts, an agent behind it, and callers in front.
type world struct {
	testing.TB
	agent *recorder
	url   string // of the gateway
	base  string // of the agent at the gateway
	keys  map[string]string
	ring  *keys.Ring // that seals content, where any is captured
	http  *http.Client
	http2 *http.Client // for h2
	proxy *proxy.Proxy
	tel   *telemetry.Telemetry
	audit *audit.Log
	dir   string
	logs  *buffer
	mail  *mailbox // where push is relay

	sources []*card.Source // of the agents, in their order
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

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// everyone is a policy that allows everything to all but mallory.
func everyone() policy.Config {
	return policy.Config{Rules: []policy.Rule{{
		Name: "all", Effect: "allow", Subjects: []string{"alice", "bob", "tied"},
	}}}
}

// build makes a world. Everything in it is the real thing.
func build(t testing.TB, edit ...func(*setup)) *world {
	t.Helper()
	w := &world{TB: t, agent: newRecorder(t), keys: map[string]string{}, dir: t.TempDir(), logs: &buffer{}}
	memory := state.NewMemory(state.Config{})
	t.Cleanup(func() { _ = memory.Close() })
	s := &setup{
		policy: everyone(), store: memory, steps: memory, counts: memory, values: memory, push: "passthrough",
		agent: agents.Config{ID: "rec"},
	}
	s.server.Address, s.server.PublicURL = "127.0.0.1:0", "http://127.0.0.1"
	file := w.makeKeys("alice", "bob", "mallory")
	s.authn.APIKeys = &apikey.Config{File: file}
	s.agent.Card.URL = secret.URL(w.agent.URL + "/card")
	for _, f := range edit {
		f(s)
	}
	w.agent.docs = s.docs
	w.bindKeys(file, s.bound)
	w.tenantKeys(file, s.tenants)
	s.server.Defaults()
	w.start(s)
	return w
}

// makeKeys writes an API key for each of the names.
func (w *world) makeKeys(names ...string) string {
	file := filepath.Join(w.dir, "keys.yaml")
	keys, err := apikey.Open(file)
	must(w, err)
	for _, name := range names {
		_, key, err := keys.Create(apikey.Spec{ID: name})
		must(w, err)
		w.keys[name] = key
	}
	return file
}

// bindKeys writes a key for each caller who may use one agent only.
func (w *world) bindKeys(file string, bound map[string]string) {
	keys, err := apikey.Open(file)
	must(w, err)
	for name, agent := range bound {
		_, key, err := keys.Create(apikey.Spec{ID: name, Agents: []string{agent}})
		must(w, err)
		w.keys[name] = key
	}
}

// tenantKeys writes a key for each caller who has a tenant.
func (w *world) tenantKeys(file string, tenants map[string]string) {
	keys, err := apikey.Open(file)
	must(w, err)
	for name, tenant := range tenants {
		_, key, err := keys.Create(apikey.Spec{ID: name, Tenant: tenant})
		must(w, err)
		w.keys[name] = key
	}
}

func (w *world) start(s *setup) {
	ctx := w.TB.(interface{ Context() context.Context }).Context()
	var err error
	w.tel, err = telemetry.Open(ctx, telemetry.Config{
		Traces: s.traces, Logs: telemetry.Logs{Output: w.logs, Format: "json", Level: s.level},
	}, "test")
	must(w, err)
	w.Cleanup(func() { _ = w.tel.Close(context.Background()) })
	w.audit, err = audit.Open(audit.Config{Dir: filepath.Join(w.dir, "audit"), Content: s.content}, "test", w.tel)
	must(w, err)
	w.Cleanup(func() { _ = w.audit.Close() })
	if s.content.Rules != nil {
		w.ring = w.sealer()()
		must(w, w.audit.KeepWith(w.ring))
	}
	chain, err := schemes.New(ctx, s.authn, schemes.Options{Logger: w.tel.Log})
	must(w, err)
	w.Cleanup(chain.Close)

	handler := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { w.proxy.ServeHTTP(rw, r) })
	var outer http.Handler = handler
	if s.wrap != nil {
		outer = s.wrap(handler)
	}
	front, err := server.New(s.server, outer, w.tel.Log)
	must(w, err)
	must(w, front.Start())
	w.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = front.Shutdown(ctx)
	})
	public, err := url.Parse(front.PublicURL())
	must(w, err)

	var ids []string
	var all []*agents.Agent
	for _, a := range append([]agents.Config{s.agent}, s.more...) {
		a.Load.Breaker.Off = !s.breaker
		must(w, a.Validate())
		up, err := upstream.New(a.Config, s.upstream)
		must(w, err)
		w.Cleanup(up.Close)
		source := card.NewSource(a.Card, up.Client(), w.tel.Log)
		if !s.noCard {
			must(w, source.Refresh(ctx))
		}
		w.sources = append(w.sources, source)
		ids = append(ids, a.ID)
		agent, err := agents.New(a, source, up)
		must(w, err)
		all = append(all, agent)
	}
	book, err := s.extensions.Compile()
	must(w, err)
	w.Cleanup(book.Close)
	rules, _, err := policy.Compile(s.policy, ids, book.Extra().Methods()...)
	must(w, err)
	labels := metrics.Labels{Agents: ids}
	for _, e := range s.extensions {
		labels.URIs = append(labels.URIs, e.URI)
	}
	for _, m := range book.Extra().Methods() {
		labels.Methods = append(labels.Methods, m.Name)
	}
	s.name(&labels)
	w.tel.Metrics.SetLabels(labels)
	if s.sealer == nil {
		s.sealer = w.sealer()
	}
	s.hub.Config, s.hub.Limits = s.streaming(), proxy.StreamLimits(s.server)
	hub := stream.NewHub(s.hub)
	w.Cleanup(hub.Close)
	w.proxy, err = proxy.New(proxy.Options{
		Limits: w.limiter(s, ids), Panel: w.panel(s, ids),
		PublicURL: public, Server: s.server, Agents: all, Authn: chain, Policy: rules,
		Hosts:     s.server.Hosts,
		Telemetry: w.tel, Audit: w.audit, FailOpen: s.failOpen, Anomalies: w.watch(s),
		Push: push.Config{Mode: s.push}, Relay: w.relay(s), System: s.system, Load: s.load,
		Memory:     proxy.Memory{Ledger: ledger.New(s.store, s.shares(rules, all)), Salt: []byte("salt"), Sealer: s.sealer, Values: s.values},
		Extensions: proxy.Extensions{Book: book, Providers: provided.Providers(), Steps: s.steps},
		Documents: proxy.Documents{
			Schemes: card.Schemes{APIKeyHeader: "X-API-Key"}, Catalog: s.catalog, JWKS: s.jwks, Signing: s.signing, GRPC: true,
		},
		Streaming: proxy.Streaming{Streams: s.streams, StreamConfig: s.streaming(), Hub: hub, Drain: s.drain},
	})
	must(w, err)
	w.url = front.URL()
	w.base = w.url + "/agents/" + s.agent.ID
	transport := &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}
	w.Cleanup(transport.CloseIdleConnections)
	w.http = &http.Client{
		Transport: ssetest.Watch(w.TB, transport), Timeout: patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// answer is a response, read to its end.
type answer struct {
	status int
	header http.Header
	body   string
}

// request makes a request as a caller; who may be "".
func (w *world) request(who, verb, target, body string, header ...string) *http.Request {
	w.Helper()
	if !strings.HasPrefix(target, "http") {
		target = w.base + target
	}
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(context.Background(), verb, target, reader)
	must(w, err)
	r.Header.Set("User-Agent", "test")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if who != "" {
		r.Header.Set("X-API-Key", w.keys[who])
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header.Add(name, value)
	}
	return r
}

// do makes a request and reads the answer.
func (w *world) do(who, verb, target, body string, header ...string) answer {
	w.Helper()
	resp, err := w.http.Do(w.request(who, verb, target, body, header...))
	must(w, err)
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		got = append(got, "\n"+err.Error()...)
	}
	_ = resp.Body.Close()
	return answer{resp.StatusCode, resp.Header, string(got)}
}

// call makes a JSON-RPC call of version 1.0, with id 7.
func (w *world) call(who, method, params string, header ...string) answer {
	w.Helper()
	return w.do(who, "POST", "", rpcBody(method, params), append([]string{"A2A-Version: 1.0"}, header...)...)
}

func decoderAt(b []byte) *jsontext.Decoder { return jsontext.NewDecoder(bytes.NewReader(b)) }

func rpcBody(method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":%s}`, method, params)
}

// message is the params of a send; more are members of the message.
func message(more string) string {
	return `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]` + more + `}}`
}

// raw writes bytes to the gateway and reads one response.
func (w *world) raw(text string) answer {
	w.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	must(w, err)
	defer func() { _ = c.Close() }()
	must(w, c.SetDeadline(time.Now().Add(patience)))
	// The gateway may refuse and close before it has been told everything.
	_, _ = io.WriteString(c, text)
	verb, _, _ := strings.Cut(text, " ")
	resp, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: verb})
	if err != nil {
		return answer{body: err.Error()}
	}
	body, _ := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(body)}
}

// head is a request head for raw, as alice, its lines ended as HTTP wants them.
func (w *world) head(start string, lines ...string) string {
	all := append([]string{start, "Host: " + strings.TrimPrefix(w.url, "http://")}, lines...)
	return strings.Join(append(all, "X-API-Key: "+w.keys["alice"], "", ""), "\r\n")
}

// audited gives the audit records of calls so far, by their type.
func (w *world) audited(kind string) []map[string]any {
	w.Helper()
	var all []map[string]any
	files, _ := filepath.Glob(filepath.Join(w.dir, "audit", "*.jsonl"))
	for _, name := range files {
		text, err := os.ReadFile(name)
		must(w, err)
		for line := range strings.Lines(string(text)) {
			if !strings.HasSuffix(line, "\n") {
				break // it is being written
			}
			var r map[string]any
			must(w, json.Unmarshal([]byte(line), &r))
			if r["type"] == kind {
				all = append(all, r)
			}
		}
	}
	return all
}

// eventually waits until something is so.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); {
		if time.Now().After(deadline) {
			t.Fatalf("no %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

func wantStatus(t testing.TB, what string, got answer, want ...int) {
	t.Helper()
	for _, status := range want {
		if got.status == status {
			return
		}
	}
	t.Errorf("%s: status %d, want %v: %s", what, got.status, want, got.body)
}

// passOn is an agent that is another gateway: it hands calls on to the agent at base,
// with the key of a caller there and who has been passed.
func passOn(w *world, base *string, key func() string) func(http.ResponseWriter, *record) {
	return func(rw http.ResponseWriter, r *record) {
		req, err := http.NewRequestWithContext(r.Context(), http.MethodPost, *base, bytes.NewReader(r.body))
		if err != nil {
			panic(err)
		}
		for _, name := range []string{"A2a-Version", "Content-Type", "Via"} {
			req.Header[name] = r.Header[name]
		}
		req.Header.Set("X-API-Key", key())
		resp, err := w.http.Do(req)
		if err != nil {
			panic(err)
		}
		defer func() { _ = resp.Body.Close() }()
		rw.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
		rw.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(rw, resp.Body)
	}
}

// streaming is the configuration of streams. Agents of most tests say only what the test
// is about, which is no whole stream; where they or their client break off, that is it.
func (s setup) streaming() stream.Config {
	if s.stream.Grammar == "" {
		s.stream.Grammar = "report"
	}
	if s.stream.Linger == nil {
		s.stream.Linger = new(secret.Duration)
	}
	if s.stream.Resubscribe == nil {
		s.stream.Resubscribe = new(secret.Duration)
	}
	return s.stream
}
