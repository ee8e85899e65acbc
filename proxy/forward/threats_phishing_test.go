package forward_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn/jwt"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/credentials"
)

// permits lets links of the agent's lead to one host, to one domain, and to an address.
func permits(s *proxytest.Setup) {
	proxytest.WithTied(s)
	s.Agent.Authorization.Hosts = []string{"Login.example", "*.corp.example", "[2001:db8::1]"}
}

// phishing are links that lead, or may lead some client, somewhere else.
var phishing = []string{
	"https://evil.test/login",
	"http://evil.test:8443/login",
	"HTTPS://EVIL.TEST",
	"https://login.example@evil.test/",
	"https://login.example:443@evil.test/",
	"https://user@login.example/",
	"https://login.example.evil.test/",
	"https://evil-login.example/",
	"https://evil.test#@login.example/",
	"https://evil.test?https://login.example/",
	`https://evil.test\@login.example/`,
	"https:/evil.test/",
	"https:evil.test\nhttps://evil.test",
	`https:\\evil.test\`,
	"https://xn--lgin-8qa.example/",
	"https://lögin.example/",
	"https://evil.test\u2100.corp.example/",
	"https://evil.test\uff0f.corp.example/",
	"https://corp.example/",
	"https://notcorp.example/",
	"https://corp.example.evil.test/",
	"https://login.example../",
	"https://[2001:db8::2]/",
	"https://[::ffff:203.0.113.9]/",
	"https://3405803785/",
	"evil://callback/login.example",
	"[login here](https://evil.test/a)",
	"<a href='https://evil.test'>https://login.example</a>",
}

// TestA24_PhishingLinks: an agent that has been taken over asks the user to log in
// somewhere else, and the user never reads where.
func TestA24_PhishingLinks(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), permits)
	for i, link := range phishing {
		caller, way := proxytest.Sides[i%6], proxytest.WaysToWait[i%len(proxytest.WaysToWait)]
		for place, said := range places(proxytest.Words{Side: proxytest.RPC10}, link) {
			what := fmt.Sprintf("%q in %s, %s on %s", link, place, way, caller)
			w.Given("tied", w.Base, w.Agent, "t", "c-t", "")
			w.AnswerIn(func(s proxytest.Words, _ string) []string { return []string{s.Task("t", "auth-required", said, "")} })
			got := w.CallWaiting(caller, way, "t")
			got.Refused(t, what, proxytest.BadAnswer(caller))
			if len(got.Docs) > 0 || strings.Contains(strings.ToLower(got.Body), "evil") || strings.Contains(got.Body, "corp.example") {
				t.Errorf("%s: the client reads %s", what, got.Body)
			}
			if caller.Binding != wire.GRPC && !proxytest.MethodOf(way).Streams && got.Status != http.StatusBadGateway {
				t.Errorf("%s: status %d", what, got.Status)
			}
			w.Agent.Take()
		}
	}
}

// places are messages that have a text somewhere in them.
func places(s proxytest.Words, text string) map[string]string {
	quoted := fmt.Sprintf("%q", text)
	return map[string]string{
		"text":             s.Message("agent", s.Text("go to "+text+" now", ""), ""),
		"data":             s.Message("agent", s.Data(`{"auth":[{"uri":`+quoted+`}]}`), ""),
		"metadata":         s.Message("agent", s.Text("hi", ""), proxytest.Meta("urn:x", `{"a":[`+quoted+`]}`)),
		"metadata of part": s.Message("agent", s.Text("hi", proxytest.Meta("urn:x", quoted)), ""),
	}
}

// TestA24_EveryShape: whatever the agent speaks, and however the task is shown: behind
// other events, in a list, and at the beginning of a subscription.
func TestA24_EveryShape(t *testing.T) {
	t.Parallel()
	for i, agent := range proxytest.Sides {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), permits)
		for _, caller := range proxytest.CallersOf(i, i) {
			for _, method := range append(proxytest.WaysToWait, wire.ListTasks) {
				if method == wire.ListTasks && caller.Version != wire.V10 {
					continue
				}
				what := fmt.Sprintf("%s %s to %s", method, caller, agent)
				w.Given("tied", w.Base, w.Agent, "t", "c-t", "")
				evil(w)
				got := w.CallWaiting(caller, method, "t")
				got.Refused(t, what, proxytest.BadAnswer(caller))
				if strings.Contains(got.Body, "evil") {
					t.Errorf("%s: the client reads %s", what, got.Body)
				}
				r := w.Audited("call")
				if hosts := fmt.Sprint(r[len(r)-1]["demanded_hosts"]); hosts != "[login.example evil.test]" {
					t.Errorf("%s: recorded %s", what, hosts)
				}
				w.Agent.Take()
			}
		}
	}
}

// evil makes the agent one that shows a link elsewhere behind a good one.
func evil(w *proxytest.Gateway) {
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		s, c := proxytest.Words{Side: r.Side()}, r.Call()
		id := c.TaskID
		if id == "" {
			id = "task-" + r.Header.Get("X-Request-Id")
		}
		said := s.Message("agent", s.Data(`{"auth":"https://login.example/a https://evil.test/b"}`), "")
		task := s.Task(id, waitsIn(s), said, "")
		switch {
		case c.Method.Name == wire.ListTasks:
			r.Say(rw, `{"tasks":[`+proxytest.BareTask(s.Task("t", waitsIn(s), said, ""))+`],"nextPageToken":"","pageSize":50,"totalSize":1}`)
		case c.Method.Streams:
			r.Say(rw, s.Status(id, "working", ""), s.Status(id, waitsIn(s), said))
		case c.Method.Subject == wire.OfTask:
			r.Say(rw, proxytest.BareTask(task))
		default:
			r.Say(rw, task)
		}
	})
}

// TestA24_ListsOfOthers: what somebody else's task says is no reason to refuse a list.
func TestA24_ListsOfOthers(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), permits)
	w.Given("alice", w.Base, w.Agent, "t", "c-t", "")
	evil(w)
	got := w.CallWaiting(proxytest.RPC10, wire.ListTasks, "").OK(t, "list")
	if strings.Contains(got.Body, "evil") {
		t.Errorf("%s", got.Body)
	}
}

// TestA24_GoodLinks: links that lead where they may pass as they are, as do all where
// nobody has said where they may lead; reported ones are on record.
func TestA24_GoodLinks(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		edit  func(*proxytest.Setup)
		links []string
		hosts string
	}{
		"permitted": {permits, []string{
			"https://login.example/a?next=https://evil.test/", "https://LOGIN.example:8443", "https://login.example./",
			"https://a.b.corp.example/", "https://[2001:db8::1]:1/",
		}, "[login.example a.b.corp.example 2001:db8::1]"},
		"issuer": {func(s *proxytest.Setup) {
			permits(s)
			s.Authn.OIDC = []jwt.Issuer{{Issuer: "http://127.0.0.1:1", Audiences: []string{"x"}}}
		}, []string{"https://127.0.0.1:7/authorize"}, "[127.0.0.1]"},
		"any host": {proxytest.WithTied, []string{"https://evil.test/"}, "[evil.test]"},
		"reported": {func(s *proxytest.Setup) {
			permits(s)
			s.Agent.Authorization.Links = "report"
		}, []string{"https://evil.test/", "https://a@b.test/"}, "[evil.test ?]"},
	} {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), tt.edit)
		said := proxytest.Words{Side: proxytest.RPC10}.Message("agent", proxytest.Words{Side: proxytest.RPC10}.Text(strings.Join(tt.links, " "), ""), "")
		doc := proxytest.Words{Side: proxytest.RPC10}.Task("t", "auth-required", said, "")
		w.AnswerIn(func(proxytest.Words, string) []string { return []string{doc} })
		for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage} {
			if got := w.CallWaiting(proxytest.RPC10, method, "").OK(t, name); got.Docs[0] != doc {
				t.Errorf("%s: %s", name, got.Docs)
			}
		}
		if hosts := fmt.Sprint(w.RecordOf(1)["demanded_hosts"]); hosts != tt.hosts {
			t.Errorf("%s: recorded %s", name, hosts)
		}
	}
}

// TestA24_NoCredentialForPhishing: a task with such a link is not answered either.
func TestA24_NoCredentialForPhishing(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), permits, func(s *proxytest.Setup) {
		s.Agent.Credentials = []credentials.Credential{{Header: proxytest.CRMHeader, Value: secret.New("token"), On: "auth-required"}}
	})
	for _, method := range proxytest.WaysToWait {
		w.Given("tied", w.Base, w.Agent, "t", "c-t", "")
		evil(w)
		w.CallWaiting(proxytest.RPC10, method, "t").Refused(t, method, wire.BadAgentResponse)
		if replies, _ := shows(w.Agent.Take()); len(replies) != 0 {
			t.Errorf("%s: the agent heard %s", method, replies[0].Content)
		}
	}
}
