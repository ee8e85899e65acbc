package proxy_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/catalog"
)

// shelved is what the tests read of GET /agents.
type shelved struct {
	Agents []catalog.About `json:"agents"`
	Total  int             `json:"total"`
	Next   string          `json:"next"`
}

// browse asks for agents.
func (w *world) browse(who, query string) shelved {
	w.Helper()
	got := w.do(who, "GET", w.url+"/agents"+query, "")
	var l shelved
	if err := json.Unmarshal([]byte(got.body), &l); err != nil || got.status != http.StatusOK {
		w.Fatalf("%s %q: %d %s (%v)", who, query, got.status, got.body, err)
	}
	return l
}

// names are agents and the skills that are listed of them, as in "rec: read, write it".
func (l shelved) names() []string {
	names := []string{}
	for i := range l.Agents {
		var skills []string
		for _, s := range l.Agents[i].Skills {
			skills = append(skills, s.ID)
		}
		names = append(names, l.Agents[i].ID+": "+strings.Join(skills, ", "))
	}
	return names
}

// market is a world whose agents are for different callers.
func market(t testing.TB, edit ...func(*setup)) *world {
	t.Helper()
	return build(t, append([]func(*setup){func(s *setup) {
		more := func(id string, visibility card.Visibility, skills ...agents.SkillConfig) {
			a := agents.Config{ID: id, Skills: skills}
			a.Card.URL, a.Card.Visibility = s.agent.Card.URL, visibility
			s.more = append(s.more, a)
		}
		more("caller", card.Caller)
		more("none", card.None)
		more("hides", card.Public, agents.SkillConfig{ID: "read"}, agents.SkillConfig{ID: "write it", Hidden: true})
		more("alices", card.Caller)
		s.bound = map[string]string{"tied": "rec"}
		s.policy = policy.Config{Rules: []policy.Rule{
			{Name: "alice", Effect: "allow", Subjects: []string{"alice", "tied"}},
			{Name: "bob", Effect: "allow", Agents: []string{"rec", "caller", "hides"}, Skills: []string{"read"}, Subjects: []string{"bob"}},
			{Name: "not bob", Effect: "deny", Agents: []string{"caller"}, Skills: []string{"*"}, Subjects: []string{"bob"}},
		}}
	}}, edit...)...)
}

// TestA16_Catalog: a caller is told of the agents and skills that caller may use, by each
// document and by no search of more.
func TestA16_Catalog(t *testing.T) {
	t.Parallel()
	for access, strangers := range map[catalog.Access][]string{
		"": nil, catalog.Caller: nil, catalog.Public: {"hides: read", "rec: read, write it"},
	} {
		t.Run("access "+string(access), func(t *testing.T) {
			t.Parallel()
			w := market(t, func(s *setup) { s.catalog.Access = access })
			for who, want := range map[string][]string{
				"alice":   {"alices: read, write it", "caller: read, write it", "hides: read, write it", "rec: read, write it"},
				"bob":     {"hides: read", "rec: read"},
				"tied":    {"rec: read, write it"},
				"mallory": {},
				"":        strangers,
			} {
				if want == nil {
					wantStatus(t, "a stranger", w.do("", "GET", w.url+"/agents", ""), 401)
					continue
				}
				for range 2 { // made, and remembered
					l := w.browse(who, "")
					if diff := cmp.Diff(want, l.names()); diff != "" || l.Total != len(want) {
						t.Errorf("%q: total %d (-want +got):\n%s", who, l.Total, diff)
					}
				}
				w.searchFinds(who, want)
				w.documentsAgree(who, want)
			}
		})
	}
}

// searchFinds makes sure that what is not listed cannot be found.
func (w *world) searchFinds(who string, want []string) {
	w.Helper()
	for query, has := range map[string]string{
		"?skill=write+it": "write it", "?q=write": "write it", "?q=alices": "alices", "?extension=urn:declared": "",
		"?q=none": "none:", "?after=alice": "", "?skill=read": "read", "?q=caller": "caller:",
	} {
		var fit []string
		for _, line := range want {
			if strings.Contains(line, has) {
				fit = append(fit, line)
			}
		}
		if l := w.browse(who, query); !slices.Equal(l.names(), fit) || l.Total != len(fit) {
			w.Errorf("%q %s: %v, total %d, want %v", who, query, l.names(), l.Total, fit)
		}
	}
}

