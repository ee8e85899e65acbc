package wellknown_test

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
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// shelved is what the tests read of GET /agents.
type shelved struct {
	Agents []catalog.About `json:"agents"`
	Total  int             `json:"total"`
	Next   string          `json:"next"`
}

// browse asks for agents.
func browse(w *proxytest.Gateway, who, query string) shelved {
	w.Helper()
	got := w.Do(who, "GET", w.URL+"/agents"+query, "")
	var l shelved
	if err := json.Unmarshal([]byte(got.Body), &l); err != nil || got.Status != http.StatusOK {
		w.Fatalf("%s %q: %d %s (%v)", who, query, got.Status, got.Body, err)
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
func market(t testing.TB, edit ...func(*proxytest.Setup)) *proxytest.Gateway {
	t.Helper()
	return proxytest.NewGateway(t, append([]func(*proxytest.Setup){func(s *proxytest.Setup) {
		more := func(id string, visibility card.Visibility, skills ...agents.SkillConfig) {
			a := agents.Config{ID: id, Skills: skills}
			a.Card.URL, a.Card.Visibility = s.Agent.Card.URL, visibility
			s.More = append(s.More, a)
		}
		more("caller", card.Caller)
		more("none", card.None)
		more("hides", card.Public, agents.SkillConfig{ID: "read"}, agents.SkillConfig{ID: "write it", Hidden: true})
		more("alices", card.Caller)
		s.Bound = map[string]string{"tied": "rec"}
		s.Policy = policy.Config{Rules: []policy.Rule{
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
		"": nil, "caller": nil, catalog.Public: {"hides: read", "rec: read, write it"},
	} {
		t.Run("access "+string(access), func(t *testing.T) {
			t.Parallel()
			w := market(t, func(s *proxytest.Setup) { s.Catalog.Access = access })
			for who, want := range map[string][]string{
				"alice":   {"alices: read, write it", "caller: read, write it", "hides: read, write it", "rec: read, write it"},
				"bob":     {"hides: read", "rec: read"},
				"tied":    {"rec: read, write it"},
				"mallory": {},
				"":        strangers,
			} {
				if want == nil {
					proxytest.WantStatus(t, "a stranger", w.Do("", "GET", w.URL+"/agents", ""), 401)
					continue
				}
				for range 2 { // made, and remembered
					l := browse(w, who, "")
					if diff := cmp.Diff(want, l.names()); diff != "" || l.Total != len(want) {
						t.Errorf("%q: total %d (-want +got):\n%s", who, l.Total, diff)
					}
				}
				searchFinds(w, who, want)
				documentsAgree(w, who, want)
			}
		})
	}
}

// searchFinds makes sure that what is not listed cannot be found.
func searchFinds(w *proxytest.Gateway, who string, want []string) {
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
		if l := browse(w, who, query); !slices.Equal(l.names(), fit) || l.Total != len(fit) {
			w.Errorf("%q %s: %v, total %d, want %v", who, query, l.names(), l.Total, fit)
		}
	}
}

// documentsAgree makes sure that the other documents list the same agents.
func documentsAgree(w *proxytest.Gateway, who string, want []string) {
	w.Helper()
	for path, mark := range map[string]string{"api-catalog": `"anchor":"%s"`, "ai-catalog.json": `"identifier":"%s"`} {
		got := w.Do(who, "GET", w.URL+"/.well-known/"+path, "")
		proxytest.WantStatus(w, path, got, 200)
		for _, id := range []string{"rec", "caller", "none", "hides", "alices"} {
			listed := slices.ContainsFunc(want, func(line string) bool { return strings.HasPrefix(line, id+":") })
			if strings.Contains(got.Body, fmt.Sprintf(mark, w.URL+"/agents/"+id)) != listed {
				w.Errorf("%q %s: %s is listed: %v, in %s", who, path, id, !listed, got.Body)
			}
		}
	}
}

// TestL42_CatalogIsNotShared: what is for one caller is nobody else's to keep.
func TestL42_CatalogIsNotShared(t *testing.T) {
	t.Parallel()
	w := market(t, func(s *proxytest.Setup) { s.Catalog.Access = catalog.Public })
	for _, path := range []string{"/agents", "/.well-known/api-catalog", "/.well-known/ai-catalog.json"} {
		for _, who := range []string{"alice", "", "bob", "mallory"} {
			got := w.Do(who, "GET", w.URL+path, "")
			proxytest.WantStatus(t, path, got, 200)
			if want := "X-Api-Key"; !strings.Contains(got.Header.Get("Vary"), want) {
				t.Errorf("%s %q: Vary %q", path, who, got.Header.Get("Vary"))
			}
			control, tag := got.Header.Get("Cache-Control"), got.Header.Get("Etag")
			if who != "" {
				if control != "private, no-store" || tag != "" {
					t.Errorf("%s %q: Cache-Control %q, ETag %q", path, who, control, tag)
				}
				if again := w.Do(who, "GET", w.URL+path, "", "If-None-Match: *"); again.Status != 200 || again.Body != got.Body {
					t.Errorf("%s %q: %d", path, who, again.Status)
				}
				continue
			}
			if control != "public, max-age=60" || tag == "" {
				t.Errorf("%s: Cache-Control %q, ETag %q", path, control, tag)
			}
			proxytest.WantStatus(t, path, w.Do("", "GET", w.URL+path, "", "If-None-Match: "+tag), 304)
			if other := w.Do("", "GET", w.URL+path+"?q=hides", "").Header.Get("Etag"); other == tag {
				t.Errorf("%s: two answers share the tag %s", path, tag)
			}
		}
	}
}

// TestCatalogHead: a HEAD request is answered alike, without a body, and says where the
// API catalog is (RFC 9727 §2).
func TestCatalogHead(t *testing.T) {
	t.Parallel()
	w := market(t, func(s *proxytest.Setup) { s.Catalog.Page = 2 })
	for path, media := range map[string]string{
		"/agents":                      "application/json",
		"/.well-known/api-catalog":     `application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"`,
		"/.well-known/ai-catalog.json": "application/ai-catalog+json",
	} {
		get, head := w.Do("alice", "GET", w.URL+path, ""), w.Do("alice", "HEAD", w.URL+path, "")
		for _, name := range []string{"Content-Type", "Content-Length", "Cache-Control", "Link"} {
			if g, h := get.Header[name], head.Header[name]; !slices.Equal(g, h) || len(g) == 0 {
				t.Errorf("%s: %s of GET %q, of HEAD %q", path, name, g, h)
			}
		}
		if head.Status != 200 || head.Body != "" || get.Header.Get("Content-Type") != media {
			t.Errorf("%s: %d %q %q", path, head.Status, head.Body, get.Header.Get("Content-Type"))
		}
		if link := get.Header.Get("Link"); !strings.HasPrefix(link, "<"+w.URL+`/.well-known/api-catalog>; rel="api-catalog"`) {
			t.Errorf("%s: Link %q", path, link)
		}
		for _, verb := range []string{"POST", "PUT", "DELETE"} {
			got := w.Do("alice", verb, w.URL+path, "")
			proxytest.WantStatus(t, verb, got, 405)
			if got.Header.Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: Allow %q", verb, path, got.Header.Get("Allow"))
			}
		}
	}
	if next := w.Do("alice", "GET", w.URL+"/agents", "").Header["Link"][1]; next != "<"+w.URL+`/agents?after=caller>; rel="next"` {
		t.Errorf("Link %q", next)
	}
	if l := browse(w, "alice", "?after=caller"); l.Next != "" || len(l.Agents) != 2 || l.Total != 4 {
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
		got := w.Do(tt.who, "GET", w.URL+tt.target, "", header...)
		if got.Status != tt.status || !strings.Contains(got.Body, tt.reason) {
			t.Errorf("%q %s: %d %s, want %d %s", tt.who, tt.target, got.Status, got.Body, tt.status, tt.reason)
		}
	}
	off := market(t, func(s *proxytest.Setup) { s.Catalog.Access = catalog.None })
	for _, path := range []string{"/agents", "/.well-known/api-catalog", "/.well-known/ai-catalog.json"} {
		proxytest.WantStatus(t, path, off.Do("alice", "GET", off.URL+path, ""), 404)
	}
}

// TestCatalogFollowsCards: an agent is listed once its card has been fetched, and then as
// the card is.
func TestCatalogFollowsCards(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) { s.NoCard = true })
	if l := browse(w, "alice", ""); len(l.Agents) != 0 || l.Agents == nil {
		t.Errorf("%+v", l)
	}
	proxytest.Must(t, w.Sources[0].Refresh(t.Context()))
	if l := browse(w, "alice", ""); len(l.Agents) != 1 || l.Agents[0].Name != "Recorder" {
		t.Errorf("%+v", l)
	}
	w.Agent.Doc = func(base string) string {
		return strings.NewReplacer(`"Recorder"`, `"Recorder at `+base+`"`, `"id":"read"`, `"id":"reread"`).Replace(proxytest.Card(base))
	}
	proxytest.Must(t, w.Sources[0].Refresh(t.Context()))
	l := browse(w, "alice", "")
	if got := l.names(); !slices.Equal(got, []string{"rec: reread, write it"}) || l.Agents[0].Name != "Recorder at [removed]" {
		t.Errorf("%v %q", got, l.Agents[0].Name)
	}
}

// TestCatalogHidesInterfaces: where calls go by the configuration is no more for clients to
// see than where they go by the card, in entries as in cards.
func TestCatalogHidesInterfaces(t *testing.T) {
	t.Parallel()
	const at = "https://inside.example:9443/rpc"
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) {
		s.NoCard = true
		s.Agent.Interfaces = []card.InterfaceConfig{{URL: at, Binding: "JSONRPC", Version: "1.0"}}
	})
	w.Agent.Doc = func(base string) string {
		return strings.ReplaceAll(proxytest.Card(base), `"Recorder"`, `"Recorder at `+at+`"`)
	}
	proxytest.Must(t, w.Sources[0].Refresh(t.Context()))
	l := browse(w, "alice", "")
	if len(l.Agents) != 1 || l.Agents[0].Name != "Recorder at [removed]" {
		t.Errorf("%+v", l)
	}
	if got := w.Do("alice", "GET", l.Agents[0].Card, ""); got.Status != 200 || strings.Contains(got.Body, "inside.example") {
		t.Errorf("%d %s", got.Status, got.Body)
	}
}

// TestCatalogLeadsToCards: the SDK reads the card that each entry names, and finds in it
// what the entry says.
func TestCatalogLeadsToCards(t *testing.T) {
	t.Parallel()
	w := market(t)
	for _, who := range []string{"alice", "bob"} {
		resolver := agentcard.NewResolver(&http.Client{Transport: proxytest.KeyTransport{Key: w.Keys[who], RoundTripper: w.Client.Transport}})
		l := browse(w, who, "")
		for i := range l.Agents {
			a := &l.Agents[i]
			got, err := resolver.Resolve(t.Context(), a.URL)
			proxytest.Must(t, err)
			var skills []string
			for _, s := range got.Skills {
				skills = append(skills, s.ID)
			}
			if got.Name != a.Name || got.Description != a.Description || a.ID+": "+strings.Join(skills, ", ") != l.names()[i] {
				t.Errorf("%s: the card is %q with %v, the entry %+v", who, got.Name, skills, a)
			}
			for _, s := range a.Skills {
				if got := w.Do(who, "GET", s.Card, ""); got.Status != 200 || strings.Count(got.Body, `"tags"`) != 1 {
					t.Errorf("%s: card of %s: %d %s", who, s.ID, got.Status, got.Body)
				}
			}
		}
	}
}

// TestCatalogOnRecord: who has read the catalog is on record like other requests.
func TestCatalogOnRecord(t *testing.T) {
	t.Parallel()
	w := market(t)
	browse(w, "alice", "?q=secret")
	proxytest.Must(t, w.Audit.Close())
	calls := w.Audited("call")
	if len(calls) != 1 || calls[0]["method"] != "ListAgents" || calls[0]["principal"] != "alice" {
		t.Errorf("%v", calls)
	}
}
