package inspect_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// What the gateway provides, and where it leaves it.
const (
	stampURI    = "https://github.com/a2aproject/a2a-samples/extensions/timestamp/v1"
	stampKey    = "github.com/a2aproject/a2a-samples/extensions/timestamp/v1/timestamp"
	traceURI    = "https://github.com/a2aproject/a2a-samples/extensions/traceability/v1"
	traceKey    = "github.com/a2aproject/a2a-samples/extensions/traceability/v1/traceability"
	passportURI = "https://github.com/a2aproject/a2a-samples/tree/main/samples/python/extensions/secure-passport"
)

// providing has the gateway stand in for the agent with all of them.
func providing(s *proxytest.Setup) {
	proxytest.WithTied(s)
	s.Agent.Extensions.Provide = []string{stampURI, traceURI, passportURI}
}

// working is what an agent of the tests says in a call: an artifact and a message.
func worked(streams bool) func(s proxytest.Words, id string) []string {
	return func(s proxytest.Words, id string) []string {
		said, made := s.Message("agent", s.Text("done", ""), ""), artifact(s, s.Text("it", ""), "")
		if streams {
			return []string{arrival(s, id, made), s.Status(id, "completed", said)}
		}
		return []string{s.Task(id, "completed", said, `,"artifacts":[`+made+`]`)}
	}
}

// stamps are the times that the gateway has added to documents.
func stamps(t *testing.T, docs string) []time.Time {
	t.Helper()
	var all []time.Time
	for _, found := range regexp.MustCompile(`"`+regexp.QuoteMeta(stampKey)+`":\s*"([^"]*)"`).FindAllStringSubmatch(docs, -1) {
		at, err := time.Parse(time.RFC3339Nano, found[1])
		if err != nil {
			t.Error(err)
		}
		all = append(all, at)
	}
	return all
}

// TestProvided: who asks for what the gateway provides gets it, in the words of every
// side; nobody else does, and the agent hears nothing of it.
func TestProvided(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), providing)
	for i, agent := range proxytest.Sides {
		w.BecomeCard(proxytest.CardFor(agent))
		for _, caller := range proxytest.CallersOf(i, 2) {
			for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage} {
				what := fmt.Sprintf("%s %s to %s", method, caller, agent)
				w.AnswerIn(worked(method == wire.SendStreamingMessage))
				began := time.Now()
				got := w.Utter(caller, method, proxytest.Words{Side: caller}.Send("", "", ""), asking(stampURI, traceURI, "urn:x")...).OK(t, what)
				docs := strings.Join(got.Docs, "")
				at := stamps(t, docs)
				if len(at) != 2 || at[0].Before(began) || at[1].After(time.Now()) {
					t.Errorf("%s: %v in %s", what, at, docs)
				}
				// 0.1 has no lists of extensions.
				if n := strings.Count(docs, `"`+stampURI+`"`); n != 2 && agent != proxytest.RPC01 || strings.Count(docs, `"`+traceKey+`"`) != 1 {
					t.Errorf("%s: %s", what, docs)
				}
				if n := len(got.Docs); !strings.Contains(got.Docs[n-1], traceKey) {
					t.Errorf("%s: the trace is not in the last document: %s", what, docs)
				}
				if sent := w.Agent.One(t); header(sent.Header) != "" {
					t.Errorf("%s: the agent is asked for %s", what, header(sent.Header))
				}
				if told := header(got.Header); told != stampURI+","+traceURI && told != stampURI+", "+traceURI {
					t.Errorf("%s: activated: %q", what, told)
				}

				got = w.Utter(caller, method, proxytest.Words{Side: caller}.Send("", "", "")).OK(t, what)
				if docs := strings.Join(got.Docs, ""); strings.Contains(docs, "a2a-samples") || header(got.Header) != "" {
					t.Errorf("%s: %v %s", what, got.Header, docs)
				}
				w.Agent.Take()
			}
		}
	}
}

// header are the extensions that a header has.
func header(h map[string][]string) string {
	return strings.Join(slices.Concat(h["A2a-Extensions"], h["X-A2a-Extensions"]), ",")
}

// TestProvidedByTheAgent: what the agent declares is its own to give.
func TestProvidedByTheAgent(t *testing.T) {
	t.Parallel()
	for i, agent := range proxytest.Sides {
		w := proxytest.NewGatewayFor(t, proxytest.CardDeclaring(proxytest.CardFor(agent), `{"uri":"`+stampURI+`"}`, `{"uri":"`+traceURI+`"}`, `{"uri":"`+passportURI+`"}`), providing)
		for _, caller := range proxytest.CallersOf(i, 3) {
			for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage} {
				what := fmt.Sprintf("%s %s to %s", method, caller, agent)
				w.AnswerIn(worked(method == wire.SendStreamingMessage))
				somebody := proxytest.Meta(passportURI, `{"clientId":"somebody","state":{}}`)
				got := w.Utter(caller, method, proxytest.Words{Side: caller}.Send("", somebody, ""), asking(stampURI, traceURI, passportURI)...).OK(t, what)
				if docs := strings.Join(got.Docs, ""); strings.Contains(docs, "a2a-samples") {
					t.Errorf("%s: %s", what, docs)
				}
				sent := w.Agent.One(t)
				if header(sent.Header) != strings.Join([]string{stampURI, traceURI, passportURI}, ",") && header(sent.Header) != strings.Join([]string{stampURI, traceURI, passportURI}, ", ") {
					t.Errorf("%s: the agent is asked for %s", what, header(sent.Header))
				}
				if !strings.Contains(string(sent.Call().Params), "somebody") {
					t.Errorf("%s: the agent is told %s", what, sent.Call().Params)
				}
			}
		}
	}
}

