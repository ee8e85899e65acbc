package jwt

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/credential"
	"github.com/a2a-gateway/a2a-gateway/internal/jws"
)

// opaque tells tokens that only their issuer can read from those that are, or try to
// be, JWTs: a JOSE header in front, in three parts or, encrypted, five. Those are
// judged here, and what is wrong with them is no question to the issuer. Neither is an
// API key of the gateway that strayed into the header: it is not for the issuer to see.
func opaque(raw string) bool {
	if strings.HasPrefix(raw, credential.KeyPrefix) {
		return false
	}
	header, rest, _ := strings.Cut(raw, ".")
	if dots := 1 + strings.Count(rest, "."); dots != 2 && dots != 4 {
		return true
	}
	doc, err := jws.Decode(header)
	return err != nil || len(doc) == 0 || doc[0] != '{'
}

// introspect asks the issuer who presents an opaque token, and what it is bound to.
// who is for whom, where it has to be asked.
func (is *issuer) introspect(ctx context.Context, raw string, who func() asker) (*authn.Principal, confirmation, error) {
	id := digest(raw)
	f, ok := is.asked.recall(id)
	if !ok {
		if err := checkOpaque(raw); err != nil {
			return nil, confirmation{}, err
		}
		f = is.asked.ask(ctx, id, raw, who(), func(claims map[string]any, now time.Time) finding {
			return is.admit(id, claims, now)
		})
	}
	return f.principal, f.bound, f.err
}

// active asks the issuer about the JWT of p, which was verified here: nil while it is
// good.
func (is *issuer) active(ctx context.Context, raw string, p *authn.Principal, who func() asker) error {
	o, _ := p.Evidence().(*origin) // of every principal of a token
	f, ok := is.asked.recall(o.id)
	if !ok {
		f = is.asked.ask(ctx, o.id, raw, who(), func(claims map[string]any, now time.Time) finding {
			return finding{err: is.agree(p.Claims, claims, now)}
		})
	}
	return f.err
}

// stands reports whether the issuer has said, lately, that the token of that digest is no
// longer good. Nobody is asked.
func (is *issuer) stands(id [32]byte) error {
	if is.asked == nil {
		return nil
	}
	f, _ := is.asked.bad.find(id, is.asked.now())
	return f.err
}

// checkOpaque keeps from the issuer what is no token of anybody's.
func checkOpaque(raw string) error {
	if raw == "" {
		return refuse(authn.FaultMalformed, errors.New("an empty token"))
	}
	for i := range len(raw) {
		if raw[i] <= ' ' || raw[i] > '~' {
			return refuse(authn.FaultMalformed, fmt.Errorf("byte %d is not printable", i))
		}
	}
	return nil
}

// admit judges an answer about an opaque token as the claims of a JWT are judged, save
// that exp may be missing: the issuer is asked again soon.
func (is *issuer) admit(id [32]byte, claims map[string]any, now time.Time) finding {
	if err := is.checkAnswerIssuer(claims); err != nil {
		return finding{err: err}
	}
	if err := checkAnswerKind(claims); err != nil {
		return finding{err: err}
	}
	f := is.admitFor(id, claims, now)
	if err := is.checkAudience(claims["aud"]); err != nil {
		return finding{err: audienceAlone(err, f.err, f.bound)}
	}
	return f
}

// admitFor judges what is no question of whom the token is for.
func (is *issuer) admitFor(id [32]byte, claims map[string]any, now time.Time) finding {
	if err := is.checkAnswerTimes(claims, now); err != nil {
		return finding{err: err}
	}
	// A token that was given to a client for itself need not have a subject (RFC 7662
	// §2.2); the client is the subject then, as in JWTs (RFC 9068 §2.2).
	if claims["sub"] == nil && is.cfg.Claims.Subject == "" {
		claims["sub"] = claims["client_id"]
	}
	p, bound, err := is.principal(claims)
	if err != nil {
		return finding{err: err}
	}
	if kind, _ := claims["token_type"].(string); strings.EqualFold(kind, credential.SchemeDPoP) && bound.jkt == "" {
		return finding{err: refuse(faultBound, errors.New("introspection: a DPoP token without cnf.jkt"))}
	}
	p.Method = methodIntrospection
	p.Attest(&origin{issuer: is, id: id})
	return finding{principal: p, bound: bound, until: p.Expires}
}

// agree judges an answer about a JWT. It may leave out what the token says, and must
// not contradict it: then it is about another token.
func (is *issuer) agree(signed, answer map[string]any, now time.Time) error {
	if err := is.checkAnswerIssuer(answer); err != nil {
		return err
	}
	if aud, ok := answer["aud"]; ok {
		if err := is.checkAudience(aud); err != nil {
			return err
		}
	}
	for _, name := range []string{"sub", "cnf", "jti"} {
		if v, ok := answer[name]; ok && !reflect.DeepEqual(v, signed[name]) {
			return refuse(faultClaims, fmt.Errorf("introspection says another %s than the token", name))
		}
	}
	return is.checkAnswerTimes(answer, now)
}

func (is *issuer) checkAnswerIssuer(claims map[string]any) error {
	if v, ok := claims["iss"]; ok && v != any(is.cfg.Issuer) {
		name, _ := v.(string)
		return refuse(faultIssuer, fmt.Errorf("introspection: iss is %.200q", name))
	}
	return nil
}

// checkAnswerKind refuses refresh tokens and others that are good for something else,
// where the issuer says which kind the token is.
func checkAnswerKind(claims map[string]any) error {
	for _, kind := range []struct {
		claim  string
		access []string // in lower case
	}{
		{"token_type", []string{"bearer", "dpop", "access_token"}}, // RFC 7662 §2.2; Hydra before 1.0
		{"token_use", []string{"access", "access_token"}},          // Cognito; Hydra
		{"typ", []string{"bearer", "dpop", "at+jwt", "jwt"}},       // Keycloak; a header repeated
	} {
		v, ok := claims[kind.claim]
		if !ok {
			continue
		}
		if s, _ := v.(string); !slices.Contains(kind.access, strings.ToLower(s)) {
			return refuse(faultIDToken, fmt.Errorf("introspection: %s is %.40q", kind.claim, s))
		}
	}
	return nil
}

func (is *issuer) checkAnswerTimes(claims map[string]any, now time.Time) error {
	if _, ok := claims["exp"]; ok {
		return is.checkTimes(claims, now)
	}
	return is.checkStart(claims, now)
}
