package proxy_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
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
func providing(s *setup) {
	tied(s)
	s.agent.Extensions.Provide = []string{stampURI, traceURI, passportURI}
}

// working is what an agent of the tests says in a call: an artifact and a message.
func worked(streams bool) func(s words, id string) []string {
	return func(s words, id string) []string {
		said, made := s.message("agent", s.text("done", ""), ""), s.artifact(s.text("it", ""), "")
		if streams {
			return []string{s.arrival(id, made), s.status(id, "completed", said)}
		}
		return []string{s.task(id, "completed", said, `,"artifacts":[`+made+`]`)}
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
	w := in(t, speaks(rpc10), providing)
	for i, agent := range sides {
		w.becomes(speaks(agent))
		for _, caller := range callersOf(i, 2) {
			for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage} {
				what := fmt.Sprintf("%s %s to %s", method, caller, agent)
				w.tells(worked(method == wire.SendStreamingMessage))
				began := time.Now()
				got := w.utter(caller, method, words{caller}.send("", "", ""), asking(stampURI, traceURI, "urn:x")...).ok(t, what)
				docs := strings.Join(got.docs, "")
				at := stamps(t, docs)
				if len(at) != 2 || at[0].Before(began) || at[1].After(time.Now()) {
					t.Errorf("%s: %v in %s", what, at, docs)
				}
				// 0.1 has no lists of extensions.
				if n := strings.Count(docs, `"`+stampURI+`"`); n != 2 && agent != rpc01 || strings.Count(docs, `"`+traceKey+`"`) != 1 {
					t.Errorf("%s: %s", what, docs)
				}
				if n := len(got.docs); !strings.Contains(got.docs[n-1], traceKey) {
					t.Errorf("%s: the trace is not in the last document: %s", what, docs)
				}
				if sent := w.agent.one(t); header(sent.Header) != "" {
					t.Errorf("%s: the agent is asked for %s", what, header(sent.Header))
				}
				if told := header(got.header); told != stampURI+","+traceURI && told != stampURI+", "+traceURI {
					t.Errorf("%s: activated: %q", what, told)
				}

				got = w.utter(caller, method, words{caller}.send("", "", "")).ok(t, what)
				if docs := strings.Join(got.docs, ""); strings.Contains(docs, "a2a-samples") || header(got.header) != "" {
					t.Errorf("%s: %v %s", what, got.header, docs)
				}
				w.agent.take()
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
	for i, agent := range sides {
		w := in(t, declares(speaks(agent), `{"uri":"`+stampURI+`"}`, `{"uri":"`+traceURI+`"}`, `{"uri":"`+passportURI+`"}`), providing)
		for _, caller := range callersOf(i, 3) {
			for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage} {
				what := fmt.Sprintf("%s %s to %s", method, caller, agent)
				w.tells(worked(method == wire.SendStreamingMessage))
				somebody := meta(passportURI, `{"clientId":"somebody","state":{}}`)
				got := w.utter(caller, method, words{caller}.send("", somebody, ""), asking(stampURI, traceURI, passportURI)...).ok(t, what)
				if docs := strings.Join(got.docs, ""); strings.Contains(docs, "a2a-samples") {
					t.Errorf("%s: %s", what, docs)
				}
				sent := w.agent.one(t)
				if header(sent.Header) != strings.Join([]string{stampURI, traceURI, passportURI}, ",") && header(sent.Header) != strings.Join([]string{stampURI, traceURI, passportURI}, ", ") {
					t.Errorf("%s: the agent is asked for %s", what, header(sent.Header))
				}
				if !strings.Contains(string(sent.call().Params), "somebody") {
					t.Errorf("%s: the agent is told %s", what, sent.call().Params)
				}
			}
		}
	}
}

// TestProvidedTrace: the trace is that of the record.
func TestProvidedTrace(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rest03), providing)
	w.tells(worked(false))
	got := w.utter(grpc10, wire.SendMessage, words{grpc10}.send("", "", meta(wire.SkillSelection, `"read"`)), append(asking(traceURI),
		"Traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")...).ok(t, "call")
	eventually(t, "record", func() bool { return len(w.audited("call")) == 1 })
	record, doc := w.audited("call")[0], got.docs[0]
	for name, want := range map[string]any{
		"trace_id": record["trace_id"], "request_id": record["request_id"], "agent_name": "Recorder", "method": "SendMessage",
		"skill": "read", "agent_url": w.base,
	} {
		if found := regexp.MustCompile(`"` + name + `":\s*"([^"]*)"`).FindStringSubmatch(doc); want == nil || want == "" || found == nil || found[1] != want {
			t.Errorf("%s: %v, want %v, in %s", name, found, want, doc)
		}
	}
}

