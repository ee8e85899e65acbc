package inspect_test

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/files"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

const (
	inside  = "https://10.9.8.7/inside"
	outside = "https://files.example.com/a%2Fb.pdf?sig=x&y=%20#page=2"
)

// TestA27_CallersLeadNowhereInside: an agent is not made to fetch what only it can reach, in
// whatever way that is written, on every side.
func TestA27_CallersLeadNowhereInside(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.Sides...), proxytest.WithTied)
	for i, uri := range proxytest.InwardURIs(t) {
		s := proxytest.Words{Side: proxytest.Sides[i%len(proxytest.Sides)]}
		method := []string{wire.SendMessage, wire.SendStreamingMessage}[i/len(proxytest.Sides)%2]
		got := w.Utter(s.Side, method, s.SendFile(s.File(uri, "", "")))
		got.Told(t, fmt.Sprintf("%q on %s", uri, s), wire.InvalidParams, "/1: a file's URI is not permitted")
		if len(uri) > 12 && strings.Contains(got.Body, uri) {
			t.Errorf("%q is repeated: %s", uri, got.Body)
		}
	}
	w.Agent.Silent(t, "URIs that lead inside")
	for _, side := range proxytest.Sides { // what is refused is the URI
		s := proxytest.Words{Side: side}
		w.Utter(side, wire.SendMessage, s.SendFile(s.File(outside, "", ""))).OK(t, fmt.Sprint(side))
		if !strings.Contains(string(w.Agent.One(t).Content), "files.example.com") {
			t.Errorf("%s: the agent did not get it", side)
		}
	}
}

// TestA27_AgentsLeadNowhereInside: nor is a client, whatever the agent speaks.
func TestA27_AgentsLeadNowhereInside(t *testing.T) {
	t.Parallel()
	list := proxytest.InwardURIs(t)
	for i, agent := range proxytest.Sides {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), proxytest.WithTied)
		for _, caller := range proxytest.CallersOf(i, i) {
			what := fmt.Sprintf("%s to %s", caller, agent)
			w.AnswerIn(func(s proxytest.Words, id string) []string {
				parts := []string{s.File(outside, "", "")}
				for _, uri := range list {
					parts = append(parts, s.File(uri, "", ""))
				}
				return []string{s.Task(id, "completed", "", `,"artifacts":[`+artifact(s, strings.Join(parts, ","), "")+`]`)}
			})
			got := w.CallWaiting(caller, wire.SendMessage, "").OK(t, what)
			if n := strings.Count(strings.Join(got.Docs, ""), "Withheld by the gateway"); n != len(list) {
				t.Errorf("%s: %d of %d are withheld", what, n, len(list))
			}
			if text := strings.Join(got.Docs, ""); !strings.Contains(text, "files.example.com") || strings.Contains(text, "127.0.0") {
				t.Errorf("%s: %s", what, text)
			}
			w.Agent.Take()
		}
	}
}

// TestA27_EveryPlace: in statuses, histories, artifacts, messages and lists, answered or
// streamed; what is beside a file arrives.
func TestA27_EveryPlace(t *testing.T) {
	t.Parallel()
	for i, agent := range proxytest.Sides {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), proxytest.WithTied)
		bad := func(s proxytest.Words) string { return s.Text("before", "") + "," + s.File(inside, "", "") }
		places := map[string]func(s proxytest.Words, id string) []string{
			"status": func(s proxytest.Words, id string) []string {
				return []string{s.Task(id, "input-required", s.Message("agent", bad(s), ""), "")}
			},
			"history": func(s proxytest.Words, id string) []string {
				return []string{s.Task(id, "input-required", "", `,"history":[`+s.Message("agent", bad(s), "")+`]`)}
			},
			"artifact": func(s proxytest.Words, id string) []string {
				return []string{s.Task(id, "input-required", "", `,"artifacts":[`+artifact(s, bad(s), "")+`]`)}
			},
			"status event": func(s proxytest.Words, id string) []string {
				return []string{s.Task(id, "working", "", ""), s.Status(id, "completed", s.Message("agent", bad(s), ""))}
			},
			"artifact event": func(s proxytest.Words, id string) []string {
				return []string{s.Task(id, "working", "", ""), arrival(s, id, artifact(s, bad(s), "")), s.Status(id, "completed", "")}
			},
		}
		calls := 0
		for place, docs := range places {
			for _, caller := range proxytest.CallersOf(i, calls) {
				for _, method := range proxytest.WaysToWait {
					streamed := strings.HasSuffix(place, "event")
					if streamed && (!proxytest.MethodOf(method).Streams || method == wire.SubscribeToTask && agent.Version != wire.V10) {
						continue // of agents of before 1.0 the task is asked for, too
					}
					calls++
					what := fmt.Sprintf("%s, %s of %s to %s", place, method, caller, agent)
					w.Given("tied", w.Base, w.Agent, "t", "c-t", "")
					calls++
					w.AnswerIn(docs)
					text := strings.Join(w.CallWaiting(caller, method, "t").OK(t, what).Docs, "")
					if strings.Contains(text, "10.9.8.7") {
						t.Errorf("%s: the client reads %s", what, text)
					}
					if strings.Contains(text, "Withheld") != strings.Contains(text, "before") {
						t.Errorf("%s: what is beside it is lost: %s", what, text)
					}
					w.Agent.Take()
				}
			}
		}
		noted := violations(w, calls)
		if len(noted) < calls/3 || slices.ContainsFunc(noted, func(v string) bool { return !strings.HasPrefix(v, "file_uri /") || !strings.HasSuffix(v, " true") }) {
			t.Errorf("%s: %d calls, recorded %v", agent, calls, noted)
		}
	}
}

