package proxy_test

import (
	"context"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/egress"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
	"github.com/a2a-gateway/a2a-gateway/proxy/webhooks"
)

// mailbox keeps what is to be delivered to callers.
type mailbox struct {
	mu   sync.Mutex
	mail []*push.Delivery
	err  error  // of the next deliveries
	last string // ID of the latest, queued or not
}

// Enqueue implements proxy.Enqueuer.
func (m *mailbox) Enqueue(_ context.Context, d *push.Delivery) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = d.ID
	if m.err == nil {
		m.mail = append(m.mail, d)
	}
	return m.err == nil, m.err
}

// Drop implements proxy.Enqueuer.
func (m *mailbox) Drop(_ context.Context, h *push.Webhook) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mail = slices.DeleteFunc(m.mail, func(d *push.Delivery) bool { return d.Config == h.ID() })
	return nil
}

func (m *mailbox) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.err = err
}

// all gives what has come so far for one address; "" for all of them.
func (m *mailbox) all(at string) []*push.Delivery {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []*push.Delivery
	for _, d := range m.mail {
		if at == "" || d.URL == at {
			list = append(list, d)
		}
	}
	return list
}

// latest is what the latest was to be delivered as.
func (m *mailbox) latest() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last
}

// wantMail compares what is to be delivered, in its order, with the bodies of it.
func (w *world) wantMail(bodies ...string) {
	w.Helper()
	var got []string
	for _, d := range w.mail.all("") {
		got = append(got, string(d.Body))
	}
	if !slices.Equal(got, bodies) {
		w.Errorf("to be delivered: %q\nwant %q", got, bodies)
	}
}

// cipher seals with the keys of the world.
type cipher struct{ sealer }

func (c cipher) Seal(plain, aad []byte) []byte { return c.sealer.Seal("push", plain, aad) }

func (c cipher) Open(sealed, aad []byte) ([]byte, error) { return c.Unseal("push", sealed, aad) }

// relay is what stands between agents and webhooks, where notifications are relayed.
func (w *world) relay(s *setup) *webhooks.Relay {
	if s.push != "relay" {
		return nil
	}
	out, err := egress.New(egress.Options{})
	must(w, err)
	w.Cleanup(out.Close)
	w.mail = &mailbox{}
	hooks := push.NewRegistry(s.values, cipher{w.sealer()}).With(s.relay, out)
	return &webhooks.Relay{Hooks: hooks, Queue: w.mail, Counts: s.counts}
}

// relayed makes notifications go through the gateway.
func relayed(s *setup) { s.push = "relay" }

// given is what an agent was given in the place of a webhook.
type given struct {
	URL            string `json:"url"`
	Token          string `json:"token"`
	Authentication struct {
		Scheme      string   `json:"scheme"`
		Schemes     []string `json:"schemes"`
		Credentials string   `json:"credentials"`
	} `json:"authentication"`
}

// givenIn finds it in what the agent was sent.
func givenIn(t testing.TB, r *record) given {
	t.Helper()
	var g given
	start := strings.Index(string(r.body), `"url":"`)
	if start < 0 {
		t.Fatalf("the agent was given no webhook: %s", r.body)
	}
	open := strings.LastIndexByte(string(r.body[:start]), '{')
	must(t, json.UnmarshalDecode(decoderAt(r.body[open:]), &g))
	return g
}

// path is that of the gateway's webhook.
func (g given) path(t testing.TB) string {
	t.Helper()
	u, err := url.Parse(g.URL)
	must(t, err)
	return u.Path
}

// headers are what an agent shows with what it delivers.
func (g given) headers() []string {
	return []string{"X-A2A-Notification-Token: " + g.Token, "Authorization: Bearer " + g.Authentication.Credentials}
}

// notify posts to a webhook of the gateway's as an agent does.
func (w *world) notify(g given, doc string, header ...string) answer {
	w.Helper()
	if header == nil {
		header = g.headers()
	}
	return w.do("", http.MethodPost, w.url+g.path(w), doc, header...)
}

// only leaves the agent one interface.
func only(binding, version string) func(*setup) {
	return func(s *setup) {
		s.agent.Card.URL += "?only"
		s.docs = map[string]func(string) string{"only": func(base string) string {
			head, rest, _ := strings.Cut(cardOf(base), `"supportedInterfaces":[`)
			_, tail, _ := strings.Cut(rest, "],")
			return head + `"supportedInterfaces":[{"url":"` + base + `/rpc","protocolBinding":"` + binding +
				`","protocolVersion":"` + version + `"}],` + tail
		}}
	}
}

// sameJSON compares by meaning.
func sameJSON(t testing.TB, a, b string) bool {
	t.Helper()
	var x, y any
	must(t, json.Unmarshal([]byte(a), &x))
	must(t, json.Unmarshal([]byte(b), &y))
	return reflect.DeepEqual(x, y)
}
