package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	a2a03 "github.com/a2aproject/a2a-go/a2a"
	a2aclient03 "github.com/a2aproject/a2a-go/a2aclient"
	resolver03 "github.com/a2aproject/a2a-go/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// cardCaller is a Go SDK's client that has the served card and a store of credentials, by
// the names of the card's schemes, and nothing else.
type cardCaller struct {
	name    string
	version string // of A2A-Version with which it asks for the card
	calls   func(t *testing.T, hc *http.Client, base, version string, store map[string]string) error
}

var cardCallers = []cardCaller{
	{"2.4.0", "", calls10(agentcard.DefaultCardParser)},
	{"2.4.0 with the compatible parser", "", calls10(a2av0.NewAgentCardParser())},
	{"2.4.0 with the compatible parser, of 0.3 alone", "0.3", calls10(a2av0.NewAgentCardParser())},
	{"0.3.15", "", calls03},
	{"0.3.15, of 0.3 alone", "0.3", calls03},
}

const cardSession = "s"

// calls10 is a call by the current SDK, which reads cards with the parser.
func calls10(parse agentcard.Parser) func(*testing.T, *http.Client, string, string, map[string]string) error {
	return func(t *testing.T, hc *http.Client, base, version string, store map[string]string) error {
		t.Helper()
		resolver := &agentcard.Resolver{Client: hc, CardParser: parse}
		var options []agentcard.ResolveOption
		if version != "" {
			options = append(options, agentcard.WithRequestHeader("A2A-Version", version))
		}
		card, err := resolver.Resolve(t.Context(), base, options...)
		if err != nil {
			return err
		}
		credentials := a2aclient.NewInMemoryCredentialsStore()
		for scheme, credential := range store {
			credentials.Set(cardSession, a2a.SecuritySchemeName(scheme), a2aclient.AuthCredential(credential))
		}
		client, err := a2aclient.NewFromCard(t.Context(), card,
			a2aclient.WithJSONRPCTransport(hc), a2av0.WithJSONRPCTransport(a2av0.JSONRPCTransportConfig{Client: hc}),
			a2aclient.WithCallInterceptors(&a2aclient.AuthInterceptor{Service: credentials}))
		if err != nil {
			return err
		}
		return errors.Join(sends(a2aclient.AttachSessionID(t.Context(), cardSession), client), client.Destroy())
	}
}

// calls03 is a call by the SDK of 0.3.
func calls03(t *testing.T, hc *http.Client, base, version string, store map[string]string) error {
	t.Helper()
	var options []resolver03.ResolveOption
	if version != "" {
		options = append(options, resolver03.WithRequestHeader("A2A-Version", version))
	}
	card, err := resolver03.NewResolver(hc).Resolve(t.Context(), base, options...)
	if err != nil {
		return err
	}
	credentials := a2aclient03.NewInMemoryCredentialsStore()
	for scheme, credential := range store {
		credentials.Set(cardSession, a2a03.SecuritySchemeName(scheme), a2aclient03.AuthCredential(credential))
	}
	client, err := a2aclient03.NewFromCard(t.Context(), card, a2aclient03.WithJSONRPCTransport(hc),
		a2aclient03.WithInterceptors(&a2aclient03.AuthInterceptor{Service: credentials}))
	if err != nil {
		return err
	}
	ctx := a2aclient03.WithSessionID(t.Context(), cardSession)
	_, err = client.SendMessage(ctx, a2av0.FromV1SendMessageRequest(say("message")))
	return errors.Join(err, client.Destroy())
}

// sentHeaders notes which credentials the last call had.
type sentHeaders struct {
	next http.RoundTripper
	last http.Header
}

func (s *sentHeaders) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost {
		s.last = r.Header
	}
	return s.next.RoundTrip(r)
}

// TestCardCredentials: the interceptors of the Go SDKs find in the card that is served by
// default which credential to send, and send that: of the alternatives the one that the
// client has, and of several the one that the card lists first.
func TestCardCredentials(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := gatewaytest.Start(t, jsonrpc10())
	key := w.key("robot").Get("X-Api-Key")
	token, _ := strings.CutPrefix(w.token("alice").Get("Authorization"), "Bearer ")
	yaml := w.yaml(plain, openPolicy+fmt.Sprintf("agents: [{id: a, card: %q}]\n", agent.CardURL))
	g := w.start(strings.Replace(yaml, "{file: keys.yaml}", "{file: keys.yaml, bearer: true}", 1))
	for _, c := range cardCallers {
		for _, tt := range []struct {
			store  map[string]string
			header string
			who    string
		}{
			{map[string]string{"apiKey": key}, "X-Api-Key", "robot"},
			{map[string]string{"bearer": key}, "Authorization", "robot"},
			{map[string]string{"oidcBearer": token}, "Authorization", "alice"},
			{map[string]string{"apiKey": key, "oidcBearer": token}, "Authorization", "alice"},
			{map[string]string{"bearer": key, "apiKey": key}, "X-Api-Key", "robot"},
			{map[string]string{"another": key}, "", ""},
		} {
			sent := &sentHeaders{next: &http.Transport{DisableKeepAlives: true}}
			err := c.calls(t, &http.Client{Transport: sent}, g.URL()+"/agents/a", c.version, tt.store)
			if (err == nil) != (tt.who != "") {
				t.Errorf("%s, %v: %v", c.name, tt.store, err)
				continue
			}
			for _, name := range []string{"X-Api-Key", "Authorization"} {
				if (sent.last.Get(name) != "") != (name == tt.header) {
					t.Errorf("%s, %v: %s is %q", c.name, tt.store, name, sent.last.Get(name))
				}
			}
			intents := w.records("intent")
			if tt.who != "" && intents[len(intents)-1]["principal"] != tt.who {
				t.Errorf("%s, %v: recorded as %v", c.name, tt.store, intents[len(intents)-1]["principal"])
			}
		}
	}
}

// TestCardsAreRead: whatever is asked for and configured, the Go SDK's own parser reads each
// card that has members of 1.0, but for the shape of requirements that it does not know.
func TestCardsAreRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := gatewaytest.Start(t, jsonrpc10())
	g := w.start(w.yaml(plain, openPolicy+fmt.Sprintf(`agents:
  - {id: auto, card: %[1]q}
  - {id: mixed, card: {url: %[1]q, form: mixed}}
  - {id: modern, card: {url: %[1]q, form: "1.0"}}
  - {id: go, card: {url: %[1]q, requirements: go}}
  - {id: spec, card: {url: %[1]q, requirements: spec}}
`, agent.CardURL)))
	for id, demanded := range map[string][2]int{ // without a version, and with 1.0
		"auto": {3, 0}, "mixed": {3, 3}, "modern": {0, 0}, "go": {3, 3}, "spec": {-1, -1},
	} {
		for i, version := range []string{"", "1.0"} {
			card, err := agentcard.NewResolver(client(t)).Resolve(context.Background(), g.URL()+"/agents/"+id,
				agentcard.WithRequestHeader("A2A-Version", version))
			n := -1
			if err == nil {
				n = len(card.SecurityRequirements)
			}
			if n != demanded[i] {
				t.Errorf("%s, asked for %q: %d requirements, want %d: %v", id, version, n, demanded[i], err)
			}
		}
	}
}
