package proxy_test

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/files"
)

const (
	inside  = "https://10.9.8.7/inside"
	outside = "https://files.example.com/a%2Fb.pdf?sig=x&y=%20#page=2"
)

// TestA27_CallersLeadNowhereInside: an agent is not made to fetch what only it can reach, in
// whatever way that is written, on every side.
func TestA27_CallersLeadNowhereInside(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(sides...), tied)
	for i, uri := range inward(t) {
		s := words{sides[i%len(sides)]}
		method := []string{wire.SendMessage, wire.SendStreamingMessage}[i/len(sides)%2]
		got := w.utter(s.Side, method, s.sendFile(s.file(uri, "", "")))
		got.told(t, fmt.Sprintf("%q on %s", uri, s), wire.InvalidParams, "/1: a file's URI is not permitted")
		if len(uri) > 12 && strings.Contains(got.body, uri) {
			t.Errorf("%q is repeated: %s", uri, got.body)
		}
	}
	w.agent.silent(t, "URIs that lead inside")
	for _, side := range sides { // what is refused is the URI
		s := words{side}
		w.utter(side, wire.SendMessage, s.sendFile(s.file(outside, "", ""))).ok(t, fmt.Sprint(side))
		if !strings.Contains(string(w.agent.one(t).body), "files.example.com") {
			t.Errorf("%s: the agent did not get it", side)
		}
	}
}

// TestA27_AgentsLeadNowhereInside: nor is a client, whatever the agent speaks.
func TestA27_AgentsLeadNowhereInside(t *testing.T) {
	t.Parallel()
	list := inward(t)
	for i, agent := range sides {
		w := in(t, speaks(agent), tied)
		for _, caller := range callersOf(i, i) {
			what := fmt.Sprintf("%s to %s", caller, agent)
			w.tells(func(s words, id string) []string {
				parts := []string{s.file(outside, "", "")}
				for _, uri := range list {
					parts = append(parts, s.file(uri, "", ""))
				}
				return []string{s.task(id, "completed", "", `,"artifacts":[`+s.artifact(strings.Join(parts, ","), "")+`]`)}
			})
			got := w.callWaiting(caller, wire.SendMessage, "").ok(t, what)
			if n := strings.Count(strings.Join(got.docs, ""), "Withheld by the gateway"); n != len(list) {
				t.Errorf("%s: %d of %d are withheld", what, n, len(list))
			}
			if text := strings.Join(got.docs, ""); !strings.Contains(text, "files.example.com") || strings.Contains(text, "127.0.0") {
				t.Errorf("%s: %s", what, text)
			}
			w.agent.take()
		}
	}
}

