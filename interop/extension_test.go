package interop_test

import (
	"maps"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// echo is the extension of all agents here: where a caller has activated it, their
// messages say what they were asked for.
const echo = "https://example.com/ext/echo/v1"

// TestExtension has SDKs of other languages activate an extension through the gateway,
// as agents and as clients, each by its own means and under its own header.
func TestExtension(t *testing.T) {
	if os.Getenv("A2A_GATEWAY_TEST_INTEROP") == "" {
		t.Skip("run by `make interop`")
	}
	there := slices.DeleteFunc(present(t), func(s sdk) bool { return strings.HasPrefix(s.id, "java") })
	token := accessToken(t, startProgram(t, nil, "node", "js/issuer.mjs"))
	theirs, ours := startAgents(t, there), echoAgents(t)
	all := slices.Clone(ours)
	for _, agents := range theirs {
		all = append(all, agents...)
	}
	g := startGateway(t, all, token)
	for _, s := range there {
		for _, a := range theirs[s.id] {
			t.Run(a.id, func(t *testing.T) { g.askEcho(t, a) })
		}
		w := &worker{command: s.client}
		t.Cleanup(w.stop)
		for _, caller := range s.sides {
			t.Run("client "+s.id+"-"+caller.id(), func(t *testing.T) {
				for _, a := range ours {
					g.haveEcho(t, w, caller, a)
				}
			})
		}
	}
}

// echoAgents are agents of the Go SDK with the extension, for each side that has any.
func echoAgents(t *testing.T) []agent {
	t.Helper()
	var all []agent
	for _, f := range gatewaytest.AllFlavours() {
		if f.Version == "0.1" || strings.HasPrefix(f.Name, "go03-") {
			continue
		}
		started := gatewaytest.StartWith(t, f, []a2a.AgentExtension{{URI: echo}},
			func(ec *a2asrv.ExecutorContext, requested []string) []a2a.Event {
				m := a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewTextPart("answer"))
				m.ContextID, m.Metadata = ec.ContextID, map[string]any{echo: strings.Join(requested, " ")}
				return []a2a.Event{m}
			})
		all = append(all, agent{id: started.ID, card: started.CardURL, endpoints: started.Endpoints})
	}
	return all
}

// askEcho has a Go client of every side activate the extension on an agent, or not.
func (g *gateway) askEcho(t *testing.T, a agent) {
	t.Helper()
	for _, s := range sides()[1:] {
		if a.id == "js-v03-rest" && s == a.side {
			continue // the Go client does not take its status, 201
		}
		for _, extensions := range [][]string{{echo}, nil} {
			header := http.Header{}
			for name, value := range g.headers(s, a.id) {
				header.Set(name, value)
			}
			hc := gatewaytest.HTTPClient(t, header, nil)
			client, _ := gatewaytest.Dial(t, gatewaytest.Go10, hc, g.base(a.id),
				a2a.ProtocolVersion(s.version), a2a.TransportProtocol(s.binding), extensions...)
			result, err := client.SendMessage(t.Context(), request("message"))
			if err != nil {
				t.Errorf("%s: %v", s, err)
				continue
			}
			answer, ok := result.(*a2a.Message)
			var want any
			active := map[string][]string{}
			if extensions != nil {
				want = []any{echo}
				if says(a) {
					active[headerOf(s)] = extensions
				}
			}
			if !ok || !reflect.DeepEqual(answer.Metadata[echo], want) {
				t.Errorf("%s: the answer is %+v, want one to %v", s, result, want)
			}
			if got := gatewaytest.Activated(hc); !reflect.DeepEqual(got, active) {
				t.Errorf("%s: active are %v, want %v", s, got, active)
			}
		}
	}
}

// headerOf is the name under which a side has extensions.
func headerOf(s side) string {
	if s.version == "1.0" {
		return "A2a-Extensions"
	}
	return "X-A2a-Extensions"
}

// says reports whether an agent's SDK says what is active. Some have no way to; that of
// JavaScript for 0.3 notes it in a copy of what it looks at.
func says(a agent) bool {
	return strings.HasPrefix(a.id, "js-v1-") || a.id == "python-v03-jsonrpc" || a.id == "python-v03-grpc"
}

// haveEcho has a client program activate the extension on a Go agent: by its SDK's
// means, under the header that is another version's, and not at all.
func (g *gateway) haveEcho(t *testing.T, w *worker, s side, a agent) {
	t.Helper()
	other := headerOf(side{version: map[string]string{"1.0": "0.3", "0.3": "1.0"}[s.version]})
	for _, tt := range []struct {
		how        string
		extensions []string
		header     map[string]string
		active     bool
	}{
		{how: "its own means", extensions: []string{echo}, active: true},
		{how: "another version's header", header: map[string]string{other: "urn:nobody," + echo}, active: true},
		{how: "nothing"},
	} {
		headers := g.headers(s, a.id)
		maps.Copy(headers, tt.header)
		lines := w.run(t, job{
			Base: g.base(a.id), Binding: s.binding, Headers: headers, Extensions: tt.extensions, Only: "message reply",
		})
		if len(lines) != 1 || !strings.Contains(string(lines[0]), "answer") {
			t.Errorf("%s by %s: %s", a.id, tt.how, lines)
			continue
		}
		// The name and the value.
		if n := strings.Count(string(lines[0]), echo); (n == 2) != tt.active || n == 1 {
			t.Errorf("%s by %s: active %v, want %v: %s", a.id, tt.how, n == 2, tt.active, lines)
		}
	}
}
