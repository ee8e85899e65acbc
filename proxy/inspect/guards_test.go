package inspect_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/guard"
	"github.com/a2a-gateway/a2a-gateway/proxy/inspect"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// apiKey is made up, and opens nothing.
const apiKey = "AKIA" + "IOSFODNN7EXAMPLE"

// guarding has guards look at the calls on the agent.
func guarding(guards ...guard.Guard) func(*proxytest.Setup) {
	return func(s *proxytest.Setup) {
		proxytest.WithTied(s)
		s.Guards = guards
	}
}

// saying are the params of a send with some parts.
func saying(s proxytest.Words, parts, inMessage string) string {
	more := ""
	if s.Side == proxytest.RPC01 {
		more = fmt.Sprintf(`,"id":%q`, proxytest.NewTaskID(s.Side))
	}
	return s.Send(parts, inMessage, more)
}

// found are the findings of the calls so far, each "guard on kind part count action", once there are
// records of n calls.
func found(w *proxytest.Gateway, n int) []string {
	w.Helper()
	proxytest.Eventually(w, "record", func() bool { return len(w.Audited("call")) == n })
	var all []string
	for _, r := range w.Audited("call") {
		list, _ := r["guards"].([]any)
		for _, v := range list {
			v, _ := v.(map[string]any)
			text := fmt.Sprintf("%v %v %v %v %v %v", v["guard"], v["on"], v["kind"], v["part"], v["count"], v["action"])
			if v["shadow"] == true {
				text += " shadow"
			}
			all = append(all, text)
		}
	}
	return all
}

// hasSecrets fails where anything that the gateway has written has the secret.
func hasSecrets(t *testing.T, w *proxytest.Gateway, what string) {
	t.Helper()
	if strings.Contains(w.Logs.String(), apiKey) || strings.Contains(fmt.Sprint(w.Audited("call"), w.Audited("intent")), apiKey) {
		t.Errorf("%s: the secret is in logs or records", what)
	}
}

// TestGuardsOfNearNames: what lenient readers take as a text or as metadata is looked at as well.
func TestGuardsOfNearNames(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.Sides...), guarding(guard.Guard{
		Name: "no-secrets", Use: "secrets", On: []guard.Phase{guard.Request, guard.Answer},
	}))
	for _, side := range []wire.Side{proxytest.RPC10, proxytest.REST10} {
		s := proxytest.Words{Side: side}
		for _, parts := range []string{`{"text":"hi","TEXT":"` + apiKey + `"}`, `{"Text":"` + apiKey + `"}`, `{"tEXt":"x","TexT":"` + apiKey + `"}`} {
			w.Utter(side, wire.SendMessage, saying(s, parts, "")).Refused(t, parts, wire.ContentRefused)
			w.Agent.Silent(t, parts)
		}
		w.Utter(side, wire.SendMessage, saying(s, `{"text":"hi","texts":"`+apiKey+`"}`, "")).OK(t, "a member that nobody knows")
		w.Agent.One(t)
	}
}

