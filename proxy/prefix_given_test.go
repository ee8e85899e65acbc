package proxy_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	a2apb "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/proxy/catalog"
)

// prefixes are the ways in which a gateway may be behind a path: what server.basePath says,
// and whether the path is taken off before.
var prefixes = []struct {
	here   string
	strips bool
}{{"", false}, {"", true}, {"/", true}, {"/a2a", false}}

// eachPrefix runs a test in all of them. out is where an address leads that clients are given.
func eachPrefix(t *testing.T, test func(t *testing.T, w *world, out func(string) string), edit ...func(*setup)) {
	t.Helper()
	for _, at := range prefixes {
		t.Run(fmt.Sprintf("basePath %q, strips %v", at.here, at.strips), func(t *testing.T) {
			t.Parallel()
			w := build(t, append([]func(*setup){prefixed(at.here)}, edit...)...)
			front := w.front(at.strips)
			w.base = front + "/a2a/agents/rec"
			test(t, w, func(given string) string {
				if !strings.HasPrefix(given, w.url+"/a2a/") && given != w.url+"/a2a" && !strings.HasPrefix(given, w.url+metadataOfPrefix) {
					t.Errorf("%s leads past what is in front", given)
				}
				return strings.Replace(given, w.url, front, 1)
			})
		})
	}
}

const metadataOfPrefix = "/.well-known/oauth-protected-resource/a2a"

// TestL46_Webhooks: agents are given webhooks below the path, what they deliver there
// arrives, and the caller is shown its own in its place.
func TestL46_Webhooks(t *testing.T) {
	t.Parallel()
	eachPrefix(t, func(t *testing.T, w *world, out func(string) string) {
		w.agent.answers(keeper)
		task := w.newTask("alice")
		g, _ := w.hook(hookCalls["1.0 create"], task)
		if !strings.HasPrefix(g.URL, w.url+"/a2a/push/") {
			t.Errorf("the agent was given %s", g.URL)
		}
		const doc = `{"task":{"id":"%s","contextId":"","status":{"state":"TASK_STATE_WORKING"}}}`
		wantStatus(t, "deliver", w.do("", http.MethodPost, out(g.URL), fmt.Sprintf(doc, task), g.headers()...), 200)
		if mail := w.mail.all(hookURL); len(mail) != 1 {
			t.Errorf("delivered %+v", mail)
		}
		wantStatus(t, "an unknown one", w.do("", http.MethodPost, out(g.URL[:len(g.URL)-2]+"xx"), fmt.Sprintf(doc, task), g.headers()...), 404)
		w.agent.answers(func(rw http.ResponseWriter, r *record) {
			reply(rw, r, fmt.Sprintf(`{"taskId":%q,"id":%q,"url":%q}`, task, task, g.URL))
		})
		eventually(t, "record of the calls", func() bool { return len(w.audited("call")) >= 2 })
		for _, r := range w.audited("call") {
			if path, _ := r["path"].(string); !strings.HasPrefix(path, "/a2a/") {
				t.Errorf("on record as %q", path)
			}
		}
		got := w.call("alice", "GetTaskPushNotificationConfig", fmt.Sprintf(`{"taskId":%q,"id":%[1]q}`, task))
		if !strings.Contains(got.body, hookURL) || strings.Contains(got.body, "/push/") {
			t.Errorf("the caller was shown %s", got.body)
		}
	}, relayed)
}

// TestPrefixKeys: the key set that a card's signature names is below the path.
func TestPrefixKeys(t *testing.T) {
	t.Parallel()
	eachPrefix(t, func(t *testing.T, w *world, out func(string) string) {
		card := w.do("", "GET", out(w.url+"/a2a/agents/rec/.well-known/agent-card.json"), "")
		jku := w.url + "/a2a/.well-known/jwks.json"
		kid := regexp.MustCompile(`"kid":"([^"]+)"`)
		protected := protectedOf(t, card.body)
		if !strings.Contains(protected, `"jku":"`+jku+`"`) {
			t.Fatalf("signed by %s", protected)
		}
		keys := w.do("", "GET", out(jku), "")
		if m := kid.FindStringSubmatch(protected); m == nil || keys.status != 200 || !strings.Contains(keys.body, m[1]) {
			t.Errorf("%s: %d %s", protected, keys.status, keys.body)
		}
	}, func(s *setup) { signing(t, s) })
}

// protectedOf is what the signature of a card covers beside the card.
func protectedOf(t testing.TB, card string) string {
	t.Helper()
	var c struct {
		Signatures []struct {
			Protected string `json:"protected"`
		} `json:"signatures"`
	}
	must(t, json.Unmarshal([]byte(card), &c))
	if len(c.Signatures) == 0 {
		t.Fatalf("the card has no signature: %s", card)
	}
	text, err := base64.RawURLEncoding.DecodeString(c.Signatures[0].Protected)
	must(t, err)
	return string(text)
}

