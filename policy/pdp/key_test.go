package pdp

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// TestKey: questions with the same key are told in the same words.
func TestKey(t *testing.T) {
	t.Parallel()
	word := rapid.SampledFrom([]string{"", "a", "b", "ab", `"`, `","`, "a,b", "/", "é"})
	words := rapid.SliceOfN(word, 0, 3)
	draw := func(t *rapid.T) *Question {
		q := &Question{
			Principal: &authn.Principal{
				Subject: word.Draw(t, "subject"), Issuer: word.Draw(t, "issuer"), Client: word.Draw(t, "client"),
				Groups: words.Draw(t, "groups"), Scopes: words.Draw(t, "scopes"),
				Claims: map[string]any{word.Draw(t, "claim"): word.Draw(t, "value")},
			},
			Agent: word.Draw(t, "agent"), Skill: word.Draw(t, "skill"), Skills: words.Draw(t, "skills"), Method: &wire.Methods()[0],
			TaskID: word.Draw(t, "task"), ContextID: word.Draw(t, "context"), Extensions: words.Draw(t, "extensions"),
			Host: word.Draw(t, "host"), Path: word.Draw(t, "path"), Verb: word.Draw(t, "verb"),
		}
		return q
	}
	a := &authorizer{claims: patterns{"*"}}
	seen := map[cacheKey]*Question{}
	rapid.Check(t, func(rt *rapid.T) {
		q := draw(rt)
		skills, _ := a.concerns(q)
		in, err := a.inquire(q, skills)
		if err != nil {
			rt.Fatal(err)
		}
		other, ok := seen[in.key()]
		if seen[in.key()] = q; ok && !alike(q, other) {
			rt.Errorf("the same key for\n%+v %+v\n%+v %+v", q, q.Principal, other, other.Principal)
		}
		again, err := a.inquire(q, skills)
		if err != nil || again.key() != in.key() {
			rt.Error("another key for the same question")
		}
	})
}

// alike compares what draw draws; an empty list is as good as none.
func alike(a, b *Question) bool {
	skills := func(q *Question) []string {
		if q.Skill != "" {
			return []string{q.Skill}
		}
		return q.Skills
	}
	return a.Principal.Key() == b.Principal.Key() && a.Principal.Client == b.Principal.Client &&
		slices.Equal(a.Principal.Groups, b.Principal.Groups) && slices.Equal(a.Principal.Scopes, b.Principal.Scopes) &&
		maps.Equal(a.Principal.Claims, b.Principal.Claims) && a.Agent == b.Agent && slices.Equal(skills(a), skills(b)) &&
		a.TaskID == b.TaskID && a.ContextID == b.ContextID && slices.Equal(a.Extensions, b.Extensions) &&
		a.Host == b.Host && a.Path == b.Path && a.Verb == b.Verb
}
