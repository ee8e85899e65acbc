package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/grpcframe"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/files"
)

// TestA27_Notifications: what an agent posts to a webhook is held to the same.
func TestA27_Notifications(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		action files.Action
		call   string
		doc    string // %s is the task, then the URI
		status int
	}{
		{"", "1.0 create", `{"artifactUpdate":{"taskId":%q,"contextId":"c","artifact":{"artifactId":"a","parts":[{"url":%q},{"text":"t"}]}}}`, 200},
		{"", "1.0 create", `{"task":{"id":%q,"contextId":"c","status":{"state":"TASK_STATE_COMPLETED","message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"url":%q},{"text":"t"}]}}}}`, 200},
		{"", "1.0 create", `{"kind":"task","id":%q,"contextId":"c","status":{"state":"completed"},"artifacts":[{"artifactId":"a","parts":[{"kind":"file","file":{"uri":%q}},{"kind":"text","text":"t"}]}]}`, 200},
		{"", "0.3 create", `{"task":{"id":%q,"contextId":"c","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"artifactId":"a","parts":[{"url":%q},{"text":"t"}]}]}}`, 200},
		{files.Refuse, "1.0 create", `{"artifactUpdate":{"taskId":%q,"contextId":"c","artifact":{"artifactId":"a","parts":[{"url":%q}]}}}`, 400},
	} {
		w := build(t, relayed, func(s *setup) { s.agent.FileParts.OnViolation.Answer = tt.action })
		w.agent.answers(keeper)
		task := w.newTask("alice")
		g, _ := w.hook(hookCalls[tt.call], task)
		for uri, want := range map[string]string{inside: "Withheld by the gateway", outside: "files.example.com"} {
			got := w.notify(g, fmt.Sprintf(tt.doc, task, uri))
			if uri == inside && tt.status != 200 {
				wantStatus(t, tt.doc, got, tt.status)
				continue
			}
			wantStatus(t, tt.doc, got, 200)
			mail := w.mail.all("")
			if body := string(mail[len(mail)-1].Body); strings.Contains(body, "10.9.8.7") || !strings.Contains(body, want) {
				t.Errorf("%s: delivered %s", tt.doc, body)
			}
		}
	}
}

// TestA27_Refused: an answer with such a file is none, where that is asked for. A task's
// history is no reason to withhold the task.
func TestA27_Refused(t *testing.T) {
	t.Parallel()
	for i, agent := range sides {
		w := in(t, speaks(agent), held(files.Config{OnViolation: files.Actions{Answer: files.Refuse}}))
		for _, caller := range callersOf(i, i) {
			what := fmt.Sprintf("%s to %s", caller, agent)
			w.tells(func(s words, id string) []string {
				return []string{s.task(id, "completed", s.message("agent", s.file(inside, "", ""), ""), "")}
			})
			got := w.callWaiting(caller, wire.SendMessage, "")
			got.told(t, what, badAnswer(caller))
			w.tells(func(s words, id string) []string {
				return []string{
					s.task(id, "working", "", ""), s.arrival(id, s.artifact(s.file(inside, "", ""), "")), s.status(id, "completed", ""),
				}
			})
			events := w.callWaiting(caller, wire.SendStreamingMessage, "")
			events.told(t, what, badAnswer(caller))
			if strings.Contains(got.body+events.body, "10.9.8.7") {
				t.Errorf("%s: %s %s", what, got.body, events.body)
			}
			w.given("tied", w.base, w.agent, "t", "c-t", "")
			w.tells(func(s words, id string) []string {
				return []string{s.task(id, "completed", "", `,"history":[`+s.message("user", s.file(inside, "", ""), "")+`]`)}
			})
			text := strings.Join(w.callWaiting(caller, wire.GetTask, "t").ok(t, what).docs, "")
			if strings.Contains(text, "10.9.8.7") || !strings.Contains(text, "Withheld") {
				t.Errorf("%s: %s", what, text)
			}
			w.agent.take()
		}
	}
}