// documentsAgree makes sure that the other documents list the same agents.
func (w *world) documentsAgree(who string, want []string) {
	w.Helper()
	for path, mark := range map[string]string{"api-catalog": `"anchor":"%s"`, "ai-catalog.json": `"identifier":"%s"`} {
		got := w.do(who, "GET", w.url+"/.well-known/"+path, "")
		wantStatus(w, path, got, 200)
		for _, id := range []string{"rec", "caller", "none", "hides", "alices"} {
			listed := slices.ContainsFunc(want, func(line string) bool { return strings.HasPrefix(line, id+":") })
			if strings.Contains(got.body, fmt.Sprintf(mark, w.url+"/agents/"+id)) != listed {
				w.Errorf("%q %s: %s is listed: %v, in %s", who, path, id, !listed, got.body)
			}
		}
	}
}

// TestL42_CatalogIsNotShared: what is for one caller is nobody else's to keep.
func TestL42_CatalogIsNotShared(t *testing.T) {
	t.Parallel()
	w := market(t, func(s *setup) { s.catalog.Access = catalog.Public })
	for _, path := range []string{"/agents", "/.well-known/api-catalog", "/.well-known/ai-catalog.json"} {
		for _, who := range []string{"alice", "", "bob", "mallory"} {
			got := w.do(who, "GET", w.url+path, "")
			wantStatus(t, path, got, 200)
			if want := "X-Api-Key"; !strings.Contains(got.header.Get("Vary"), want) {
				t.Errorf("%s %q: Vary %q", path, who, got.header.Get("Vary"))
			}
			control, tag := got.header.Get("Cache-Control"), got.header.Get("Etag")
			if who != "" {
				if control != "private, no-store" || tag != "" {
					t.Errorf("%s %q: Cache-Control %q, ETag %q", path, who, control, tag)
				}
				if again := w.do(who, "GET", w.url+path, "", "If-None-Match: *"); again.status != 200 || again.body != got.body {
					t.Errorf("%s %q: %d", path, who, again.status)
				}
				continue
			}
			if control != "public, max-age=60" || tag == "" {
				t.Errorf("%s: Cache-Control %q, ETag %q", path, control, tag)
			}
			wantStatus(t, path, w.do("", "GET", w.url+path, "", "If-None-Match: "+tag), 304)
			if other := w.do("", "GET", w.url+path+"?q=hides", "").header.Get("Etag"); other == tag {
				t.Errorf("%s: two answers share the tag %s", path, tag)
			}
		}
	}
}

// TestCatalogHead: a HEAD request is answered alike, without a body, and says where the
// API catalog is (RFC 9727 §2).
func TestCatalogHead(t *testing.T) {
	t.Parallel()
	w := market(t, func(s *setup) { s.catalog.Page = 2 })
	for path, media := range map[string]string{
		"/agents":                      "application/json",
		"/.well-known/api-catalog":     `application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"`,
		"/.well-known/ai-catalog.json": "application/ai-catalog+json",
	} {
		get, head := w.do("alice", "GET", w.url+path, ""), w.do("alice", "HEAD", w.url+path, "")
		for _, name := range []string{"Content-Type", "Content-Length", "Cache-Control", "Link"} {
			if g, h := get.header[name], head.header[name]; !slices.Equal(g, h) || len(g) == 0 {
				t.Errorf("%s: %s of GET %q, of HEAD %q", path, name, g, h)
			}
		}
		if head.status != 200 || head.body != "" || get.header.Get("Content-Type") != media {
			t.Errorf("%s: %d %q %q", path, head.status, head.body, get.header.Get("Content-Type"))
		}
		if link := get.header.Get("Link"); !strings.HasPrefix(link, "<"+w.url+`/.well-known/api-catalog>; rel="api-catalog"`) {
			t.Errorf("%s: Link %q", path, link)
		}
		for _, verb := range []string{"POST", "PUT", "DELETE"} {
			got := w.do("alice", verb, w.url+path, "")
			wantStatus(t, verb, got, 405)
			if got.header.Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: Allow %q", verb, path, got.header.Get("Allow"))
			}
		}
	}
	if next := w.do("alice", "GET", w.url+"/agents", "").header["Link"][1]; next != "<"+w.url+`/agents?after=caller>; rel="next"` {
		t.Errorf("Link %q", next)
	}
	if l := w.browse("alice", "?after=caller"); l.Next != "" || len(l.Agents) != 2 || l.Total != 4 {
		t.Errorf("%+v", l)
	}
}

