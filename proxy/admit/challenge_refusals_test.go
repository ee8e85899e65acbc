package admit_test

import (
	"maps"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// refused is how a call ends: the kind and its message, and in which challenges
// something stands beside realm, address and the like.
type refused struct {
	name string
	show func(g *gate, address string) []string
	kind *wire.Kind
	text string
	says map[string]map[string]string // by challenge
	why  string                       // what the record says and the caller must not read; may be empty
}

// fault is a credential that is turned down: one challenge says so, and it alone, and
// none says why. The one that is told is that a genuine token is for another audience.
func fault(name, challenge, code, why string, show func(g *gate, address string) []string) refused {
	told := "the credential is not accepted"
	if code == invalidProof {
		told = "a proof that is accepted is needed"
	}
	return refused{name, show, wire.Unauthenticated, "Authentication required",
		map[string]map[string]string{challenge: {"error": code, "error_description": told}}, why}
}

// lacks is a good credential that is not enough: every challenge for tokens says what for.
func lacks(name, subject string, kind *wire.Kind, text string, says map[string]string) refused {
	return refused{name, func(g *gate, _ string) []string { return g.bearer(subject, nil) }, kind, text,
		map[string]map[string]string{"Bearer": says, "DPoP": says}, ""}
}

// claimed shows a token of alice's with other claims.
func claimed(more map[string]any) func(*gate, string) []string {
	return func(g *gate, _ string) []string { return g.bearer("alice", more) }
}

// jws shows a token of alice's with another header.
func jws(more map[string]any) func(*gate, string) []string {
	return func(g *gate, _ string) []string {
		header := map[string]any{"alg": "ES256", "typ": "at+jwt", "kid": "k"}
		maps.Copy(header, more)
		return []string{"Authorization: Bearer " + g.signed(g.key, header, g.claimsOf("alice", nil))}
	}
}

// bound shows a token that is bound to a key, with a proof for an address.
func bound(scheme string, prove func(g *gate, token, address string) string) func(*gate, string) []string {
	return func(g *gate, address string) []string {
		token := g.token("alice", map[string]any{"cnf": thumbprint(g.Gateway, g.proofs)})
		lines := []string{"Authorization: " + scheme + " " + token}
		if prove != nil {
			lines = append(lines, "DPoP: "+prove(g, token, address))
		}
		return lines
	}
}

func line(lines ...string) func(*gate, string) []string {
	return func(*gate, string) []string { return lines }
}

const invalidToken, invalidProof = "invalid_token", "invalid_dpop_proof"

// allRefused is every way in which a call is refused for who makes it.
func allRefused() []refused {
	past := time.Now().Add(-time.Hour).Unix()
	stepUp := map[string]string{"error": "insufficient_user_authentication",
		"error_description": "another authentication of the user is needed", "acr_values": "gold silver", "max_age": "3600"}
	both := map[string]string{"error": "insufficient_user_authentication",
		"error_description": "another authentication of the user is needed", "scope": "pay"}
	const misplaced = "the scheme in Authorization is not accepted: send Authorization: Bearer, or X-Api-Key with an API key"
	const otherAudience = "the token is not meant for this audience: ask its issuer for one that is"
	const again = "the user has to authenticate again"
	none := refused{"nothing", line(), wire.Unauthenticated, "Authentication required", nil, ""}
	return []refused{
		none,
		fault("no token at all", "Bearer", invalidToken, "the credential is malformed", line("Authorization: Bearer x.y")),
		{"Basic", line("Authorization: Basic YTpi"), wire.Unauthenticated, misplaced,
			map[string]map[string]string{"Bearer": {"error": invalidToken, "error_description": misplaced}}, "YTpi"},
		fault("header", "Bearer", invalidToken, "the token header holds a parameter that is not accepted", jws(map[string]any{"jku": "https://evil.example"})),
		fault("algorithm", "Bearer", invalidToken, "the token algorithm is not accepted", jws(map[string]any{"alg": "none"})),
		fault("type", "Bearer", invalidToken, "the token type is not accepted", jws(map[string]any{"typ": "logout+jwt"})),
		fault("issuer", "Bearer", invalidToken, "the token issuer is not accepted", claimed(map[string]any{"iss": "https://evil.example"})),
		{"audience", claimed(map[string]any{"aud": "another"}), wire.Unauthenticated, otherAudience,
			map[string]map[string]string{"Bearer": {"error": invalidToken, "error_description": otherAudience}}, "another"},
		fault("audience, expired", "Bearer", invalidToken, "audience", claimed(map[string]any{"aud": "another", "exp": past})),
		fault("audience, signature", "Bearer", invalidToken, "audience", func(g *gate, _ string) []string {
			header := map[string]any{"alg": "ES256", "typ": "at+jwt", "kid": "k"}
			return []string{"Authorization: Bearer " + g.signed(g.proofs, header, g.claimsOf("alice", map[string]any{"aud": "another"}))}
		}),
		fault("expired", "Bearer", invalidToken, "the token has expired", claimed(map[string]any{"exp": past})),
		fault("not yet", "Bearer", invalidToken, "the token is not valid yet", claimed(map[string]any{"nbf": time.Now().Add(time.Hour).Unix()})),
		fault("claims", "Bearer", invalidToken, "the token claims are not acceptable", claimed(map[string]any{"groups": 7})),
		fault("ID token", "Bearer", invalidToken, "an access token is needed, not another kind of token", claimed(map[string]any{"events": map[string]any{}})),
		fault("unknown key", "Bearer", invalidToken, "the token names a key that its issuer does not publish", jws(map[string]any{"kid": "other"})),
		fault("signature", "Bearer", invalidToken, "the token signature is not valid", func(g *gate, _ string) []string {
			header := map[string]any{"alg": "ES256", "typ": "at+jwt", "kid": "k"}
			return []string{"Authorization: Bearer " + g.signed(g.proofs, header, g.claimsOf("alice", nil))}
		}),
		fault("bound to what is not known", "Bearer", invalidToken, "the token is bound to a proof that was not presented",
			claimed(map[string]any{"cnf": map[string]any{"kid": "x"}})),
		fault("stolen", "DPoP", invalidProof, "the token is bound to a proof that was not presented", bound("DPoP", nil)),
		fault("stolen, as if it were not bound", "Bearer", invalidToken, "the token is bound to a proof that was not presented", bound("Bearer", nil)),
		fault("not bound", "DPoP", invalidToken, "the token is not bound to its sender", func(g *gate, address string) []string {
			token := g.token("alice", nil)
			return []string{"Authorization: DPoP " + token, "DPoP: " + g.proof(g.proofs, address, token, "")}
		}),
		fault("another's proof", "DPoP", invalidToken, "the token is bound to another key than that of the DPoP proof",
			bound("DPoP", func(g *gate, token, address string) string { return g.proof(g.key, address, token, "") })),
		fault("proof for elsewhere", "DPoP", invalidProof, "the DPoP proof is for another method or address",
			bound("DPoP", func(g *gate, token, _ string) string {
				return g.proof(g.proofs, "https://elsewhere.example/", token, "")
			})),
		fault("proof for another token", "DPoP", invalidProof, "the DPoP proof is for another token",
			bound("DPoP", func(g *gate, _, address string) string { return g.proof(g.proofs, address, "another", "") })),
		fault("malformed proof", "DPoP", invalidProof, "the DPoP proof is malformed",
			bound("DPoP", func(*gate, string, string) string { return "x" })),
		fault("API key", "ApiKey", invalidToken, "the API key is not known", line("X-Api-Key: a2a_x_y")),
		{"two credentials", func(g *gate, _ string) []string {
			return append(g.bearer("alice", nil), "X-Api-Key: "+g.Keys["alice"])
		}, wire.Malformed, "more credentials than make one call", nil, ""},
		lacks("scope", "scoped", wire.Denied, "permission denied: missing scope book pay", map[string]string{"error": "insufficient_scope", "scope": "book pay"}),
		lacks("consent", "user@asked", wire.Denied, "permission denied: missing scope agreed", map[string]string{"error": "insufficient_scope", "scope": "agreed"}),
		lacks("step-up", "strong", wire.Unauthenticated, again, stepUp),
		lacks("step-up and scope", "both", wire.UnknownAgent, "No such agent", both),
		{"no right", func(g *gate, _ string) []string { return g.bearer("user@silent", nil) }, wire.Denied, "Permission denied", nil, ""},
		{"no business", func(g *gate, _ string) []string { return g.bearer("stranger", nil) }, wire.UnknownAgent, "No such agent", nil, ""},
		{"a scope away", func(g *gate, _ string) []string { return g.bearer("distant", nil) }, wire.UnknownAgent, "No such agent", nil, ""},
	}
}