// TestA27_Stripped: a caller's file may give way to a text, too, in the words of the call.
func TestA27_Stripped(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(sides...), held(files.Config{OnViolation: files.Actions{Request: files.Strip}}))
	for _, side := range sides {
		s := words{side}
		w.utter(side, wire.SendMessage, s.sendFile(s.file(inside, "", "")+","+s.file(outside, "", ""))).ok(t, fmt.Sprint(side))
		r := w.agent.one(t)
		if body := string(r.body); strings.Contains(body, "10.9.8.7") || !strings.Contains(body, "Withheld by the gateway") ||
			!strings.Contains(body, "files.example.com") || !strings.Contains(body, "look") {
			t.Errorf("%s: the agent got %q", side, body)
		}
	}
}

// TestA27_Reported: what is only reported passes as it is; what is off leaves no record.
func TestA27_Reported(t *testing.T) {
	t.Parallel()
	for action, noted := range map[files.Action]string{files.Report: "[file_uri false file_uri false]", files.Off: "[]"} {
		w := in(t, speaks(rpc10), held(files.Config{OnViolation: files.Actions{Request: action, Answer: action}}))
		s := words{rpc10}
		doc := s.task("t", "completed", "", `,"artifacts":[`+s.artifact(s.file(inside, "", ""), "")+`]`)
		w.tells(func(words, string) []string { return []string{doc} })
		params := s.sendFile(s.file(inside, "", ""))
		if got := w.utter(rpc10, wire.SendMessage, params).ok(t, noted); got.docs[0] != doc {
			t.Errorf("%s: %s", action, got.docs)
		}
		if body := string(w.agent.one(t).body); !strings.Contains(body, params) {
			t.Errorf("%s: the agent got %s", action, body)
		}
		if got := withoutPointers(w.violations(1)); got != noted {
			t.Errorf("%s: recorded %s", action, got)
		}
	}
}

// TestA27_GoodFilesPass: between sides that speak alike, files that may pass do so byte for
// byte, and leave no record.
func TestA27_GoodFilesPass(t *testing.T) {
	t.Parallel()
	for _, side := range sides {
		w := in(t, speaks(side), tied)
		s := words{side}
		parts := strings.Join([]string{
			s.file(outside, "", `,"mediaType":"application/pdf","filename":"Rechnung März (1).pdf"`),
			s.file("https://FILES.example.com:8443/ä b/c", "", ""),
			s.file("https://8.8.8.8/x", "", ""), s.file("https://[2606:4700:4700::1111]/x", "", ""),
			s.file("", strings.Repeat("QUJD", 30_000), `,"mediaType":"image/png","filename":"reports/q3.png"`),
			s.data(`{"url":"https://10.0.0.1/","raw":"x","file":{"uri":"http://localhost/"}}`),
			s.text("see http://localhost/ and file:///etc/passwd", meta("note", `{"url":"http://127.0.0.1"}`)),
		}, ",")
		for i, doc := range []string{
			s.task("t", "completed", s.message("agent", parts, ""), `,"artifacts":[`+s.artifact(parts, "")+`]`),
			s.arrival("t", s.artifact(parts, "")),
		} {
			method := []string{wire.SendMessage, wire.SendStreamingMessage}[i]
			w.tells(func(words, string) []string { return []string{doc} })
			params := s.sendFile(parts)
			got := w.utter(side, method, params).ok(t, fmt.Sprint(side))
			body := string(w.agent.one(t).body)
			if side.Binding == wire.GRPC {
				message, err := wire.RequestMessage(methodOf(method), side.Version, []byte(params))
				must(t, err)
				params = string(grpcframe.Append(nil, message))
				sent, err := wire.ResponseMessage(methodOf(method), side.Version, []byte(doc))
				must(t, err)
				back, err := wire.ResponseJSON(methodOf(method), side.Version, sent)
				must(t, err)
				doc = string(back)
			}
			if !strings.Contains(body, params) {
				t.Errorf("%s: the agent got %.400s", side, body)
			}
			if !sameJSON(t, got.docs[len(got.docs)-1], doc) || side.Binding != wire.GRPC && got.docs[len(got.docs)-1] != doc {
				t.Errorf("%s: the client got %.400s", side, got.docs)
			}
		}
		if noted := w.violations(2); len(noted) != 0 {
			t.Errorf("%s: recorded %v", side, noted)
		}
	}
}
