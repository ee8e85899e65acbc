package intake_test

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
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// prefixes are the ways in which a gateway may be behind a path: what server.basePath says,
// and whether the path is taken off before.
var prefixes = []struct {
	here   string
	strips bool
}{{"", false}, {"", true}, {"/", true}, {"/a2a", false}}

// eachPrefix runs a test in all of them. out is where an address leads that clients are given.
func eachPrefix(t *testing.T, test func(t *testing.T, w *proxytest.Gateway, out func(string) string), edit ...func(*proxytest.Setup)) {
	t.Helper()
	for _, at := range prefixes {
		t.Run(fmt.Sprintf("basePath %q, strips %v", at.here, at.strips), func(t *testing.T) {
			t.Parallel()
			w := proxytest.NewGateway(t, append([]func(*proxytest.Setup){prefixed(at.here)}, edit...)...)
			front := front(w, at.strips)
			w.Base = front + "/a2a/agents/rec"
			test(t, w, func(given string) string {
				if !strings.HasPrefix(given, w.URL+"/a2a/") && given != w.URL+"/a2a" && !strings.HasPrefix(given, w.URL+metadataOfPrefix) {
					t.Errorf("%s leads past what is in front", given)
				}
				return strings.Replace(given, w.URL, front, 1)
			})
		})
	}
}

const metadataOfPrefix = "/.well-known/oauth-protected-resource/a2a"

// TestL46_Webhooks: agents are given webhooks below the path, what they deliver there
// arrives, and the caller is shown its own in its place.
func TestL46_Webhooks(t *testing.T) {
	t.Parallel()
	eachPrefix(t, func(t *testing.T, w *proxytest.Gateway, out func(string) string) {
		w.Agent.Answers(proxytest.KeepConfigs)
		task := w.NewTask("alice")
		g, _ := w.Webhook(proxytest.WebhookCalls["1.0 create"], task)
		if !strings.HasPrefix(g.URL, w.URL+"/a2a/push/") {
			t.Errorf("the agent was given %s", g.URL)
		}
		const doc = `{"task":{"id":"%s","contextId":"","status":{"state":"TASK_STATE_WORKING"}}}`
		proxytest.WantStatus(t, "deliver", w.Do("", http.MethodPost, out(g.URL), fmt.Sprintf(doc, task), g.Headers()...), 200)
		if mail := w.Mail.All(proxytest.WebhookURL); len(mail) != 1 {
			t.Errorf("delivered %+v", mail)
		}
		proxytest.WantStatus(t, "an unknown one", w.Do("", http.MethodPost, out(g.URL[:len(g.URL)-2]+"xx"), fmt.Sprintf(doc, task), g.Headers()...), 404)
		w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
			proxytest.Respond(rw, r, fmt.Sprintf(`{"taskId":%q,"id":%q,"url":%q}`, task, task, g.URL))
		})
		proxytest.Eventually(t, "record of the calls", func() bool { return len(w.Audited("call")) >= 2 })
		for _, r := range w.Audited("call") {
			if path, _ := r["path"].(string); !strings.HasPrefix(path, "/a2a/") {
				t.Errorf("on record as %q", path)
			}
		}
		got := w.Call("alice", "GetTaskPushNotificationConfig", fmt.Sprintf(`{"taskId":%q,"id":%[1]q}`, task))
		if !strings.Contains(got.Body, proxytest.WebhookURL) || strings.Contains(got.Body, "/push/") {
			t.Errorf("the caller was shown %s", got.Body)
		}
	}, proxytest.WithRelay)
}

// TestPrefixKeys: the key set that a card's signature names is below the path.
func TestPrefixKeys(t *testing.T) {
	t.Parallel()
	eachPrefix(t, func(t *testing.T, w *proxytest.Gateway, out func(string) string) {
		card := w.Do("", "GET", out(w.URL+"/a2a/agents/rec/.well-known/agent-card.json"), "")
		jku := w.URL + "/a2a/.well-known/jwks.json"
		kid := regexp.MustCompile(`"kid":"([^"]+)"`)
		protected := protectedOf(t, card.Body)
		if !strings.Contains(protected, `"jku":"`+jku+`"`) {
			t.Fatalf("signed by %s", protected)
		}
		keys := w.Do("", "GET", out(jku), "")
		if m := kid.FindStringSubmatch(protected); m == nil || keys.Status != 200 || !strings.Contains(keys.Body, m[1]) {
			t.Errorf("%s: %d %s", protected, keys.Status, keys.Body)
		}
	}, func(s *proxytest.Setup) { proxytest.WithSignedCards(t, s) })
}

