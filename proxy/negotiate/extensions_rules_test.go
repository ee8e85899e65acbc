package negotiate_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/schema"
	"github.com/a2a-gateway/a2a-gateway/internal/grpcframe"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// shadowed is a world in which everything is wrong with extensions that can be.
func shadowed(s *proxytest.Setup) {
	proxytest.WithTied(s)
	never := schema.Source{Inline: []byte(`{"type":"object","required":["never"]}`)}
	s.Extensions = ext.Registry{
		{URI: bystander, Dependencies: ext.Dependencies{Required: []string{below}}, Schemas: ext.Schemas{
			Message: never, Status: never, Artifact: never, Part: never,
			Metadata: map[string]schema.Source{bystander: never},
		}},
		{URI: below},
	}
	s.Agent.Extensions = ext.Config{
		Require: []string{"urn:required", fading}, Deny: []string{above},
		Mode: "shadow", Verify: true, Unrequested: "refuse", Conformance: ext.Enforce,
	}
}

// TestShadowMode: what would be refused or taken out is recorded, and every byte
// passes in both directions.
func TestShadowMode(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), shadowed)
	for _, s := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.GRPC10, proxytest.RPC03, proxytest.REST03, proxytest.GRPC03, proxytest.RPC01} {
		w.BecomeCard(proxytest.CardDeclaring(proxytest.CardFor(s), `{"uri":"`+focus+`","required":true}`, `{"uri":"`+above+`"}`, `{"uri":"`+below+`"}`, `{"uri":"`+fading+`"}`, `{"uri":"`+bystander+`"}`))
		for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage} {
			t.Run(fmt.Sprint(s, method), func(t *testing.T) {
				var answered string
				words := &evil{state: "completed", more: `,"` + focus + `":"secret"`}
				w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
					kept := &copied{ResponseWriter: rw}
					words.answer(kept, r)
					answered = kept.text.String()
				})
				a := proxytest.Ask{
					Method: method, Header: []string{"A2A-Extensions: " + bystander + "," + above + "," + fading + ",urn:never"},
					InMessage: `,"metadata":{"` + bystander + `":"not an object","` + below + `":1}`,
				}
				if s.Binding != wire.GRPC { // protobuf has no members that nobody knows
					a.InMessage += `,"frobnicate":"x"`
				}
				if s == proxytest.RPC01 {
					a.Task = method
				}
				got := w.Speak("tied", w.Base, s, a)
				seen := w.Agent.One(t)
				if got.Err != nil || proxytest.Unnumbered(got.Body) != answered || !strings.Contains(answered, "secret") {
					t.Errorf("got %d %v\n%s\nthe agent said\n%s", got.Status, got.Err, got.Body, answered)
				}
				if want := bodyOf(w, s, a); string(seen.Content) != want {
					t.Errorf("the agent got\n%s\nwant\n%s", seen.Content, want)
				}
				if want := []string{bystander, above, fading}; !slices.Equal(asked(seen), want) {
					t.Errorf("the agent was asked for %q, want %q", asked(seen), want)
				}
				shadows(w, t, s)
			})
		}
	}
}

// copied keeps what is written.
type copied struct {
	http.ResponseWriter
	text strings.Builder
}

func (c *copied) Write(b []byte) (int, error) {
	c.text.Write(b)
	return c.ResponseWriter.Write(b)
}

func (c *copied) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// bodyOf is a call as speak writes it.
func bodyOf(w *proxytest.Gateway, s wire.Side, a proxytest.Ask) string {
	m, params := proxytest.MethodOf(a.Method), a.Params(s)
	switch s.Binding {
	case wire.JSONRPC:
		return proxytest.RPCBody(map[wire.Version]string{wire.V10: m.Name, wire.V03: m.V03, wire.V01: m.V01}[s.Version], params)
	case wire.GRPC:
		message, err := wire.RequestMessage(m, s.Version, []byte(params))
		proxytest.Must(w, err)
		return string(grpcframe.Append(nil, message))
	}
	return params
}

// shadows checks the record of the last call.
func shadows(w *proxytest.Gateway, t *testing.T, s wire.Side) {
	t.Helper()
	records := w.Audited("call")
	last := records[len(records)-1]
	shadow := proxytest.JoinedText(last["shadow"])
	for _, want := range []string{
		"extensions: require urn:required", "extensions: require " + focus, "extensions: require " + below, "extensions: deny " + above,
	} {
		if !strings.Contains(shadow, want) {
			t.Errorf("recorded %q, without %q", shadow, want)
		}
	}
	faults := map[any]bool{}
	for _, v := range last["violations"].([]any) {
		v, _ := v.(map[string]any)
		faults[v["fault"]] = true
		if v["enforced"] != false {
			t.Errorf("recorded as enforced: %v", v)
		}
	}
	want := []string{"unrequested", "schema", "conformance", "not_activated"}
	if s.Binding == wire.GRPC { // has no unknown members, and streams end with what the record has no room for
		want = want[:2]
	}
	for _, want := range want {
		if !faults[want] {
			t.Errorf("recorded no %s: %v", want, last["violations"])
		}
	}
}

