package negotiate_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

const quiet = "https://example.com/ext/quiet/v1" // injected

// sentMessage is the message of a request as the agent got it.
type sentMessage struct {
	Metadata   map[string]any `json:"metadata"`
	Extensions []string       `json:"extensions"`
}

func readMessage(r *proxytest.Request, t testing.TB) sentMessage {
	t.Helper()
	var doc struct {
		Params struct{ Message sentMessage }
		sentMessage
		Message, Request *sentMessage
	}
	proxytest.Must(t, json.Unmarshal(r.Call().Body, &doc, json.MatchCaseInsensitiveNames(true)))
	for _, m := range []*sentMessage{doc.Message, doc.Request} {
		if m != nil {
			return *m
		}
	}
	return doc.Params.Message
}

// asked are the extensions that the agent was asked for.
func asked(r *proxytest.Request) []string { return r.Header[nameFor(r.Side().Version)] }

// TestInject: the agent is asked for what clients do not know of, and gets its
// defaults; who does know of it says for itself what they are.
func TestInject(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithTied, func(s *proxytest.Setup) {
		s.Extensions = ext.Registry{{URI: quiet, Metadata: []string{"quiet.*"}, Defaults: map[string]secret.JSON{
			quiet: secret.JSON(`"default"`), "quiet.text": secret.JSON(`"default"`),
		}}}
		s.Agent.Extensions.Inject = []string{quiet}
	})
	tests := []struct {
		name, header, message string
		want                  map[string]any
		told                  bool
	}{
		{"nothing", "", "", map[string]any{quiet: "default", "quiet.text": "default"}, false},
		{"no metadata", "", `,"metadata":null`, map[string]any{quiet: "default", "quiet.text": "default"}, false},
		{"metadata of its own", "", `,"metadata":{"mine":"x"}`, map[string]any{quiet: "default", "quiet.text": "default", "mine": "x"}, false},
		{
			"keys that it has no right to", "", `,"metadata":{"quiet.text":"y","` + quiet + `":"y","` + quiet + `/z":"y"}`,
			map[string]any{quiet: "default", "quiet.text": "default"}, false,
		},
		{
			"listed without a right to", "", `,"extensions":["` + quiet + `","` + focus + `"],"metadata":{}`,
			map[string]any{quiet: "default", "quiet.text": "default"}, false,
		},
		{"asked for", quiet, `,"metadata":{"quiet.text":"y"}`, map[string]any{"quiet.text": "y"}, true},
		{"asked for and left alone", quiet, "", nil, true},
	}
	for _, agent := range proxytest.Sides {
		w.BecomeCard(proxytest.CardDeclaring(proxytest.CardFor(agent)))
		w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
			rw.Header()[nameFor(agent.Version)] = asked(r)
			proxytest.Fluent(rw, r)
		})
		for _, caller := range proxytest.Sides {
			for _, tt := range tests {
				what := fmt.Sprintf("%s from %s to %s", tt.name, caller, agent)
				if caller == proxytest.RPC01 && strings.Contains(tt.message, "extensions") {
					continue // has no such member
				}
				a := proxytest.Ask{Method: wire.SendMessage, InMessage: tt.message, Header: []string{"A2A-Extensions: " + tt.header}}
				if caller == proxytest.RPC01 {
					a.Task = what
				}
				got := w.Speak("tied", w.Base, caller, a).OK(t, what)
				seen := w.Agent.Take()[0]
				if !slices.Equal(asked(seen), []string{quiet}) {
					t.Errorf("%s: the agent was asked for %q", what, asked(seen))
				}
				m := readMessage(seen, t)
				if !maps.Equal(m.Metadata, tt.want) {
					t.Errorf("%s: the agent got %v, want %v", what, m.Metadata, tt.want)
				}
				// A message of 0.1 has no list.
				if lists := slices.Equal(m.Extensions, []string{quiet}); lists != (!tt.told && agent != proxytest.RPC01 && caller != proxytest.RPC01) {
					t.Errorf("%s: the agent got the list %q", what, m.Extensions)
				}
				if told := got.Header["A2a-Extensions"] != nil; told != tt.told {
					t.Errorf("%s: told %v", what, got.Header)
				}
			}
		}
	}
}

