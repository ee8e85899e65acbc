package negotiate_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// timestamp is one that the gateway provides.
const timestamp = "https://github.com/a2aproject/a2a-samples/extensions/timestamp/v1"

// universe are the extensions that worlds are made of by chance.
var universe = []string{focus, bystander, quiet, above, below, fading, timestamp, "urn:a", "urn:b"}

// listedExtensions is what a card says: of each extension whether it is required.
type listedExtensions map[string]bool

// cardExtensions reads a 1.0 card.
func cardExtensions(t testing.TB, doc string) listedExtensions {
	t.Helper()
	var c struct {
		Capabilities struct {
			Extensions []struct {
				URI      string `json:"uri"`
				Required bool   `json:"required"`
			} `json:"extensions"`
		} `json:"capabilities"`
	}
	proxytest.Must(t, json.Unmarshal([]byte(doc), &c))
	all := listedExtensions{}
	for _, e := range c.Capabilities.Extensions {
		if _, twice := all[e.URI]; twice {
			t.Errorf("%s is listed twice: %s", e.URI, doc)
		}
		all[e.URI] = e.Required
	}
	delete(all, wire.SkillSelection) // in cards with several skills
	return all
}

// required and all are what a client that has read the card asks for.
func (l listedExtensions) required() []string {
	return slices.DeleteFunc(l.all(), func(uri string) bool { return !l[uri] })
}

func (l listedExtensions) all() []string {
	var all []string
	for _, uri := range universe {
		if _, ok := l[uri]; ok {
			all = append(all, uri)
		}
	}
	return all
}

// chance makes a world of a seed.
func chance(seed uint64) (edit func(*proxytest.Setup), doc func(string) string) {
	r := rand.New(rand.NewPCG(seed, 7))
	some := func(n int) []string {
		var list []string
		for _, uri := range universe {
			if r.IntN(n) == 0 {
				list = append(list, uri)
			}
		}
		return list
	}
	without := func(list []string, others ...[]string) []string {
		list = slices.DeleteFunc(list, func(uri string) bool { return slices.Contains(slices.Concat(others...), uri) })
		return slices.Clip(append([]string(nil), list...)) // nil if there is none
	}
	var declared []string
	for _, uri := range some(2) {
		declared = append(declared, fmt.Sprintf(`{"uri":%q,"required":%t}`, uri, r.IntN(4) == 0))
	}
	return func(s *proxytest.Setup) {
		s.Extensions = ext.Registry{
			{URI: above, Dependencies: ext.Dependencies{Required: []string{below}}}, {URI: below}, {URI: quiet},
			{URI: fading, Status: ext.Deprecated}, {URI: "urn:b", Status: []ext.Status{ext.Allowed, ext.Blocked}[r.IntN(2)]},
		}
		c := &s.Agent.Extensions
		c.Deny = some(8)
		c.Require, c.Inject = without(some(8), c.Deny), without(some(8), c.Deny)
		if r.IntN(2) == 0 && !slices.Contains(c.Deny, timestamp) && !slices.Contains(c.Inject, timestamp) {
			c.Provide = []string{timestamp}
		}
		if r.IntN(3) == 0 {
			c.Allow = some(2)
		}
		c.Dependencies = []string{"", "close"}[r.IntN(2)]
		c.Mode = []string{"", "", "", "shadow"}[r.IntN(4)]
		s.Policy.Rules = []policy.Rule{{Name: "all", Effect: "allow"}}
		for i := range r.IntN(5) {
			e := policy.RuleExtensions{Deny: some(9)}
			e.Require, e.Inject = without(some(7), e.Deny), without(some(9), e.Deny)
			if r.IntN(3) == 0 {
				e.Allow = without(some(2), e.Deny)
			}
			rule := policy.Rule{Name: fmt.Sprint("r", i), Extensions: &e, Mode: []string{"", "", "shadow"}[r.IntN(3)]}
			rule.Subjects = [][]string{nil, {"alice"}, {"bob"}}[r.IntN(3)]
			rule.Skills = [][]string{nil, {"read"}, {"write it"}}[r.IntN(3)]
			if e.Deny != nil || e.Require != nil || e.Inject != nil || e.Allow != nil {
				s.Policy.Rules = append(s.Policy.Rules, rule)
			}
		}
	}, proxytest.CardDeclaring(proxytest.Card, declared...)
}

