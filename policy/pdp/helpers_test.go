package pdp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

func TestMain(m *testing.M) {
	testenv.Overlap()
	goleak.VerifyTestMain(m)
}

const wellKnown = "/.well-known/authzen-configuration"

// point is a policy decision point on loopback. What it answers is a matter of the test.
type point struct {
	*httptest.Server

	mu       sync.Mutex
	asked    []asked
	metadata string // of GET wellKnown; "" is 404, and URL stands for its own
	answer   http.HandlerFunc
}

// asked is a question as it came.
type asked struct {
	path   string
	header http.Header
	body   []byte
}

// newPoint starts a service that answers every question with a JSON text.
func newPoint(t testing.TB, answer string) *point {
	return newPointFunc(t, func(w http.ResponseWriter, _ *http.Request) { say(w, answer) })
}

func newPointFunc(t testing.TB, answer http.HandlerFunc) *point {
	t.Helper()
	p := &point{answer: answer}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func say(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, text)
}

func (p *point) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	p.mu.Lock()
	p.asked = append(p.asked, asked{r.URL.Path, r.Header.Clone(), body})
	metadata, answer := p.metadata, p.answer
	p.mu.Unlock()
	switch {
	case !strings.HasPrefix(r.URL.Path, wellKnown):
		r.Body = io.NopCloser(bytes.NewReader(body))
		answer(w, r)
	case metadata == "":
		http.NotFound(w, r)
	default:
		say(w, strings.ReplaceAll(metadata, "URL", "http://"+r.Host))
	}
}

// become changes the answers.
func (p *point) become(metadata string, answer http.HandlerFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.metadata, p.answer = metadata, answer
}

// questions are those that came, without requests for metadata.
func (p *point) questions() []asked {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []asked
	for _, a := range p.asked {
		if !strings.HasPrefix(a.path, wellKnown) {
			list = append(list, a)
		}
	}
	return list
}

// tally counts what Options.Asked hears.
type tally struct {
	mu    sync.Mutex
	count map[string]int // by "name result"
}

func (l *tally) asked(name, result string, _ time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count == nil {
		l.count = map[string]int{}
	}
	l.count[name+" "+result]++
}

func (l *tally) of(what string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count[what]
}

// setup is what a test's panel is told beside its Config.
type setup struct {
	tally tally
	log   lockedBuffer
}

// lockedBuffer is a log that may be read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (s *setup) panel(t testing.TB, c ...Authorizer) *Panel {
	t.Helper()
	p, err := New(c, Options{
		Agents: []string{"billing", "weather"}, Gateway: "gw-1",
		Log: slog.New(slog.NewTextHandler(&s.log, nil)), Asked: s.tally.asked,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func newPanel(t testing.TB, c ...Authorizer) *Panel {
	t.Helper()
	return new(setup).panel(t, c...)
}

func method(t testing.TB, name string) *wire.Method {
	t.Helper()
	m, ok := wire.ByName(wire.V10, name)
	if !ok {
		t.Fatalf("no method %s", name)
	}
	return m
}

// newQuestion is a call with something in every field.
func newQuestion(t testing.TB) *Question {
	t.Helper()
	return &Question{
		Principal: &authn.Principal{
			Subject: "alice", Issuer: "https://idp.example", Client: "portal", Tenant: "acme",
			Groups: []string{"finance"}, Scopes: []string{"billing.read"}, Method: "oidc", KeyID: "kid-7",
			Claims: map[string]any{"department": "accounts", "email": "alice@acme.example", "level": 3.0},
			Actors: []authn.Actor{{Subject: "assistant", Issuer: "https://idp.example"}},
			ACR:    "mfa", AMR: []string{"otp", "pwd"}, AuthTime: time.Unix(1793000000, 0),
			Workload: &authn.Principal{Subject: "spiffe://acme.example/portal", Issuer: "mtls"},
			Carrier:  "Authorization",
		},
		Agent: "billing", Skill: "refund", Method: method(t, wire.SendMessage),
		Binding: wire.JSONRPC, Version: wire.V10, TaskID: "task-1", ContextID: "context-1",
		Extensions: []string{"https://billing.example/extensions/cost-centre/v1"},
		Source:     netip.MustParseAddr("192.0.2.7"), Host: "gateway.example", Path: "/agents/billing", Verb: "POST",
		RequestID: "req-1", Now: time.Date(2026, 10, 26, 9, 30, 0, 250e6, time.UTC),
		Message: &wire.Message{
			ID: "m-1", Role: "ROLE_USER",
			Parts: []wire.Part{
				{Kind: wire.PartText, Text: "the secret text", Bytes: 15},
				{Kind: wire.PartFile, URL: "https://files.example/x?sig=1", Name: "salaries.pdf", MediaType: "application/pdf"},
			},
			Metadata:     map[string]any{"cost-centre": map[string]any{"code": "4711"}},
			CallMetadata: map[string]any{"trace": true},
		},
	}
}

// object decodes JSON for comparing.
func object(t testing.TB, text []byte) map[string]any {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return o
}

// pointer walks down an object.
func pointer(v any, path string) any {
	for name := range strings.SplitSeq(path, "/") {
		o, _ := v.(map[string]any)
		v = o[name]
	}
	return v
}

func ask(t testing.TB, p *Panel, q *Question) ([]string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return p.Ask(ctx, q)
}