// TestGuardsOfRequests: what a caller sends is refused, redacted or only recorded, in every version and
// binding, whether in a text, in data, in metadata or in the name of a file.
func TestGuardsOfRequests(t *testing.T) {
	t.Parallel()
	for action, shadow := range map[string]string{"refuse": "", "redact": "", "report": "", "": "shadow"} {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.Sides...), guarding(guard.Guard{
			Name: "no-secrets", On: []guard.Phase{guard.Request}, Use: "secrets", Action: action, Mode: shadow,
		}))
		calls := 0
		for _, side := range proxytest.Sides {
			s := proxytest.Words{Side: side}
			for place, params := range map[string]string{
				"text":     saying(s, s.Text("it is "+apiKey, ""), ""),
				"data":     saying(s, s.Data(`{"a":["it is `+apiKey+`"]}`), ""),
				"escaped":  saying(s, s.Data(`{"a":"it is \u0041`+apiKey[1:]+`"}`), ""),
				"a name":   saying(s, s.Data(`{"`+apiKey+`":1}`), ""),
				"metadata": saying(s, s.Text("hi", ""), proxytest.Meta("note", `"`+apiKey+`"`)),
				"its name": saying(s, s.Text("hi", ""), proxytest.Meta(apiKey, `1`)),
				"file":     s.SendFile(s.File(outside, "", `,"filename":"`+apiKey+`.txt"`)),
			} {
				calls++
				what := fmt.Sprintf("%s%s, %s of %s", action, shadow, place, side)
				got := w.Utter(side, wire.SendMessage, params)
				if action == "refuse" {
					got.Refused(t, what, map[bool]*wire.Kind{true: wire.Denied, false: wire.ContentRefused}[side == proxytest.GRPC03])
					if strings.Contains(got.Body, apiKey) {
						t.Errorf("%s: it is repeated: %s", what, got.Body)
					}
					w.Agent.Silent(t, what)
					continue
				}
				got.OK(t, what)
				sent := string(w.Agent.One(t).Call().Params)
				if redacted := !strings.Contains(sent, apiKey) && !strings.Contains(sent, apiKey[1:]); redacted != (action == "redact") {
					t.Errorf("%s: the agent got %s", what, sent)
				}
				if action == "redact" && (!strings.Contains(sent, "[redacted: key]") || !strings.Contains(sent, inspect.Redaction)) {
					t.Errorf("%s: the agent is not told: %s", what, sent)
				}
			}
		}
		list := found(w, calls)
		if len(list) != calls || slices.ContainsFunc(list, func(v string) bool {
			return !strings.HasPrefix(v, "no-secrets request key ") || strings.HasSuffix(v, "shadow") != (shadow != "")
		}) {
			t.Errorf("%s%s: %d calls, recorded %v", action, shadow, calls, list)
		}
		if action == "redact" || action == "refuse" {
			hasSecrets(t, w, action)
		}
	}
}

// TestGuardsOfAnswers: what an agent answers is redacted or withheld, in whatever the caller speaks.
func TestGuardsOfAnswers(t *testing.T) {
	t.Parallel()
	for _, action := range []string{"redact", "refuse", "report"} {
		for i, agent := range proxytest.Sides {
			w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), guarding(guard.Guard{Name: "no-secrets", Use: "secrets", Action: action}))
			calls := 0
			for place, answer := range map[string]func(s proxytest.Words, id string) []string{
				"status": func(s proxytest.Words, id string) []string {
					return []string{s.Task(id, "completed", s.Message("agent", s.Text("it is "+apiKey, ""), ""), "")}
				},
				"artifact": func(s proxytest.Words, id string) []string {
					return []string{s.Task(id, "completed", "", `,"artifacts":[`+artifact(s, s.Text("x", "")+","+s.Text(apiKey, ""), "")+`]`)}
				},
			} {
				for _, caller := range proxytest.CallersOf(i, 0) {
					calls++
					what := fmt.Sprintf("%s, %s of %s to %s", action, place, agent, caller)
					w.AnswerIn(answer)
					got := w.Utter(caller, wire.SendMessage, proxytest.Words{Side: caller}.Send("", "", ""))
					w.Agent.Take()
					switch action {
					case "refuse":
						got.Refused(t, what, map[bool]*wire.Kind{true: wire.Internal, false: wire.AnswerRefused}[caller == proxytest.GRPC03])
					case "redact":
						text := strings.Join(got.OK(t, what).Docs, "")
						if strings.Contains(text, apiKey) || !strings.Contains(text, "[redacted: key]") || !strings.Contains(text, inspect.Redaction) {
							t.Errorf("%s: %s", what, text)
						}
					default:
						if text := strings.Join(got.OK(t, what).Docs, ""); !strings.Contains(text, apiKey) || strings.Contains(text, inspect.Redaction) {
							t.Errorf("%s: %s", what, text)
						}
					}
					if action != "report" && strings.Contains(got.Body, apiKey) {
						t.Errorf("%s: the client reads %s", what, got.Body)
					}
				}
			}
			if list := found(w, calls); len(list) != calls || !strings.HasPrefix(list[0], "no-secrets answer key ") || !strings.HasSuffix(list[0], " 1 "+action) {
				t.Errorf("%s, %s: %v", action, agent, list)
			}
			if action != "report" {
				hasSecrets(t, w, action)
			}
		}
	}
}

