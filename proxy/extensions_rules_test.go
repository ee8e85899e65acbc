package proxy_test

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
)

// shadowed is a world in which everything is wrong with extensions that can be.
func shadowed(s *setup) {
	tied(s)
	never := schema.Source{Inline: []byte(`{"type":"object","required":["never"]}`)}
	s.extensions = ext.Registry{
		{URI: bystander, Dependencies: ext.Dependencies{Required: []string{below}}, Schemas: ext.Schemas{
			Message: never, Status: never, Artifact: never, Part: never,
			Metadata: map[string]schema.Source{bystander: never},
		}},
		{URI: below},
	}
	s.agent.Extensions = ext.Config{
		Require: []string{"urn:required", fading}, Deny: []string{above},
		Mode: "shadow", Verify: true, Unrequested: "refuse", Conformance: ext.Enforce,
	}
}

// TestShadowMode: what would be refused or taken out is recorded, and every byte
// passes in both directions.
func TestShadowMode(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc10), shadowed)
	for _, s := range []wire.Side{rpc10, rest10, grpc10, rpc03, rest03, grpc03, rpc01} {
		w.becomes(declares(speaks(s), `{"uri":"`+focus+`","required":true}`, `{"uri":"`+above+`"}`, `{"uri":"`+below+`"}`, `{"uri":"`+fading+`"}`, `{"uri":"`+bystander+`"}`))
		for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage} {
			t.Run(fmt.Sprint(s, method), func(t *testing.T) {
				var answered string
				words := &evil{state: "completed", more: `,"` + focus + `":"secret"`}
				w.agent.answers(func(rw http.ResponseWriter, r *record) {
					kept := &copied{ResponseWriter: rw}
					words.answer(kept, r)
					answered = kept.text.String()
				})
				a := ask{
					method: method, header: []string{"A2A-Extensions: " + bystander + "," + above + "," + fading + ",urn:never"},
					inMessage: `,"metadata":{"` + bystander + `":"not an object","` + below + `":1}`,
				}
				if s.Binding != wire.GRPC { // protobuf has no members that nobody knows
					a.inMessage += `,"frobnicate":"x"`
				}
				if s == rpc01 {
					a.task = method
				}
				got := w.speak("tied", w.base, s, a)
				seen := w.agent.one(t)
				if got.err != nil || unnumbered(got.body) != answered || !strings.Contains(answered, "secret") {
					t.Errorf("got %d %v\n%s\nthe agent said\n%s", got.status, got.err, got.body, answered)
				}
				if want := w.bodyOf(s, a); string(seen.body) != want {
					t.Errorf("the agent got\n%s\nwant\n%s", seen.body, want)
				}
				if want := []string{bystander, above, fading}; !slices.Equal(seen.asked(), want) {
					t.Errorf("the agent was asked for %q, want %q", seen.asked(), want)
				}
				w.shadows(t, s)
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
func (w *world) bodyOf(s wire.Side, a ask) string {
	m, params := methodOf(a.method), a.params(s)
	switch s.Binding {
	case wire.JSONRPC:
		return rpcBody(map[wire.Version]string{wire.V10: m.Name, wire.V03: m.V03, wire.V01: m.V01}[s.Version], params)
	case wire.GRPC:
		message, err := wire.RequestMessage(m, s.Version, []byte(params))
		must(w, err)
		return string(grpcframe.Append(nil, message))
	}
	return params
}

// shadows checks the record of the last call.
func (w *world) shadows(t *testing.T, s wire.Side) {
	t.Helper()
	records := w.audited("call")
	last := records[len(records)-1]
	shadow := joined(last["shadow"])
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
	w := in(t, declares(speaks(rpc10), `{"uri":"`+focus+`"}`, `{"uri":"`+bystander+`"}`), func(s *setup) {
		s.extensions = ext.Registry{{URI: quiet, Defaults: map[string]secret.JSON{quiet: secret.JSON(`1`)}}}
		s.policy.Rules = []policy.Rule{{Name: "all", Effect: "allow"}}
		s.bound = map[string]string{}
		for _, shadow := range []bool{false, true} {
			s.policy.Rules = append(s.policy.Rules,
				about("allowing", shadow, policy.RuleExtensions{Allow: []string{bystander}}),
				about("denying", shadow, policy.RuleExtensions{Deny: []string{focus}}),
				about("requiring", shadow, policy.RuleExtensions{Require: []string{focus, "urn:new"}}),
				about("injecting", shadow, policy.RuleExtensions{Inject: []string{quiet}}))
		}
		for _, who := range []string{"allowing", "denying", "requiring", "injecting"} {
			s.bound[who], s.bound["shadow-"+who] = "rec", "rec"
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
		for _, s := range []wire.Side{rpc10, rpc03, grpc10} {
			what := fmt.Sprintf("%s asks for %s in %s", tt.who, tt.asked, s)
			got := w.speak(tt.who, w.base, s, w.named(s, ask{method: wire.SendMessage, header: []string{"X-A2A-Extensions: " + tt.asked}}))
			if tt.missing != "" {
				w.agent.silent(t, what)
				if got.err == nil || got.err.Code != -32008 || !strings.HasSuffix(got.err.Message, ": "+tt.missing) {
					t.Errorf("%s: %d %v %s", what, got.status, got.err, got.body)
				}
				continue
			}
			got.ok(t, what)
			seen := w.agent.one(t)
			if sent := strings.Join(seen.asked(), ","); sent != tt.sent {
				t.Errorf("%s: the agent was asked for %q, want %q", what, sent, tt.sent)
			}
			if _, filled := seen.sentMessage(t).Metadata[quiet]; filled != (tt.who == "injecting" && tt.asked != quiet) {
				t.Errorf("%s: the agent got %s", what, seen.body)
			}
			records := w.audited("call")
			if shadow := joined(records[len(records)-1]["shadow"]); shadow != tt.shadow {
				t.Errorf("%s: recorded %q, want %q", what, shadow, tt.shadow)
			}
		}
	}
}

// named is an ask that names the agent where no path does.
func (w *world) named(s wire.Side, a ask) ask {
	if s == grpc10 {
		a.more += `,"tenant":"rec"`
	}
	return a
}