// TestCatalogRefusals: what is asked in a wrong way is told so by those who may ask.
func TestCatalogRefusals(t *testing.T) {
	t.Parallel()
	w := market(t)
	for _, tt := range []struct {
		who, target, host string
		status            int
		reason            string
	}{
		{"alice", "/agents?colour=red", "", 400, "INVALID_PARAMS"},
		{"alice", "/.well-known/api-catalog?limit=1001", "", 400, "INVALID_PARAMS"},
		{"", "/agents?colour=red", "", 401, "UNAUTHENTICATED"},
		{"", "/.well-known/api-catalog", "", 401, "UNAUTHENTICATED"},
		{"alice", "/agents", "elsewhere.example", 421, ""},
		{"alice", "/agents/", "", 404, "METHOD_NOT_FOUND"},
		{"alice", "/.well-known/api-catalog/x", "", 404, "METHOD_NOT_FOUND"},
	} {
		var header []string
		if tt.host != "" {
			header = append(header, "Host: "+tt.host)
		}
		got := w.do(tt.who, "GET", w.url+tt.target, "", header...)
		if got.status != tt.status || !strings.Contains(got.body, tt.reason) {
			t.Errorf("%q %s: %d %s, want %d %s", tt.who, tt.target, got.status, got.body, tt.status, tt.reason)
		}
	}
	off := market(t, func(s *setup) { s.catalog.Access = catalog.None })
	for _, path := range []string{"/agents", "/.well-known/api-catalog", "/.well-known/ai-catalog.json"} {
		wantStatus(t, path, off.do("alice", "GET", off.url+path, ""), 404)
	}
}

// TestCatalogFollowsCards: an agent is listed once its card has been fetched, and then as
// the card is.
func TestCatalogFollowsCards(t *testing.T) {
	t.Parallel()
	w := build(t, func(s *setup) { s.noCard = true })
	if l := w.browse("alice", ""); len(l.Agents) != 0 || l.Agents == nil {
		t.Errorf("%+v", l)
	}
	must(t, w.sources[0].Refresh(t.Context()))
	if l := w.browse("alice", ""); len(l.Agents) != 1 || l.Agents[0].Name != "Recorder" {
		t.Errorf("%+v", l)
	}
	w.agent.doc = func(base string) string {
		return strings.NewReplacer(`"Recorder"`, `"Recorder at `+base+`"`, `"id":"read"`, `"id":"reread"`).Replace(cardOf(base))
	}
	must(t, w.sources[0].Refresh(t.Context()))
	l := w.browse("alice", "")
	if got := l.names(); !slices.Equal(got, []string{"rec: reread, write it"}) || l.Agents[0].Name != "Recorder at [removed]" {
		t.Errorf("%v %q", got, l.Agents[0].Name)
	}
}