// chunkOf is an update of an artifact that streams.
func chunkOf(s proxytest.Words, id, text string, first, last bool) string {
	more := fmt.Sprintf(`,"append":%t,"lastChunk":%t`, !first, last)
	if s.Side == proxytest.RPC01 {
		return arrival(s, id, artifact(s, s.Text(text, ""), more))
	}
	doc := arrival(s, id, artifact(s, s.Text(text, ""), ""))
	if s.Side == proxytest.RPC03 {
		return strings.TrimSuffix(doc, "}") + more + "}"
	}
	return strings.TrimSuffix(doc, "}}") + more + "}}"
}

// TestGuardsOfStreams: what is split over the chunks of an artifact is found, wherever it is split, and
// nothing of it arrives; what is beside it does, in order.
func TestGuardsOfStreams(t *testing.T) {
	t.Parallel()
	for i, agent := range proxytest.Sides {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), guarding(
			guard.Guard{Name: "no-secrets", On: []guard.Phase{guard.Event}, Use: "secrets", Action: "redact"},
		))
		calls := 0
		for at := 1; at < len(apiKey); at += 3 {
			for _, caller := range proxytest.CallersOf(i, at) {
				calls++
				what := fmt.Sprintf("split at %d, %s to %s", at, agent, caller)
				w.AnswerIn(func(s proxytest.Words, id string) []string {
					return []string{
						s.Status(id, "working", ""),
						chunkOf(s, id, "the key is "+apiKey[:at], true, false), chunkOf(s, id, apiKey[at:at+1], false, false),
						chunkOf(s, id, apiKey[at+1:]+", use it", false, true), s.Status(id, "completed", ""),
					}
				})
				got := w.Utter(caller, wire.SendStreamingMessage, proxytest.Words{Side: caller}.Send("", "", "")).OK(t, what)
				w.Agent.Take()
				text := strings.Join(got.Docs, "")
				if !strings.Contains(text, "the key is [redacted: key]") || !strings.Contains(text, ", use it") {
					t.Errorf("%s: the client reads %s", what, text)
				}
				if strings.Contains(text, apiKey[:8]) || strings.Contains(text, apiKey[len(apiKey)-6:]) || strings.Count(text, "[redacted: key]") != 1 {
					t.Errorf("%s: a part of it arrives: %s", what, text)
				}
			}
		}
		list := found(w, calls)
		if len(list) != calls || slices.ContainsFunc(list, func(v string) bool { return v != "no-secrets event key 0 1 redact" }) {
			t.Errorf("%s: %d calls, %v", agent, calls, list)
		}
		hasSecrets(t, w, "stream")
	}
}

// TestGuardsEndStreams: a stream ends with an error where a guard refuses what an event says, and
// nothing of it has arrived, nor of the chunks that it is split over.
func TestGuardsEndStreams(t *testing.T) {
	t.Parallel()
	for i, agent := range proxytest.Sides {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), guarding(guard.Guard{Name: "no-secrets", Use: "secrets"}))
		calls := 0
		for _, caller := range proxytest.CallersOf(i, 0) {
			calls++
			what := fmt.Sprintf("%s to %s", agent, caller)
			w.AnswerIn(func(s proxytest.Words, id string) []string {
				return []string{
					s.Status(id, "working", ""), chunkOf(s, id, "the key is "+apiKey[:10], true, false),
					chunkOf(s, id, apiKey[10:], false, false), s.Status(id, "completed", ""),
				}
			})
			got := w.Utter(caller, wire.SendStreamingMessage, proxytest.Words{Side: caller}.Send("", "", ""))
			got.Told(t, what, map[bool]*wire.Kind{true: wire.Internal, false: wire.AnswerRefused}[caller == proxytest.GRPC03], "key")
			if strings.Contains(got.Body, apiKey[:10]) || len(got.Docs) == 0 {
				t.Errorf("%s: %s", what, got.Body)
			}
			w.Agent.Take()
		}
		if list := found(w, calls); len(list) != calls || list[0] != "no-secrets event key 0 1 refuse" {
			t.Errorf("%s: %v", agent, list)
		}
	}
}