// TestProvidedTrace: the trace is that of the record.
func TestProvidedTrace(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.REST03), providing)
	w.AnswerIn(worked(false))
	got := w.Utter(proxytest.GRPC10, wire.SendMessage, proxytest.Words{Side: proxytest.GRPC10}.Send("", "", proxytest.Meta(wire.SkillSelection, `"read"`)), append(asking(traceURI),
		"Traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")...).OK(t, "call")
	proxytest.Eventually(t, "record", func() bool { return len(w.Audited("call")) == 1 })
	record, doc := w.Audited("call")[0], got.Docs[0]
	for name, want := range map[string]any{
		"trace_id": record["trace_id"], "request_id": record["request_id"], "agent_name": "Recorder", "method": "SendMessage",
		"skill": "read", "agent_url": w.Base,
	} {
		if found := regexp.MustCompile(`"` + name + `":\s*"([^"]*)"`).FindStringSubmatch(doc); want == nil || want == "" || found == nil || found[1] != want {
			t.Errorf("%s: %v, want %v, in %s", name, found, want, doc)
		}
	}
}

// TestProvidedTimes: only what was made in the call has the time of the call.
func TestProvidedTimes(t *testing.T) {
	t.Parallel()
	for _, agent := range []wire.Side{proxytest.RPC10, proxytest.RPC03, proxytest.GRPC03} {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), providing)
		w.AnswerIn(worked(false))
		id := task(w.Utter(proxytest.RPC10, wire.SendMessage, proxytest.Words{Side: proxytest.RPC10}.Send("", "", ""), asking(stampURI)...).OK(t, "new"), t)
		for method, want := range map[string]int{wire.SendMessage: 1, wire.GetTask: 0} {
			got := w.Speak("tied", w.Base, proxytest.RPC10, proxytest.Ask{Method: method, Task: id, Header: asking(stampURI)}).OK(t, method)
			if at := stamps(t, got.Docs[0]); len(at) != want {
				t.Errorf("%s %s: %d times in %s", agent, method, len(at), got.Docs[0])
			}
		}
	}
}

// TestProvidedInSubscriptions: the task that a subscription begins with is older than
// it, and not its end.
func TestProvidedInSubscriptions(t *testing.T) {
	t.Parallel()
	for _, agent := range []wire.Side{proxytest.RPC10, proxytest.RPC03, proxytest.REST03} {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), providing)
		w.AnswerIn(func(s proxytest.Words, id string) []string { return []string{s.Task(id, "input-required", "", "")} })
		id := task(w.Utter(proxytest.RPC10, wire.SendMessage, proxytest.Words{Side: proxytest.RPC10}.Send("", "", "")).OK(t, "new"), t)
		w.AnswerIn(func(s proxytest.Words, id string) []string {
			said := s.Message("agent", s.Text("now", ""), "")
			begins := s.Task(id, "input-required", s.Message("agent", s.Text("then", ""), ""), "")
			if agent == proxytest.RPC10 {
				return []string{begins, s.Status(id, "completed", said)}
			}
			return []string{s.Status(id, "completed", said), begins} // the last answers a get
		})
		got := w.Speak("tied", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.SubscribeToTask, Task: id, Header: asking(stampURI, traceURI)}).OK(t, agent.String())
		for i, doc := range got.Docs {
			now := strings.Contains(doc, `"now"`)
			if (len(stamps(t, doc)) == 1) != now || strings.Contains(doc, traceKey) != now {
				t.Errorf("%s: event %d: %s", agent, i, doc)
			}
		}
	}
}

// TestProvidedPassport: a passport is the caller's own, or the agent never sees it.
func TestProvidedPassport(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), providing)
	for i, agent := range proxytest.Sides {
		w.BecomeCard(proxytest.CardFor(agent))
		for _, caller := range proxytest.CallersOf(i, 4) {
			what := fmt.Sprintf("%s to %s", caller, agent)
			send := func(client string, header ...string) proxytest.Reply {
				passport := proxytest.Meta(passportURI, `{"clientId":"`+client+`","state":{"a":1},"signature":"s"}`)
				return w.Utter(caller, wire.SendMessage, proxytest.Words{Side: caller}.Send("", passport, ""), header...)
			}
			send("tied", asking(passportURI)...).OK(t, what)
			if sent := string(w.Agent.One(t).Call().Params); !strings.Contains(sent, `"tied"`) {
				t.Errorf("%s: the agent is told %s", what, sent)
			}
			send("alice", asking(passportURI)...).Told(t, what, wire.InvalidParams, "/clientId: not the authenticated caller")
			w.Agent.Silent(t, what)
			// Without the extension it is the passport of nobody, and does not go on.
			send("alice").OK(t, what)
			if sent := string(w.Agent.One(t).Call().Params); strings.Contains(sent, "alice") {
				t.Errorf("%s: the agent is told %s", what, sent)
			}
		}
	}
}