// TestA27_EveryPlace: in statuses, histories, artifacts, messages and lists, answered or
// streamed; what is beside a file arrives.
func TestA27_EveryPlace(t *testing.T) {
	t.Parallel()
	for i, agent := range sides {
		w := in(t, speaks(agent), tied)
		bad := func(s words) string { return s.text("before", "") + "," + s.file(inside, "", "") }
		places := map[string]func(s words, id string) []string{
			"status": func(s words, id string) []string {
				return []string{s.task(id, "input-required", s.message("agent", bad(s), ""), "")}
			},
			"history": func(s words, id string) []string {
				return []string{s.task(id, "input-required", "", `,"history":[`+s.message("agent", bad(s), "")+`]`)}
			},
			"artifact": func(s words, id string) []string {
				return []string{s.task(id, "input-required", "", `,"artifacts":[`+s.artifact(bad(s), "")+`]`)}
			},
			"status event": func(s words, id string) []string {
				return []string{s.task(id, "working", "", ""), s.status(id, "completed", s.message("agent", bad(s), ""))}
			},
			"artifact event": func(s words, id string) []string {
				return []string{s.task(id, "working", "", ""), s.arrival(id, s.artifact(bad(s), "")), s.status(id, "completed", "")}
			},
		}
		calls := 0
		for place, docs := range places {
			for _, caller := range callersOf(i, calls) {
				for _, method := range ways {
					streamed := strings.HasSuffix(place, "event")
					if streamed && (!methodOf(method).Streams || method == wire.SubscribeToTask && agent.Version != wire.V10) {
						continue // of agents of before 1.0 the task is asked for, too
					}
					calls++
					what := fmt.Sprintf("%s, %s of %s to %s", place, method, caller, agent)
					w.given("tied", w.base, w.agent, "t", "c-t", "")
					calls++
					w.tells(docs)
					text := strings.Join(w.callWaiting(caller, method, "t").ok(t, what).docs, "")
					if strings.Contains(text, "10.9.8.7") {
						t.Errorf("%s: the client reads %s", what, text)
					}
					if strings.Contains(text, "Withheld") != strings.Contains(text, "before") {
						t.Errorf("%s: what is beside it is lost: %s", what, text)
					}
					w.agent.take()
				}
			}
		}
		noted := w.violations(calls)
		if len(noted) < calls/3 || slices.ContainsFunc(noted, func(v string) bool { return !strings.HasPrefix(v, "file_uri /") || !strings.HasSuffix(v, " true") }) {
			t.Errorf("%s: %d calls, recorded %v", agent, calls, noted)
		}
	}
}

// TestA27_Lists: a list has its tasks, without the files.
func TestA27_Lists(t *testing.T) {
	t.Parallel()
	for _, agent := range sides {
		w := in(t, speaks(agent), tied)
		w.given("tied", w.base, w.agent, "t", "c-t", "")
		w.agent.answers(func(rw http.ResponseWriter, r *record) {
			s := words{r.side()}
			task := bare(s.task(cmp.Or(r.call().TaskID, "t"), "completed", "", `,"artifacts":[`+s.artifact(s.file(inside, "", ""), "")+`]`))
			if r.call().Method.Name == wire.ListTasks {
				task = `{"tasks":[` + task + `],"nextPageToken":"","pageSize":50,"totalSize":1}`
			}
			r.say(rw, task)
		})
		got := w.utter(rpc10, wire.ListTasks, `{"includeArtifacts":true}`).ok(t, fmt.Sprint(agent))
		if strings.Contains(got.body, "10.9.8.7") || !strings.Contains(got.body, "Withheld by the gateway") {
			t.Errorf("%s: %s", agent, got.body)
		}
	}
}