// TestGuardsHoldBack: an event waits no longer than it may, and what nothing has to come behind does not
// wait at all.
func TestGuardsHoldBack(t *testing.T) {
	t.Parallel()
	for _, use := range []string{"secrets", "size"} {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), guarding(
			guard.Guard{Name: "g", Use: use, Action: "report", Size: map[string]guard.Size{"size": {Parts: 3}}[use]},
		), func(s *proxytest.Setup) { s.GuardWindow = guard.Hold{Time: quantity.Duration(100 * time.Millisecond)} })
		events := []string{}
		w.AnswerIn(func(s proxytest.Words, id string) []string {
			events = []string{s.Status(id, "working", "")}
			for n := range 20 {
				events = append(events, chunkOf(s, id, fmt.Sprintf("chunk %d", n), n == 0, n == 19))
			}
			return append(events, s.Status(id, "completed", ""))
		})
		got := w.Utter(proxytest.RPC10, wire.SendStreamingMessage, proxytest.Words{Side: proxytest.RPC10}.Send("", "", "")).OK(t, use)
		if len(got.Docs) != 22 {
			t.Errorf("%s: %d events", use, len(got.Docs))
		}
		for n := range 20 {
			if !strings.Contains(got.Docs[n+1], fmt.Sprintf(`"chunk %d"`, n)) {
				t.Errorf("%s: event %d is %s", use, n+1, got.Docs[n+1])
			}
		}
	}
}

// TestGuardsPassWhatIsClean: a call in which nothing is found passes byte for byte, in both directions.
func TestGuardsPassWhatIsClean(t *testing.T) {
	t.Parallel()
	for _, side := range proxytest.Sides {
		if side.Binding == wire.GRPC {
			continue // whose messages are compared by content_schema_test.go's like
		}
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(side), guarding(
			guard.Guard{Name: "a", Use: "secrets", Action: "redact"}, guard.Guard{Name: "b", Use: "pii", Action: "redact"},
			guard.Guard{Name: "c", Use: "injection"}, guard.Guard{Name: "d", Use: "links", Links: guard.Links{Deny: []string{"evil.example"}}},
		))
		s := proxytest.Words{Side: side}
		parts := s.Text(`see https://good.example/ \u00e9 1.0e2`, "") + "," + s.Data(`{ "n" : 12345678901234567890 , "s" : "\u0061" }`)
		doc := s.Task("t", "completed", s.Message("agent", parts, ""), "")
		w.AnswerIn(func(proxytest.Words, string) []string { return []string{doc} })
		params := saying(s, parts, "")
		got := w.Utter(side, wire.SendMessage, params).OK(t, fmt.Sprint(side))
		if got.Docs[0] != doc {
			t.Errorf("%s: the client got %s", side, got.Docs[0])
		}
		if body := string(w.Agent.One(t).Content); !strings.Contains(body, params) {
			t.Errorf("%s: the agent got %s", side, body)
		}
	}
}

// TestGuardsLookAtWhatTheyShould: the conditions of rules say which calls a guard looks at.
func TestGuardsLookAtWhatTheyShould(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), guarding(
		guard.Guard{Name: "bob", Use: "secrets", Conditions: guard.Conditions{Subjects: []string{"bob"}}},
		guard.Guard{Name: "reads", Use: "secrets", Conditions: guard.Conditions{Methods: []string{"GetTask"}}},
		guard.Guard{Name: "expr", Use: "secrets", Action: "report", Conditions: guard.Conditions{Expr: `message.metadata["vip"] != true`}},
		guard.Guard{Name: "rpc", Use: "secrets", Action: "report", Conditions: guard.Conditions{Bindings: []string{"GRPC"}}},
	))
	s := proxytest.Words{Side: proxytest.RPC10}
	w.Utter(proxytest.RPC10, wire.SendMessage, saying(s, s.Text(apiKey, ""), "")).OK(t, "tied")
	w.Utter(proxytest.RPC10, wire.SendMessage, saying(s, s.Text(apiKey, ""), proxytest.Meta("vip", "true"))).OK(t, "vip")
	if list := fmt.Sprint(found(w, 2)); list != "[expr request key 0 1 report]" {
		t.Error(list)
	}
}