// protectedOf is what the signature of a card covers beside the card.
func protectedOf(t testing.TB, card string) string {
	t.Helper()
	var c struct {
		Signatures []struct {
			Protected string `json:"protected"`
		} `json:"signatures"`
	}
	proxytest.Must(t, json.Unmarshal([]byte(card), &c))
	if len(c.Signatures) == 0 {
		t.Fatalf("the card has no signature: %s", card)
	}
	text, err := base64.RawURLEncoding.DecodeString(c.Signatures[0].Protected)
	proxytest.Must(t, err)
	return string(text)
}

// TestL46_Challenges: the document that a challenge names is where it says, be it of an agent,
// of all that belongs to none, or of what is not there.
func TestL46_Challenges(t *testing.T) {
	t.Parallel()
	eachPrefix(t, func(t *testing.T, w *proxytest.Gateway, out func(string) string) { challenged(w, "", out) })
}

var resourceMetadata = regexp.MustCompile(`resource_metadata="([^"]+)"`)

// challenged follows challenges to their documents.
func challenged(w *proxytest.Gateway, name string, out func(string) string) {
	w.Helper()
	for path, resource := range map[string]string{
		"/agents/rec": "/agents/rec", "/agents/rec/message:send": "/agents/rec", "/agents/rec/skills/read": "/agents/rec",
		"/agents/none": "/agents/none", "/a2a": "", "/a2a/message:send": "",
	} {
		got := w.Do("", "POST", out(w.URL+"/a2a"+path), "{}")
		m := resourceMetadata.FindStringSubmatch(fmt.Sprint(got.Header["Www-Authenticate"]))
		if got.Status != 401 || m == nil || m[1] != w.URL+metadataOfPrefix+resource {
			w.Errorf("%s: %s: %d %v", name, path, got.Status, got.Header)
			continue
		}
		got = w.Do("", "GET", out(m[1]), "")
		if got.Status != 200 || !strings.Contains(got.Body, `"resource":"`+w.URL+"/a2a"+resource+`"`) {
			w.Errorf("%s: %s: %s is %d %s", name, path, m[1], got.Status, got.Body)
		}
	}
}

// TestPrefixCatalog: every link in the catalog, in each of its forms, leads to what is there.
func TestPrefixCatalog(t *testing.T) {
	t.Parallel()
	eachPrefix(t, func(t *testing.T, w *proxytest.Gateway, out func(string) string) {
		for _, form := range []catalog.Form{catalog.Own, catalog.Linkset, catalog.AI} {
			got := w.Do("", "GET", out(w.URL+"/a2a"+form.Path), "")
			links := regexp.MustCompile(regexp.QuoteMeta(w.URL)+`[^"<>\\]*`).FindAllString(got.Body+fmt.Sprint(got.Header["Link"]), -1)
			if got.Status != 200 || len(links) == 0 {
				t.Errorf("%s: %d %s", form.Path, got.Status, got.Body)
			}
			for _, link := range links {
				if got := w.Do("", "GET", out(link), ""); got.Status != 200 {
					t.Errorf("%s: %s is %d %s", form.Path, link, got.Status, got.Body)
				}
			}
		}
	})
}

// TestL46_NothingLeadsPast: whatever is refused, no answer leads elsewhere: there are no redirects,
// and no path that is named is one without the prefix.
func TestL46_NothingLeadsPast(t *testing.T) {
	t.Parallel()
	eachPrefix(t, func(t *testing.T, w *proxytest.Gateway, out func(string) string) {
		for _, path := range []string{"/", "/agents", "/agents/", "/agents/none", "/agents/rec/nothing", "/nothing", "/a2a/nothing", "/.well-known/nothing"} {
			for _, verb := range []string{"GET", "POST", "PUT", "DELETE"} {
				got := w.Do("alice", verb, out(w.URL+"/a2a"+path), "")
				if got.Status >= 300 && got.Status < 400 || got.Header.Get("Location") != "" {
					t.Errorf("%s %s: %d to %q", verb, path, got.Status, got.Header.Get("Location"))
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
		w := proxytest.NewGateway(t, prefixed(here))
		if _, err := a2apb.NewA2AServiceClient(w.GRPCClient()).SendMessage(w.As("alice"), proxytest.Hello()); err != nil {
			t.Errorf("%q: %v", here, err)
		}
		for _, path := range []string{
			"/agents/rec/.well-known/agent-card.json", "/agents/rec/", "/agents", "/a2a/agents/rec/", "/.well-known/jwks.json", "/nothing",
		} {
			got, plain := w.Do("alice", "GET", w.URL+path, "", "Content-Type: application/grpc"), w.Do("alice", "GET", w.URL+path, "")
			if got.Status != plain.Status || got.Body != plain.Body {
				t.Errorf("%q: %s: %d %s, else %d", here, path, got.Status, got.Body, plain.Status)
			}
		}
	}
}