// TestRuleEffects: rules say for each caller what extensions are for, enforced or in
// shadow mode.
func TestRuleEffects(t *testing.T) {
	t.Parallel()
	about := func(name string, shadow bool, e policy.RuleExtensions) policy.Rule {
		r := policy.Rule{Name: name, Subjects: []string{name}, Extensions: &e}
		if shadow {
			r.Name, r.Subjects, r.Mode = "shadow "+name, []string{"shadow-" + name}, "shadow"
		}
		return r
	}
	w := proxytest.NewGatewayFor(t, proxytest.CardDeclaring(proxytest.CardFor(proxytest.RPC10), `{"uri":"`+focus+`"}`, `{"uri":"`+bystander+`"}`), func(s *proxytest.Setup) {
		s.Extensions = ext.Registry{{URI: quiet, Defaults: map[string]secret.JSON{quiet: secret.JSON(`1`)}}}
		s.Policy.Rules = []policy.Rule{{Name: "all", Effect: "allow"}}
		s.Bound = map[string]string{}
		for _, shadow := range []bool{false, true} {
			s.Policy.Rules = append(s.Policy.Rules,
				about("allowing", shadow, policy.RuleExtensions{Allow: []string{bystander}}),
				about("denying", shadow, policy.RuleExtensions{Deny: []string{focus}}),
				about("requiring", shadow, policy.RuleExtensions{Require: []string{focus, "urn:new"}}),
				about("injecting", shadow, policy.RuleExtensions{Inject: []string{quiet}}))
		}
		for _, who := range []string{"allowing", "denying", "requiring", "injecting"} {
			s.Bound[who], s.Bound["shadow-"+who] = "rec", "rec"
		}
	})
	tests := []struct {
		who, asked, sent string
		missing          string
		shadow           string
	}{
		{who: "alice", asked: focus + "," + bystander, sent: focus + "," + bystander},
		{who: "allowing", asked: focus + "," + bystander, sent: bystander},
		{who: "denying", asked: focus + "," + bystander, sent: bystander},
		{who: "requiring", asked: bystander, missing: focus + ", urn:new"},
		{who: "requiring", asked: focus, missing: "urn:new"},
		{who: "requiring", asked: "urn:new," + focus, sent: "urn:new," + focus},
		{who: "injecting", asked: focus, sent: focus + "," + quiet},
		{who: "injecting", asked: quiet, sent: quiet},
		{who: "shadow-allowing", asked: focus + "," + bystander, sent: focus + "," + bystander, shadow: "rule shadow allowing: deny " + focus},
		{who: "shadow-denying", asked: focus, sent: focus, shadow: "rule shadow denying: deny " + focus},
		{who: "shadow-requiring", asked: bystander, sent: bystander, shadow: "rule shadow requiring: require " + focus + ",rule shadow requiring: require urn:new"},
		{who: "shadow-injecting", asked: focus, sent: focus, shadow: "rule shadow injecting: inject " + quiet},
	}
	for _, tt := range tests {
		for _, s := range []wire.Side{proxytest.RPC10, proxytest.RPC03, proxytest.GRPC10} {
			what := fmt.Sprintf("%s asks for %s in %s", tt.who, tt.asked, s)
			got := w.Speak(tt.who, w.Base, s, named(w, s, proxytest.Ask{Method: wire.SendMessage, Header: []string{"X-A2A-Extensions: " + tt.asked}}))
			if tt.missing != "" {
				w.Agent.Silent(t, what)
				if got.Err == nil || got.Err.Code != -32008 || !strings.HasSuffix(got.Err.Message, ": "+tt.missing) {
					t.Errorf("%s: %d %v %s", what, got.Status, got.Err, got.Body)
				}
				continue
			}
			got.OK(t, what)
			seen := w.Agent.One(t)
			if sent := strings.Join(asked(seen), ","); sent != tt.sent {
				t.Errorf("%s: the agent was asked for %q, want %q", what, sent, tt.sent)
			}
			if _, filled := readMessage(seen, t).Metadata[quiet]; filled != (tt.who == "injecting" && tt.asked != quiet) {
				t.Errorf("%s: the agent got %s", what, seen.Content)
			}
			records := w.Audited("call")
			if shadow := proxytest.JoinedText(records[len(records)-1]["shadow"]); shadow != tt.shadow {
				t.Errorf("%s: recorded %q, want %q", what, shadow, tt.shadow)
			}
		}
	}
}

// named is an ask that names the agent where no path does.
func named(w *proxytest.Gateway, s wire.Side, a proxytest.Ask) proxytest.Ask {
	if s == proxytest.GRPC10 {
		a.More += `,"tenant":"rec"`
	}
	return a
}