// TestCatalogHidesInterfaces: where calls go by the configuration is no more for clients to
// see than where they go by the card, in entries as in cards.
func TestCatalogHidesInterfaces(t *testing.T) {
	t.Parallel()
	const at = "https://inside.example:9443/rpc"
	w := build(t, func(s *setup) {
		s.noCard = true
		s.agent.Interfaces = []card.InterfaceConfig{{URL: at, Binding: "JSONRPC", Version: "1.0"}}
	})
	w.agent.doc = func(base string) string {
		return strings.ReplaceAll(cardOf(base), `"Recorder"`, `"Recorder at `+at+`"`)
	}
	must(t, w.sources[0].Refresh(t.Context()))
	l := w.browse("alice", "")
	if len(l.Agents) != 1 || l.Agents[0].Name != "Recorder at [removed]" {
		t.Errorf("%+v", l)
	}
	if got := w.do("alice", "GET", l.Agents[0].Card, ""); got.status != 200 || strings.Contains(got.body, "inside.example") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// keyed shows a caller's key with every request.
type keyed struct {
	key string
	http.RoundTripper
}

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-API-Key", k.key)
	return k.RoundTripper.RoundTrip(r)
}

// TestCatalogLeadsToCards: the SDK reads the card that each entry names, and finds in it
// what the entry says.
func TestCatalogLeadsToCards(t *testing.T) {
	t.Parallel()
	w := market(t)
	for _, who := range []string{"alice", "bob"} {
		resolver := agentcard.NewResolver(&http.Client{Transport: keyed{w.keys[who], w.http.Transport}})
		l := w.browse(who, "")
		for i := range l.Agents {
			a := &l.Agents[i]
			got, err := resolver.Resolve(t.Context(), a.URL)
			must(t, err)
			var skills []string
			for _, s := range got.Skills {
				skills = append(skills, s.ID)
			}
			if got.Name != a.Name || got.Description != a.Description || a.ID+": "+strings.Join(skills, ", ") != l.names()[i] {
				t.Errorf("%s: the card is %q with %v, the entry %+v", who, got.Name, skills, a)
			}
			for _, s := range a.Skills {
				if got := w.do(who, "GET", s.Card, ""); got.status != 200 || strings.Count(got.body, `"tags"`) != 1 {
					t.Errorf("%s: card of %s: %d %s", who, s.ID, got.status, got.body)
				}
			}
		}
	}
}

// TestCatalogOnRecord: who has read the catalog is on record like other requests.
func TestCatalogOnRecord(t *testing.T) {
	t.Parallel()
	w := market(t)
	w.browse("alice", "?q=secret")
	must(t, w.audit.Close())
	calls := w.audited("call")
	if len(calls) != 1 || calls[0]["method"] != "ListAgents" || calls[0]["principal"] != "alice" {
		t.Errorf("%v", calls)
	}
}

// BenchmarkCatalog is a catalog of 1,000 agents under 1,000 rules; first is the request of a
// caller for whom the rules have not been asked yet.
func BenchmarkCatalog(b *testing.B) {
	w := build(b, func(s *setup) {
		for i := range 999 {
			a := agents.Config{ID: fmt.Sprintf("agent-%03d", i)}
			a.Card.URL = s.agent.Card.URL
			s.more = append(s.more, a)
			s.policy.Rules = append(s.policy.Rules, policy.Rule{
				Name: a.ID, Effect: "deny", Agents: []string{a.ID}, Subjects: []string{fmt.Sprint(i), "bob"}, Skills: []string{"read"},
			})
		}
	})
	w.logs = nil
	for _, target := range []string{"/agents", "/agents?limit=1000", "/agents?q=agent-999+read", "/.well-known/api-catalog"} {
		for _, first := range []bool{true, false} {
			b.Run(fmt.Sprintf("%s/first=%v", target, first), func(b *testing.B) {
				r := w.request("alice", "GET", w.url+target, "")
				r.RequestURI, r.Host = target, strings.TrimPrefix(w.url, "http://")
				r.URL.Host, r.URL.Scheme = "", ""
				r.RemoteAddr = "127.0.0.1:1"
				b.ReportAllocs()
				for b.Loop() {
					if first {
						w.proxy.ForgetCatalog()
					}
					out := &sink{header: http.Header{}}
					w.proxy.ServeHTTP(out, r)
					if out.status >= 400 {
						b.Fatal(out.status)
					}
				}
			})
		}
	}
}