// TestProvidedTimes: only what was made in the call has the time of the call.
func TestProvidedTimes(t *testing.T) {
	t.Parallel()
	for _, agent := range []wire.Side{rpc10, rpc03, grpc03} {
		w := in(t, speaks(agent), providing)
		w.tells(worked(false))
		id := w.utter(rpc10, wire.SendMessage, words{rpc10}.send("", "", ""), asking(stampURI)...).ok(t, "new").task(t)
		for method, want := range map[string]int{wire.SendMessage: 1, wire.GetTask: 0} {
			got := w.speak("tied", w.base, rpc10, ask{method: method, task: id, header: asking(stampURI)}).ok(t, method)
			if at := stamps(t, got.docs[0]); len(at) != want {
				t.Errorf("%s %s: %d times in %s", agent, method, len(at), got.docs[0])
			}
		}
	}
}

// TestProvidedInSubscriptions: the task that a subscription begins with is older than
// it, and not its end.
func TestProvidedInSubscriptions(t *testing.T) {
	t.Parallel()
	for _, agent := range []wire.Side{rpc10, rpc03, rest03} {
		w := in(t, speaks(agent), providing)
		w.tells(func(s words, id string) []string { return []string{s.task(id, "input-required", "", "")} })
		id := w.utter(rpc10, wire.SendMessage, words{rpc10}.send("", "", "")).ok(t, "new").task(t)
		w.tells(func(s words, id string) []string {
			said := s.message("agent", s.text("now", ""), "")
			begins := s.task(id, "input-required", s.message("agent", s.text("then", ""), ""), "")
			if agent == rpc10 {
				return []string{begins, s.status(id, "completed", said)}
			}
			return []string{s.status(id, "completed", said), begins} // the last answers a get
		})
		got := w.speak("tied", w.base, rpc10, ask{method: wire.SubscribeToTask, task: id, header: asking(stampURI, traceURI)}).ok(t, agent.String())
		for i, doc := range got.docs {
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
	w := in(t, speaks(rpc10), providing)
	for i, agent := range sides {
		w.becomes(speaks(agent))
		for _, caller := range callersOf(i, 4) {
			what := fmt.Sprintf("%s to %s", caller, agent)
			send := func(client string, header ...string) said {
				passport := meta(passportURI, `{"clientId":"`+client+`","state":{"a":1},"signature":"s"}`)
				return w.utter(caller, wire.SendMessage, words{caller}.send("", passport, ""), header...)
			}
			send("tied", asking(passportURI)...).ok(t, what)
			if sent := string(w.agent.one(t).call().Params); !strings.Contains(sent, `"tied"`) {
				t.Errorf("%s: the agent is told %s", what, sent)
			}
			send("alice", asking(passportURI)...).told(t, what, wire.InvalidParams, "/clientId: not the authenticated caller")
			w.agent.silent(t, what)
			// Without the extension it is the passport of nobody, and does not go on.
			send("alice").ok(t, what)
			if sent := string(w.agent.one(t).call().Params); strings.Contains(sent, "alice") {
				t.Errorf("%s: the agent is told %s", what, sent)
			}
		}
	}
}
