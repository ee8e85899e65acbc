package inspect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/grpcframe"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/files"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
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
		w := proxytest.NewGateway(t, proxytest.WithRelay, func(s *proxytest.Setup) { s.Agent.FileParts.OnViolation.Answer = tt.action })
		w.Agent.Answers(proxytest.KeepConfigs)
		task := w.NewTask("alice")
		g, _ := w.Webhook(proxytest.WebhookCalls[tt.call], task)
		for uri, want := range map[string]string{inside: "Withheld by the gateway", outside: "files.example.com"} {
			got := w.Notify(g, fmt.Sprintf(tt.doc, task, uri))
			if uri == inside && tt.status != 200 {
				proxytest.WantStatus(t, tt.doc, got, tt.status)
				continue
			}
			proxytest.WantStatus(t, tt.doc, got, 200)
			mail := w.Mail.All("")
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
	for i, agent := range proxytest.Sides {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), proxytest.WithFileRules(files.Config{OnViolation: files.Actions{Answer: files.Refuse}}))
		for _, caller := range proxytest.CallersOf(i, i) {
			what := fmt.Sprintf("%s to %s", caller, agent)
			w.AnswerIn(func(s proxytest.Words, id string) []string {
				return []string{s.Task(id, "completed", s.Message("agent", s.File(inside, "", ""), ""), "")}
			})
			got := w.CallWaiting(caller, wire.SendMessage, "")
			got.Told(t, what, proxytest.BadAnswer(caller))
			w.AnswerIn(func(s proxytest.Words, id string) []string {
				return []string{
					s.Task(id, "working", "", ""), arrival(s, id, artifact(s, s.File(inside, "", ""), "")), s.Status(id, "completed", ""),
				}
			})
			events := w.CallWaiting(caller, wire.SendStreamingMessage, "")
			events.Told(t, what, proxytest.BadAnswer(caller))
			if strings.Contains(got.Body+events.Body, "10.9.8.7") {
				t.Errorf("%s: %s %s", what, got.Body, events.Body)
			}
			w.Given("tied", w.Base, w.Agent, "t", "c-t", "")
			w.AnswerIn(func(s proxytest.Words, id string) []string {
				return []string{s.Task(id, "completed", "", `,"history":[`+s.Message("user", s.File(inside, "", ""), "")+`]`)}
			})
			text := strings.Join(w.CallWaiting(caller, wire.GetTask, "t").OK(t, what).Docs, "")
			if strings.Contains(text, "10.9.8.7") || !strings.Contains(text, "Withheld") {
				t.Errorf("%s: %s", what, text)
			}
			w.Agent.Take()
		}
	}
}

// TestA27_Stripped: a caller's file may give way to a text, too, in the words of the call.
func TestA27_Stripped(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.Sides...), proxytest.WithFileRules(files.Config{OnViolation: files.Actions{Request: files.Strip}}))
	for _, side := range proxytest.Sides {
		s := proxytest.Words{Side: side}
		w.Utter(side, wire.SendMessage, s.SendFile(s.File(inside, "", "")+","+s.File(outside, "", ""))).OK(t, fmt.Sprint(side))
		r := w.Agent.One(t)
		if body := string(r.Content); strings.Contains(body, "10.9.8.7") || !strings.Contains(body, "Withheld by the gateway") ||
			!strings.Contains(body, "files.example.com") || !strings.Contains(body, "look") {
			t.Errorf("%s: the agent got %q", side, body)
		}
	}
}

// TestA27_Reported: what is only reported passes as it is; what is off leaves no record.
func TestA27_Reported(t *testing.T) {
	t.Parallel()
	for action, noted := range map[files.Action]string{files.Report: "[file_uri false file_uri false]", files.Off: "[]"} {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithFileRules(files.Config{OnViolation: files.Actions{Request: action, Answer: action}}))
		s := proxytest.Words{Side: proxytest.RPC10}
		doc := s.Task("t", "completed", "", `,"artifacts":[`+artifact(s, s.File(inside, "", ""), "")+`]`)
		w.AnswerIn(func(proxytest.Words, string) []string { return []string{doc} })
		params := s.SendFile(s.File(inside, "", ""))
		if got := w.Utter(proxytest.RPC10, wire.SendMessage, params).OK(t, noted); got.Docs[0] != doc {
			t.Errorf("%s: %s", action, got.Docs)
		}
		if body := string(w.Agent.One(t).Content); !strings.Contains(body, params) {
			t.Errorf("%s: the agent got %s", action, body)
		}
		if got := withoutPointers(violations(w, 1)); got != noted {
			t.Errorf("%s: recorded %s", action, got)
		}
	}
}

// TestA27_GoodFilesPass: between sides that speak alike, files that may pass do so byte for
// byte, and leave no record.
func TestA27_GoodFilesPass(t *testing.T) {
	t.Parallel()
	for _, side := range proxytest.Sides {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(side), proxytest.WithTied)
		s := proxytest.Words{Side: side}
		parts := strings.Join([]string{
			s.File(outside, "", `,"mediaType":"application/pdf","filename":"Rechnung März (1).pdf"`),
			s.File("https://FILES.example.com:8443/ä b/c", "", ""),
			s.File("https://8.8.8.8/x", "", ""), s.File("https://[2606:4700:4700::1111]/x", "", ""),
			s.File("", strings.Repeat("QUJD", 30_000), `,"mediaType":"image/png","filename":"reports/q3.png"`),
			s.Data(`{"url":"https://10.0.0.1/","raw":"x","file":{"uri":"http://localhost/"}}`),
			s.Text("see http://localhost/ and file:///etc/passwd", proxytest.Meta("note", `{"url":"http://127.0.0.1"}`)),
		}, ",")
		for i, doc := range []string{
			s.Task("t", "completed", s.Message("agent", parts, ""), `,"artifacts":[`+artifact(s, parts, "")+`]`),
			arrival(s, "t", artifact(s, parts, "")),
		} {
			method := []string{wire.SendMessage, wire.SendStreamingMessage}[i]
			w.AnswerIn(func(proxytest.Words, string) []string { return []string{doc} })
			params := s.SendFile(parts)
			got := w.Utter(side, method, params).OK(t, fmt.Sprint(side))
			body := string(w.Agent.One(t).Content)
			if side.Binding == wire.GRPC {
				message, err := wire.RequestMessage(proxytest.MethodOf(method), side.Version, []byte(params))
				proxytest.Must(t, err)
				params = string(grpcframe.Append(nil, message))
				sent, err := wire.ResponseMessage(proxytest.MethodOf(method), side.Version, []byte(doc))
				proxytest.Must(t, err)
				back, err := wire.ResponseJSON(proxytest.MethodOf(method), side.Version, sent)
				proxytest.Must(t, err)
				doc = string(back)
			}
			if !strings.Contains(body, params) {
				t.Errorf("%s: the agent got %.400s", side, body)
			}
			if !proxytest.SameJSON(t, got.Docs[len(got.Docs)-1], doc) || side.Binding != wire.GRPC && got.Docs[len(got.Docs)-1] != doc {
				t.Errorf("%s: the client got %.400s", side, got.Docs)
			}
		}
		if noted := violations(w, 2); len(noted) != 0 {
			t.Errorf("%s: recorded %v", side, noted)
		}
	}
}
