package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn/jwt"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/credentials"
)

// permits lets links of the agent's lead to one host, to one domain, and to an address.
func permits(s *setup) {
	tied(s)
	s.agent.Authorization.Hosts = []string{"Login.example", "*.corp.example", "[2001:db8::1]"}
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
	w := in(t, speaks(rpc10), permits)
	for i, link := range phishing {
		caller, way := sides[i%6], ways[i%len(ways)]
		for place, said := range places(words{rpc10}, link) {
			what := fmt.Sprintf("%q in %s, %s on %s", link, place, way, caller)
			w.given("tied", w.base, w.agent, "t", "c-t", "")
			w.tells(func(s words, _ string) []string { return []string{s.task("t", "auth-required", said, "")} })
			got := w.callWaiting(caller, way, "t")
			got.refused(t, what, badAnswer(caller))
			if len(got.docs) > 0 || strings.Contains(strings.ToLower(got.body), "evil") || strings.Contains(got.body, "corp.example") {
				t.Errorf("%s: the client reads %s", what, got.body)
			}
			if caller.Binding != wire.GRPC && !methodOf(way).Streams && got.status != http.StatusBadGateway {
				t.Errorf("%s: status %d", what, got.status)
			}
			w.agent.take()
		}
	}
}

// places are messages that have a text somewhere in them.
func places(s words, text string) map[string]string {
	quoted := fmt.Sprintf("%q", text)
	return map[string]string{
		"text":             s.message("agent", s.text("go to "+text+" now", ""), ""),
		"data":             s.message("agent", s.data(`{"auth":[{"uri":`+quoted+`}]}`), ""),
		"metadata":         s.message("agent", s.text("hi", ""), meta("urn:x", `{"a":[`+quoted+`]}`)),
		"metadata of part": s.message("agent", s.text("hi", meta("urn:x", quoted)), ""),
	}
}

// TestA24_EveryShape: whatever the agent speaks, and however the task is shown: behind
// other events, in a list, and at the beginning of a subscription.
func TestA24_EveryShape(t *testing.T) {
	t.Parallel()
	for i, agent := range sides {
		w := in(t, speaks(agent), permits)
		for _, caller := range callersOf(i, i) {
			for _, method := range append(ways, wire.ListTasks) {
				if method == wire.ListTasks && caller.Version != wire.V10 {
					continue
				}
				what := fmt.Sprintf("%s %s to %s", method, caller, agent)
				w.given("tied", w.base, w.agent, "t", "c-t", "")
				w.evil()
				got := w.callWaiting(caller, method, "t")
				got.refused(t, what, badAnswer(caller))
				if strings.Contains(got.body, "evil") {
					t.Errorf("%s: the client reads %s", what, got.body)
				}
				r := w.audited("call")
				if hosts := fmt.Sprint(r[len(r)-1]["demanded_hosts"]); hosts != "[login.example evil.test]" {
					t.Errorf("%s: recorded %s", what, hosts)
				}
				w.agent.take()
			}
		}
	}
}

// evil makes the agent one that shows a link elsewhere behind a good one.
func (w *world) evil() {
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		s, c := words{r.side()}, r.call()
		id := c.TaskID
		if id == "" {
			id = "task-" + r.Header.Get("X-Request-Id")
		}
		said := s.message("agent", s.data(`{"auth":"https://login.example/a https://evil.test/b"}`), "")
		task := s.task(id, waitsIn(s), said, "")
		switch {
		case c.Method.Name == wire.ListTasks:
			r.say(rw, `{"tasks":[`+bare(s.task("t", waitsIn(s), said, ""))+`],"nextPageToken":"","pageSize":50,"totalSize":1}`)
		case c.Method.Streams:
			r.say(rw, s.status(id, "working", ""), s.status(id, waitsIn(s), said))
		case c.Method.Subject == wire.OfTask:
			r.say(rw, bare(task))
		default:
			r.say(rw, task)
		}
	})
}

// TestA24_ListsOfOthers: what somebody else's task says is no reason to refuse a list.
func TestA24_ListsOfOthers(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc10), permits)
	w.given("alice", w.base, w.agent, "t", "c-t", "")
	w.evil()
	got := w.callWaiting(rpc10, wire.ListTasks, "").ok(t, "list")
	if strings.Contains(got.body, "evil") {
		t.Errorf("%s", got.body)
	}
}

// TestA24_GoodLinks: links that lead where they may pass as they are, as do all where
// nobody has said where they may lead; reported ones are on record.
func TestA24_GoodLinks(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		edit  func(*setup)
		links []string
		hosts string
	}{
		"permitted": {permits, []string{
			"https://login.example/a?next=https://evil.test/", "https://LOGIN.example:8443", "https://login.example./",
			"https://a.b.corp.example/", "https://[2001:db8::1]:1/",
		}, "[login.example a.b.corp.example 2001:db8::1]"},
		"issuer": {func(s *setup) {
			permits(s)
			s.authn.OIDC = []jwt.Issuer{{Issuer: "http://127.0.0.1:1", Audiences: []string{"x"}}}
		}, []string{"https://127.0.0.1:7/authorize"}, "[127.0.0.1]"},
		"any host": {tied, []string{"https://evil.test/"}, "[evil.test]"},
		"reported": {func(s *setup) {
			permits(s)
			s.agent.Authorization.Links = "report"
		}, []string{"https://evil.test/", "https://a@b.test/"}, "[evil.test ?]"},
	} {
		w := in(t, speaks(rpc10), tt.edit)
		said := words{rpc10}.message("agent", words{rpc10}.text(strings.Join(tt.links, " "), ""), "")
		doc := words{rpc10}.task("t", "auth-required", said, "")
		w.tells(func(words, string) []string { return []string{doc} })
		for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage} {
			if got := w.callWaiting(rpc10, method, "").ok(t, name); got.docs[0] != doc {
				t.Errorf("%s: %s", name, got.docs)
			}
		}
		if hosts := fmt.Sprint(w.recorded(1)["demanded_hosts"]); hosts != tt.hosts {
			t.Errorf("%s: recorded %s", name, hosts)
		}
	}
}

// TestA24_NoCredentialForPhishing: a task with such a link is not answered either.
func TestA24_NoCredentialForPhishing(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc10), permits, func(s *setup) {
		s.agent.Credentials = []credentials.Credential{{Header: crmHeader, Value: secret.New("token"), On: "auth-required"}}
	})
	for _, method := range ways {
		w.given("tied", w.base, w.agent, "t", "c-t", "")
		w.evil()
		w.callWaiting(rpc10, method, "t").refused(t, method, wire.BadAgentResponse)
		if replies, _ := shows(w.agent.take()); len(replies) != 0 {
			t.Errorf("%s: the agent heard %s", method, replies[0].body)
		}
	}
}
