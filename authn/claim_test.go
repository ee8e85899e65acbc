package authn

import "testing"

func TestPrincipalClaim(t *testing.T) {
	t.Parallel()
	p := &Principal{Claims: map[string]any{
		"plain": "a", "https://x.example/y": "b", "null": nil,
		"outer": map[string]any{"inner": map[string]any{"leaf": true}}, "outer.inner": "c",
	}}
	for path, want := range map[string]any{
		"plain": "a", "https://x.example/y": "b", "outer.inner": "c", "outer.inner.leaf": true, "null": nil,
	} {
		if got, ok := p.Claim(path); !ok || got != want {
			t.Errorf("%s: %v, %v; want %v", path, got, ok, want)
		}
	}
	for _, path := range []string{"", "other", "plain.a", "outer.", ".outer", "outer.leaf"} {
		if got, ok := p.Claim(path); ok {
			t.Errorf("%q: %v, want none", path, got)
		}
	}
	if _, ok := (&Principal{}).Claim("plain"); ok {
		t.Error("a claim of an API key")
	}
}