// TestCardsAgree makes worlds by chance. Whoever asks for what the card lists as
// required is served, whoever leaves out one of them is refused; all that it lists can
// be had, and nothing else: for each caller and skill, by the public and the extended
// card.
func TestCardsAgree(t *testing.T) {
	testenv.Long(t, "cards of sixty worlds are compared with what can be had")
	t.Parallel()
	worlds := uint64(60)
	if proxytest.RaceEnabled {
		worlds = 12
	}
	for seed := range worlds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			edit, doc := chance(seed)
			w := proxytest.NewGatewayFor(t, doc, edit)
			w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
				if r.RPC().Method == wire.GetExtendedAgentCard {
					proxytest.Respond(rw, r, proxytest.CardDeclaring(proxytest.Card, `{"uri":"urn:a","required":true}`)(w.Agent.URL)) // is not asked about that
					return
				}
				proxytest.Agreeable(rw, r)
			})
			for _, who := range []string{"alice", "bob"} {
				merged := listedExtensions{}
				for _, skill := range []string{"read", "write it"} {
					base := "/skills/" + url.PathEscape(skill)
					listed := cardExtensions(t, w.Do(who, "GET", base+"/.well-known/agent-card.json", "", "A2A-Version: 1.0").Body)
					sameLists(w, who+" extended "+skill, extended(w, who, base), listed)
					agrees(w, who, base, listed)
					merged.merge(listed)
				}
				whole := cardExtensions(t, w.Do(who, "GET", "/.well-known/agent-card.json", "", "A2A-Version: 1.0").Body)
				sameLists(w, who, whole, merged)
				sameLists(w, who+" extended", extended(w, who, ""), merged)
				for _, asked := range [][]string{whole.required(), whole.all(), universe} {
					got := w.Call(who, wire.SendMessage, proxytest.Message(""), "A2A-Extensions: "+strings.Join(asked, ","))
					if !strings.Contains(got.Body, `"result"`) {
						t.Errorf("%s asks for %q, listed %v: %s", who, asked, whole, got.Body)
					}
				}
				w.Agent.Take()
			}
		})
	}
}

func (l listedExtensions) merge(more listedExtensions) {
	for uri, required := range more {
		l[uri] = l[uri] || required
	}
}

func sameLists(w *proxytest.Gateway, what string, got, want listedExtensions) {
	w.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		w.Errorf("%s: the card lists %v, want %v", what, got, want)
	}
}

// extended gets the extended card. Whatever is required of messages is asked for.
func extended(w *proxytest.Gateway, who, base string) listedExtensions {
	w.Helper()
	got := w.Do(who, "POST", base, proxytest.RPCBody(wire.GetExtendedAgentCard, "{}"), "A2A-Version: 1.0",
		"A2A-Extensions: "+strings.Join(universe, ","))
	var doc struct {
		Result proxytest.RawJSON `json:"result"`
	}
	proxytest.Must(w, json.Unmarshal([]byte(got.Body), &doc))
	w.Agent.Take()
	if doc.Result == nil {
		w.Fatalf("%s%s: no extended card: %d %s", who, base, got.Status, got.Body)
	}
	return cardExtensions(w, string(doc.Result))
}

// agrees holds what a card lists against what calls get.
func agrees(w *proxytest.Gateway, who, base string, listed listedExtensions) {
	w.Helper()
	send := func(asked []string) (string, proxytest.Response) {
		got := w.Do(who, "POST", base, proxytest.RPCBody(wire.SendMessage, proxytest.Message("")), "A2A-Version: 1.0",
			"A2A-Extensions: "+strings.Join(asked, ","))
		return fmt.Sprintf("%s%s asks for %q, listed %v", who, base, asked, listed), got
	}
	all, required := listed.all(), listed.required()
	if what, got := send(required); !strings.Contains(got.Body, `"result"`) {
		w.Errorf("%s: %s", what, got.Body)
	}
	for _, uri := range required {
		w.Agent.Take()
		what, got := send(slices.DeleteFunc(slices.Clone(all), func(u string) bool { return u == uri }))
		if !strings.Contains(got.Body, "-32008") || !strings.Contains(got.Body, uri) {
			w.Errorf("%s: %s", what, got.Body)
		}
		w.Agent.Silent(w, what)
	}
	w.Agent.Take()
	what, got := send(universe)
	if !strings.Contains(got.Body, `"result"`) {
		w.Fatalf("%s: %s", what, got.Body)
	}
	had := slices.Concat(asked(w.Agent.One(w)), strings.Split(got.Header.Get("A2A-Extensions"), ","))
	for _, uri := range universe {
		if _, ok := listed[uri]; ok != slices.Contains(had, uri) {
			w.Errorf("%s: had %q", what, had)
		}
	}
}
