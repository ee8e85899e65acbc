package admit_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// TestChallengeForTheOther: where two credentials make a call, one that is good alone is
// answered with the challenge of the other.
func TestChallengeForTheOther(t *testing.T) {
	t.Parallel()
	g := newGate(t, func(s *proxytest.Setup) {
		s.Authn.Combinations = []authn.Combination{{User: "oidc", Client: "apiKeys"}}
	})
	token, key := g.bearer("alice", nil)[0], "X-Api-Key: "+g.Keys["bob"]
	missing := map[string]string{"error": "invalid_request", "error_description": "another credential is needed beside this one"}
	bad := func(what string) map[string]string {
		return map[string]string{"error": invalidToken, "error_description": what}
	}
	for name, tt := range map[string]struct {
		lines []string
		kind  *wire.Kind // nil: the call is made
		says  map[string]map[string]string
	}{
		"both":         {[]string{token, key}, nil, nil},
		"token only":   {[]string{token}, wire.Unauthenticated, map[string]map[string]string{"ApiKey": missing}},
		"key only":     {[]string{key}, wire.Unauthenticated, map[string]map[string]string{"Bearer": missing}},
		"nothing":      {nil, wire.Unauthenticated, nil},
		"bad key":      {[]string{token, "X-Api-Key: a2a_x_y"}, wire.Unauthenticated, map[string]map[string]string{"ApiKey": bad("the credential is not accepted")}},
		"bad token":    {[]string{"Authorization: Bearer x", key}, wire.Unauthenticated, map[string]map[string]string{"Bearer": bad("the credential is not accepted")}},
		"two tokens":   {[]string{token, token, key}, wire.Malformed, nil},
		"another user": {[]string{g.bearer("stranger", nil)[0], key}, wire.UnknownAgent, nil},
	} {
		for _, s := range proxytest.Sides {
			if name == "two tokens" && s.Binding == wire.GRPC {
				continue // what sends these calls sets a header once
			}
			got := g.send(s, func(string) []string { return append([]string{}, tt.lines...) })
			if tt.kind == nil {
				got.OK(t, name+", "+s.String())
				continue
			}
			if s != proxytest.GRPC03 {
				got.Refused(t, name+", "+s.String(), tt.kind)
			}
			for scheme, params := range challenges(t, got.Header) {
				heard := map[string]string{}
				for _, key := range []string{"error", "error_description"} {
					if v, ok := params[key]; ok {
						heard[key] = v
					}
				}
				want := tt.says[scheme]
				if want == nil {
					want = map[string]string{}
				}
				if diff := cmp.Diff(want, heard); diff != "" {
					t.Errorf("%s, %s, %s (-want +got):\n%s", name, s, scheme, diff)
				}
			}
			if n := len(challenges(t, got.Header)); (n == 3) != (tt.kind == wire.Unauthenticated) {
				t.Errorf("%s, %s: %d challenges", name, s, n)
			}
		}
	}
	for _, r := range g.Agent.Take() {
		if r.Header["Authorization"] != nil || r.Header["X-Api-Key"] != nil {
			t.Errorf("the agent got %v", r.Header)
		}
	}
}