// TestL46_Challenges: the document that a challenge names is where it says, be it of an agent,
// of all that belongs to none, or of what is not there.
func TestL46_Challenges(t *testing.T) {
	t.Parallel()
	eachPrefix(t, func(t *testing.T, w *world, out func(string) string) { w.challenged("", out) })
}

var resourceMetadata = regexp.MustCompile(`resource_metadata="([^"]+)"`)

// challenged follows challenges to their documents.
func (w *world) challenged(name string, out func(string) string) {
	w.Helper()
	for path, resource := range map[string]string{
		"/agents/rec": "/agents/rec", "/agents/rec/message:send": "/agents/rec", "/agents/rec/skills/read": "/agents/rec",
		"/agents/none": "/agents/none", "/a2a": "", "/a2a/message:send": "",
	} {
		got := w.do("", "POST", out(w.url+"/a2a"+path), "{}")
		m := resourceMetadata.FindStringSubmatch(fmt.Sprint(got.header["Www-Authenticate"]))
		if got.status != 401 || m == nil || m[1] != w.url+metadataOfPrefix+resource {
			w.Errorf("%s: %s: %d %v", name, path, got.status, got.header)
			continue
		}
		got = w.do("", "GET", out(m[1]), "")
		if got.status != 200 || !strings.Contains(got.body, `"resource":"`+w.url+"/a2a"+resource+`"`) {
			w.Errorf("%s: %s: %s is %d %s", name, path, m[1], got.status, got.body)
		}
	}
}

// TestPrefixCatalog: every link in the catalog, in each of its forms, leads to what is there.
func TestPrefixCatalog(t *testing.T) {
	t.Parallel()
	eachPrefix(t, func(t *testing.T, w *world, out func(string) string) {
		for _, form := range []catalog.Form{catalog.Own, catalog.Linkset, catalog.AI} {
			got := w.do("", "GET", out(w.url+"/a2a"+form.Path), "")
			links := regexp.MustCompile(regexp.QuoteMeta(w.url)+`[^"<>\\]*`).FindAllString(got.body+fmt.Sprint(got.header["Link"]), -1)
			if got.status != 200 || len(links) == 0 {
				t.Errorf("%s: %d %s", form.Path, got.status, got.body)
			}
			for _, link := range links {
				if got := w.do("", "GET", out(link), ""); got.status != 200 {
					t.Errorf("%s: %s is %d %s", form.Path, link, got.status, got.body)
				}
			}
		}
	})
}

// TestL46_NothingLeadsPast: whatever is refused, no answer leads elsewhere: there are no redirects,
// and no path that is named is one without the prefix.
func TestL46_NothingLeadsPast(t *testing.T) {
	t.Parallel()
	eachPrefix(t, func(t *testing.T, w *world, out func(string) string) {
		for _, path := range []string{"/", "/agents", "/agents/", "/agents/none", "/agents/rec/nothing", "/nothing", "/a2a/nothing", "/.well-known/nothing"} {
			for _, verb := range []string{"GET", "POST", "PUT", "DELETE"} {
				got := w.do("alice", verb, out(w.url+"/a2a"+path), "")
				if got.status >= 300 && got.status < 400 || got.header.Get("Location") != "" {
					t.Errorf("%s %s: %d to %q", verb, path, got.status, got.header.Get("Location"))
				}
			}
		}
	})
}

// TestL46_GRPCHasNoOther: gRPC is where it is without a path, and nothing else is because it claims
// to be gRPC.
func TestL46_GRPCHasNoOther(t *testing.T) {
	t.Parallel()
	for _, here := range []string{"", "/", "/a2a"} {
		w := build(t, prefixed(here))
		if _, err := a2apb.NewA2AServiceClient(w.grpcClient()).SendMessage(w.as("alice"), hi()); err != nil {
			t.Errorf("%q: %v", here, err)
		}
		for _, path := range []string{
			"/agents/rec/.well-known/agent-card.json", "/agents/rec/", "/agents", "/a2a/agents/rec/", "/.well-known/jwks.json", "/nothing",
		} {
			got, plain := w.do("alice", "GET", w.url+path, "", "Content-Type: application/grpc"), w.do("alice", "GET", w.url+path, "")
			if got.status != plain.status || got.body != plain.body {
				t.Errorf("%q: %s: %d %s, else %d", here, path, got.status, got.body, plain.status)
			}
		}
	}
}
