package interop_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// agent is one interface of a running agent, as an agent of its own.
type agent struct {
	id   string // "js-v1-grpc"
	name string // of its SDK
	side side
	base string // below which its card is
	card string // where that is
	// endpoints are origins that the card names beside its own.
	endpoints []string
}

// goAgents are agents of the Go SDK, one for each side. All run the same code:
// they differ in version and binding alone.
func goAgents(t *testing.T) map[side]agent {
	t.Helper()
	all := map[side]agent{}
	for _, f := range gatewaytest.AllFlavours() {
		s := side{string(f.Version), string(f.Binding)}
		if strings.HasPrefix(f.Name, "go03-") {
			continue // another SDK, for which there is package gatewaytest
		}
		started := gatewaytest.Start(t, f)
		s.version = s.version[:3]
		all[s] = agent{
			id: "go-v" + strings.Replace(s.version, ".", "", 1) + "-" + s.id(), name: goSDK, side: s,
			base: started.URL, card: started.CardURL, endpoints: started.Endpoints,
		}
	}
	if len(all) != len(sides()) {
		t.Fatalf("the Go agents speak %d sides, want %d", len(all), len(sides()))
	}
	return all
}

// startAgents runs the agents of the other SDKs, and serves a card for each of
// their interfaces, so that the gateway has no choice.
func startAgents(t *testing.T, present []sdk) map[string][]agent {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	all := map[string][]agent{}
	for _, s := range present {
		origin := startProgram(t, nil, s.agent...).URL
		card := fetchCard(t, origin+wellKnown)
		for _, side := range s.sides {
			a := agent{id: s.id + "-" + side.id(), name: s.name, side: side}
			a.base = server.URL + "/" + a.id
			a.card = a.base + wellKnown
			one, endpoint := withOneInterface(t, card, side)
			a.endpoints = []string{originOf(t, endpoint)}
			mux.HandleFunc("/"+a.id+wellKnown, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write(one)
			})
			all[s.id] = append(all[s.id], a)
		}
	}
	return all
}

const wellKnown = "/.well-known/agent-card.json"

func fetchCard(t *testing.T, at string) map[string]any {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var card map[string]any
	if err := json.NewDecoder(response.Body).Decode(&card); err != nil {
		t.Fatalf("read the card at %s: %v", at, err)
	}
	return card
}

// withOneInterface gives the card with the interface of that side alone, and
// where that is.
func withOneInterface(t *testing.T, card map[string]any, s side) (text []byte, endpoint string) {
	t.Helper()
	one := maps.Clone(card)
	if s.version == "0.3" {
		endpoint, _ = card["url"].(string)
		if card["preferredTransport"] != s.binding {
			endpoint, _ = find(card["additionalInterfaces"], "transport", s.binding)["url"].(string)
		}
		one["url"], one["preferredTransport"] = endpoint, s.binding
		delete(one, "additionalInterfaces")
	} else {
		chosen := find(card["supportedInterfaces"], "protocolBinding", s.binding)
		endpoint, _ = chosen["url"].(string)
		one["supportedInterfaces"] = []any{chosen}
	}
	if endpoint == "" {
		t.Fatalf("%v has no interface for %s", card["name"], s)
	}
	text, err := json.Marshal(one)
	if err != nil {
		t.Fatal(err)
	}
	return text, endpoint
}

// find gives the interface of a list that has the member.
func find(list any, member, value string) map[string]any {
	all, _ := list.([]any)
	i := slices.IndexFunc(all, func(v any) bool {
		m, _ := v.(map[string]any)
		return m[member] == value
	})
	if i < 0 {
		return nil
	}
	m, _ := all[i].(map[string]any)
	return m
}

// originOf is what the gateway has to be told about an endpoint.
func originOf(t *testing.T, endpoint string) string {
	t.Helper()
	if !strings.Contains(endpoint, "://") {
		return "http://" + endpoint
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	return u.Scheme + "://" + u.Host
}
