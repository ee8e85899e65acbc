package interop_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// askedForMore: clients of the SDKs of JavaScript and Python call with a token that will
// not do, are told what would, sign the user in again, and their call goes through.
func (i *identity) askedForMore(t *testing.T) {
	agents := goAgents(t)
	var fleet strings.Builder
	for _, s := range sides()[1:] {
		a := agents[s]
		fmt.Fprintf(&fleet, "  - {id: %s, card: {url: %q, bindings: [JSONRPC, HTTP+JSON, GRPC]}, endpoints: [%s]}\n", a.id, a.card, strings.Join(a.endpoints, ", "))
	}
	const seen = `    - {name: seen, effect: allow, agents: ["*"], methods: [GetTask], scopes: [a2a.invoke]}` + "\n"
	byOtherMeans := i.start(t, house{agents: fleet.String(), rules: seen +
		`    - {name: all, effect: allow, agents: ["*"], scopes: [a2a.invoke], authentication: {acr: [mfa]}}`})
	forMoreScopes := i.start(t, house{agents: fleet.String(), rules: seen +
		`    - {name: all, effect: allow, agents: ["*"], scopes: [a2a.invoke, work]}`})
	for _, s := range present(t) {
		if strings.HasPrefix(s.id, "java") {
			continue
		}
		w := &worker{command: s.client}
		t.Cleanup(w.stop)
		for _, caller := range s.sides {
			if caller == (side{"0.3", "GRPC"}) {
				continue // needs a key that is bound to the agent: a token does not say which is meant
			}
			t.Run(s.id+"-"+caller.id(), func(t *testing.T) {
				for _, g := range []*gateway{byOtherMeans, forMoreScopes} {
					i.askAgain(t, g, w, job{Base: g.base(agents[caller].id), Binding: caller.binding})
				}
			})
		}
	}
}

// askAgain has a client call with a token that will not do, and with means to get one
// that does.
func (i *identity) askAgain(t *testing.T, g *gateway, w *worker, j job) {
	t.Helper()
	for _, only := range []string{"message reply", "stream of one message"} {
		j.Only, j.SignIn = only, nil
		j.Headers = map[string]string{"Authorization": "Bearer " + i.issuer.user(t, "alice", "basic")}
		if o := one(t, w.run(t, j)); !strings.Contains(o.Lines[0], ": error ") || len(o.Lines) != 1 {
			t.Errorf("%s with a token that will not do: %s", only, o.Lines)
		}
		if j.Binding == "GRPC" { // neither SDK has a means to try again
			continue
		}
		j.Headers, j.SignIn = map[string]string{}, &signIn{Issuer: i.issuer.URL, User: "alice"}
		if o := one(t, w.run(t, j)); strings.Contains(strings.Join(o.Lines, "\n"), ": error ") ||
			!strings.Contains(o.Lines[0], "message") {
			t.Errorf("%s with means to sign in again: %s", only, o.Lines)
		}
	}
}

// one is the only outcome of a run.
func one(t *testing.T, lines [][]byte) outcome {
	t.Helper()
	var o outcome
	if len(lines) != 1 {
		t.Fatalf("%d outcomes: %s", len(lines), lines)
	}
	if err := json.Unmarshal(lines[0], &o); err != nil || len(o.Lines) == 0 {
		t.Fatalf("%v: %s", err, lines[0])
	}
	return o
}