// TestA27_Lists: a list has its tasks, without the files.
func TestA27_Lists(t *testing.T) {
	t.Parallel()
	for _, agent := range proxytest.Sides {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), proxytest.WithTied)
		w.Given("tied", w.Base, w.Agent, "t", "c-t", "")
		w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
			s := proxytest.Words{Side: r.Side()}
			task := proxytest.BareTask(s.Task(cmp.Or(r.Call().TaskID, "t"), "completed", "", `,"artifacts":[`+artifact(s, s.File(inside, "", ""), "")+`]`))
			if r.Call().Method.Name == wire.ListTasks {
				task = `{"tasks":[` + task + `],"nextPageToken":"","pageSize":50,"totalSize":1}`
			}
			r.Say(rw, task)
		})
		got := w.Utter(proxytest.RPC10, wire.ListTasks, `{"includeArtifacts":true}`).OK(t, fmt.Sprint(agent))
		if strings.Contains(got.Body, "10.9.8.7") || !strings.Contains(got.Body, "Withheld by the gateway") {
			t.Errorf("%s: %s", agent, got.Body)
		}
	}
}

// TestA27_SeveralReadings: a part is refused for whatever any parser might take from it.
func TestA27_SeveralReadings(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10, proxytest.RPC03), proxytest.WithTied)
	for _, part := range []string{
		`{"url":"` + outside + `","file":{"uri":"` + inside + `"}}`,
		`{"file":{"uri":"` + outside + `","fileWithUri":"` + inside + `"}}`,
		`{"kind":"file","file":{"uri":"` + outside + `"},"url":"` + inside + `"}`,
		`{"text":"x","url":"` + inside + `"}`,
		`{"data":{},"URL":"` + inside + `"}`,
		`{"kind":"text","text":"x","file":{"uri":"` + inside + `","bytes":"QQ=="}}`,
		`{"u\u0072l":"\u0068ttps://10.9.8.7/"}`,
	} {
		for _, s := range []wire.Side{proxytest.RPC10, proxytest.RPC03} {
			params := `{"message":{"messageId":"m","role":"ROLE_USER","parts":[` + part + `]}}`
			if s == proxytest.RPC03 {
				params = `{"message":{"kind":"message","messageId":"m","role":"user","parts":[` + part + `]}}`
			}
			w.Utter(s, wire.SendMessage, params).Refused(t, part, wire.InvalidParams)
			w.Agent.Silent(t, part)
			w.AnswerIn(func(s proxytest.Words, id string) []string {
				return []string{s.Task(id, "completed", "", `,"artifacts":[`+artifact(s, part, "")+`]`)}
			})
			got := w.CallWaiting(s, wire.SendMessage, "").OK(t, part)
			if strings.Contains(got.Body, "10.9.8.7") || !strings.Contains(got.Body, "Withheld") {
				t.Errorf("%s on %s: %s", part, s, got.Body)
			}
			w.Agent.Take()
		}
	}
}