// grown adds to a registry what depends on something, and what has had its day.
const (
	above  = "https://example.com/ext/above/v1"  // needs below
	below  = "https://example.com/ext/below/v1"  // declared with it
	alone  = "https://example.com/ext/alone/v1"  // needs what the agent does not have
	fading = "https://example.com/ext/fading/v1" // deprecated
	faded  = "https://example.com/ext/faded/v1"  // and past its sunset
)

func grown(dependencies string) func(*proxytest.Setup) {
	return func(s *proxytest.Setup) {
		s.Extensions = ext.Registry{
			{URI: below}, {URI: registered},
			{URI: above, Dependencies: ext.Dependencies{Required: []string{below}}},
			{URI: alone, Dependencies: ext.Dependencies{Required: []string{registered}}},
			{URI: fading, Status: ext.Deprecated, Replacement: below, Sunset: "2999-01-01"},
			{URI: faded, Status: ext.Deprecated, Sunset: "2020-01-01"},
			{URI: blocked, Status: ext.Blocked},
		}
		s.Agent.Extensions.Dependencies = dependencies
	}
}

// TestRegistryInCalls: what depends on something, and what has had its day.
func TestRegistryInCalls(t *testing.T) {
	t.Parallel()
	var list []string
	for _, uri := range []string{above, below, alone, fading, faded, blocked} {
		list = append(list, fmt.Sprintf(`{"uri":%q}`, uri))
	}
	tests := []struct {
		asked, dependencies  string
		sent, told           string // what the agent is asked for; what the caller is told
		missing              string
		injected, refusedFor string // on record
	}{
		{asked: above, dependencies: "refuse", missing: below},
		{asked: above, missing: below},
		{asked: above + "," + below, dependencies: "refuse", sent: above + "," + below, told: above + "," + below},
		{asked: below + "," + above, dependencies: "close", sent: below + "," + above, told: below + "," + above},
		{asked: above, dependencies: "close", sent: above + "," + below, told: above, injected: below},
		{asked: alone, dependencies: "refuse"},
		{asked: alone, dependencies: "close"},
		{asked: fading, sent: fading, told: fading},
		{asked: faded + "," + fading, sent: fading, told: fading, refusedFor: faded},
		{asked: blocked, refusedFor: blocked},
		{asked: "urn:never:heard-of"},
	}
	for _, tt := range tests {
		t.Run(tt.dependencies+" "+tt.asked, func(t *testing.T) {
			t.Parallel()
			w := proxytest.NewGatewayFor(t, proxytest.CardDeclaring(proxytest.CardFor(proxytest.RPC10), list...), grown(tt.dependencies))
			w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
				rw.Header()["A2a-Extensions"] = asked(r)
				proxytest.Agreeable(rw, r)
			})
			got := w.Call("alice", "SendMessage", proxytest.Message(""), "A2A-Extensions: "+tt.asked)
			if tt.missing != "" {
				w.Agent.Silent(t, "missing")
				if !strings.Contains(got.Body, "-32008") || !strings.Contains(got.Body, tt.missing) {
					t.Errorf("%d %s", got.Status, got.Body)
				}
				return
			}
			proxytest.WantStatus(t, "call", got, 200)
			if sent := strings.Join(asked(w.Agent.One(t)), ","); sent != tt.sent {
				t.Errorf("the agent was asked for %q, want %q", sent, tt.sent)
			}
			if told := got.Header.Get("A2A-Extensions"); told != tt.told {
				t.Errorf("told %q, want %q", told, tt.told)
			}
			r := w.Audited("call")[0]
			for key, want := range map[string]string{
				"extensions_requested": tt.asked, "extensions_activated": tt.told,
				"extensions_injected": tt.injected, "extensions_refused": tt.refusedFor,
			} {
				if got := proxytest.JoinedText(r[key]); got != want {
					t.Errorf("%s: %q, want %q", key, got, want)
				}
			}
		})
	}
}