// TestA27_SeveralReadings: a part is refused for whatever any parser might take from it.
func TestA27_SeveralReadings(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc10, rpc03), tied)
	for _, part := range []string{
		`{"url":"` + outside + `","file":{"uri":"` + inside + `"}}`,
		`{"file":{"uri":"` + outside + `","fileWithUri":"` + inside + `"}}`,
		`{"kind":"file","file":{"uri":"` + outside + `"},"url":"` + inside + `"}`,
		`{"text":"x","url":"` + inside + `"}`,
		`{"data":{},"URL":"` + inside + `"}`,
		`{"kind":"text","text":"x","file":{"uri":"` + inside + `","bytes":"QQ=="}}`,
		`{"u\u0072l":"\u0068ttps://10.9.8.7/"}`,
	} {
		for _, s := range []wire.Side{rpc10, rpc03} {
			params := `{"message":{"messageId":"m","role":"ROLE_USER","parts":[` + part + `]}}`
			if s == rpc03 {
				params = `{"message":{"kind":"message","messageId":"m","role":"user","parts":[` + part + `]}}`
			}
			w.utter(s, wire.SendMessage, params).refused(t, part, wire.InvalidParams)
			w.agent.silent(t, part)
			w.tells(func(s words, id string) []string {
				return []string{s.task(id, "completed", "", `,"artifacts":[`+s.artifact(part, "")+`]`)}
			})
			got := w.callWaiting(s, wire.SendMessage, "").ok(t, part)
			if strings.Contains(got.body, "10.9.8.7") || !strings.Contains(got.body, "Withheld") {
				t.Errorf("%s on %s: %s", part, s, got.body)
			}
			w.agent.take()
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
			s := words{sides[i%len(sides)]}
			w := in(t, speaks(s.Side), held(tt.rules))
			part := s.file("", "QUJDRA==", `,"mediaType":"`+kind+`"`)
			w.tells(func(s words, id string) []string {
				return []string{s.task(id, "completed", "", `,"artifacts":[`+s.artifact(part, "")+`]`)}
			})
			what := fmt.Sprintf("%s, %+v", kind, tt.rules)
			got := w.utter(s.Side, wire.SendMessage, s.sendFile(part))
			if tt.refused {
				got.refused(t, what, map[bool]*wire.Kind{false: wire.ContentType, true: wire.InvalidParams}[s.Side == grpc03])
				w.agent.silent(t, what)
				ask := w.callWaiting(s.Side, wire.SendMessage, "").ok(t, what)
				if strings.Contains(ask.body, "QUJDRA") || !strings.Contains(strings.Join(ask.docs, ""), "Withheld") {
					t.Errorf("%s: %s", what, ask.docs)
				}
				continue
			}
			if got = got.ok(t, what); !strings.Contains(strings.Join(got.docs, ""), "QUJDRA==") {
				t.Errorf("%s: %s", what, got.docs)
			}
			if noted := withoutPointers(w.violations(1)); noted != tt.noted {
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
	for _, agent := range sides {
		w := in(t, speaks(agent), held(files.Config{MaxBytes: most, MaxParts: 2}))
		s := words{agent}
		fits, large := strings.Repeat("QUJD", most/3), strings.Repeat("QUJD", most/3+1)
		w.utter(agent, wire.SendMessage, s.sendFile(s.file("", fits, ""))).ok(t, fmt.Sprint(agent))
		w.agent.take()
		tooLarge := wire.TooLarge
		if agent == grpc03 { // the code is the same
			tooLarge = wire.RateLimited
		}
		w.utter(agent, wire.SendMessage, s.sendFile(s.file("", large, ""))).
			told(t, fmt.Sprint(agent), tooLarge, "policy.fileParts.maxBytes (3000 bytes)")
		one := s.file("", "QUJD", "")
		w.utter(agent, wire.SendMessage, s.sendFile(one+","+one+","+one)).
			told(t, fmt.Sprint(agent), tooLarge, "/3: there are more files than policy.fileParts.maxParts (2)")
		w.agent.silent(t, fmt.Sprint(agent))
		w.tells(func(s words, id string) []string {
			return []string{s.task(id, "completed", "", `,"artifacts":[`+s.artifact(s.file("", large, "")+","+s.file("", fits, ""), "")+`]`)}
		})
		text := strings.Join(w.utter(agent, wire.SendMessage, s.sendFile(one)).ok(t, fmt.Sprint(agent)).docs, "")
		if strings.Contains(text, large) || !strings.Contains(text, fits) || strings.Count(text, "Withheld") != 1 {
			t.Errorf("%s: %.300s", agent, text)
		}
	}
}

// TestA27_Names: a file is written where it should be, by what its name reads as.
func TestA27_Names(t *testing.T) {
	t.Parallel()
	for i, name := range []string{"../../.ssh/authorized_keys", "/etc/cron.d/x", `..\x`, `C:\x`, "photo\u202egnp.exe", "a\x00.png", "a\r\nb", strings.Repeat("x", 300)} {
		s := words{sides[i%len(sides)]}
		w := in(t, speaks(s.Side), tied)
		w.utter(s.Side, wire.SendMessage, s.sendFile(s.file("", "QUJD", `,"filename":`+jsonText(name)))).
			told(t, name, wire.InvalidParams, "a file's name")
		w.agent.silent(t, name)
	}
}