// TestA27_Scripts: what browsers run passes and is on record, unless there is more to be
// said about it.
func TestA27_Scripts(t *testing.T) {
	t.Parallel()
	types := []string{"text/html", "TEXT/HTML; charset=utf-8", "application/xhtml+xml", "image/svg+xml", "text/javascript", "application/xml"}
	for _, tt := range []struct {
		rules   files.Config
		refused bool
		noted   string // of a call and its answer
	}{
		{files.Config{}, false, "[file_type false file_type false]"},
		{files.Config{ActiveContent: "off"}, false, "[]"},
		{files.Config{ActiveContent: "enforce"}, true, "[file_type true]"},
		{files.Config{MediaTypes: []string{"image/png", "application/pdf"}}, true, "[file_type true]"},
	} {
		for i, kind := range types {
			s := proxytest.Words{Side: proxytest.Sides[i%len(proxytest.Sides)]}
			w := proxytest.NewGatewayFor(t, proxytest.CardFor(s.Side), proxytest.WithFileRules(tt.rules))
			part := s.File("", "QUJDRA==", `,"mediaType":"`+kind+`"`)
			w.AnswerIn(func(s proxytest.Words, id string) []string {
				return []string{s.Task(id, "completed", "", `,"artifacts":[`+artifact(s, part, "")+`]`)}
			})
			what := fmt.Sprintf("%s, %+v", kind, tt.rules)
			got := w.Utter(s.Side, wire.SendMessage, s.SendFile(part))
			if tt.refused {
				got.Refused(t, what, map[bool]*wire.Kind{false: wire.ContentType, true: wire.InvalidParams}[s.Side == proxytest.GRPC03])
				w.Agent.Silent(t, what)
				ask := w.CallWaiting(s.Side, wire.SendMessage, "").OK(t, what)
				if strings.Contains(ask.Body, "QUJDRA") || !strings.Contains(strings.Join(ask.Docs, ""), "Withheld") {
					t.Errorf("%s: %s", what, ask.Docs)
				}
				continue
			}
			if got = got.OK(t, what); !strings.Contains(strings.Join(got.Docs, ""), "QUJDRA==") {
				t.Errorf("%s: %s", what, got.Docs)
			}
			if noted := withoutPointers(violations(w, 1)); noted != tt.noted {
				t.Errorf("%s: recorded %s", what, noted)
			}
		}
	}
}

// withoutPointers are violations without their places.
func withoutPointers(list []string) string {
	short := []string{}
	for _, v := range list {
		words := strings.Fields(v)
		short = append(short, words[0]+" "+words[len(words)-1])
	}
	return fmt.Sprint(short)
}

// TestA27_HugeInlineBytes: the limit has a name, and counts what is inside the base64.
func TestA27_HugeInlineBytes(t *testing.T) {
	t.Parallel()
	const most = 3000
	for _, agent := range proxytest.Sides {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), proxytest.WithFileRules(files.Config{MaxBytes: most, MaxParts: 2}))
		s := proxytest.Words{Side: agent}
		fits, large := strings.Repeat("QUJD", most/3), strings.Repeat("QUJD", most/3+1)
		w.Utter(agent, wire.SendMessage, s.SendFile(s.File("", fits, ""))).OK(t, fmt.Sprint(agent))
		w.Agent.Take()
		tooLarge := wire.TooLarge
		if agent == proxytest.GRPC03 { // the code is the same
			tooLarge = wire.RateLimited
		}
		w.Utter(agent, wire.SendMessage, s.SendFile(s.File("", large, ""))).
			Told(t, fmt.Sprint(agent), tooLarge, "policy.fileParts.maxBytes (3000 bytes)")
		one := s.File("", "QUJD", "")
		w.Utter(agent, wire.SendMessage, s.SendFile(one+","+one+","+one)).
			Told(t, fmt.Sprint(agent), tooLarge, "/3: there are more files than policy.fileParts.maxParts (2)")
		w.Agent.Silent(t, fmt.Sprint(agent))
		w.AnswerIn(func(s proxytest.Words, id string) []string {
			return []string{s.Task(id, "completed", "", `,"artifacts":[`+artifact(s, s.File("", large, "")+","+s.File("", fits, ""), "")+`]`)}
		})
		text := strings.Join(w.Utter(agent, wire.SendMessage, s.SendFile(one)).OK(t, fmt.Sprint(agent)).Docs, "")
		if strings.Contains(text, large) || !strings.Contains(text, fits) || strings.Count(text, "Withheld") != 1 {
			t.Errorf("%s: %.300s", agent, text)
		}
	}
}

// TestA27_Names: a file is written where it should be, by what its name reads as.
func TestA27_Names(t *testing.T) {
	t.Parallel()
	for i, name := range []string{"../../.ssh/authorized_keys", "/etc/cron.d/x", `..\x`, `C:\x`, "photo\u202egnp.exe", "a\x00.png", "a\r\nb", strings.Repeat("x", 300)} {
		s := proxytest.Words{Side: proxytest.Sides[i%len(proxytest.Sides)]}
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(s.Side), proxytest.WithTied)
		w.Utter(s.Side, wire.SendMessage, s.SendFile(s.File("", "QUJD", `,"filename":`+proxytest.JSONText(name)))).
			Told(t, name, wire.InvalidParams, "a file's name")
		w.Agent.Silent(t, name)
	}
}
