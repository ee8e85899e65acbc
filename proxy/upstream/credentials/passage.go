package credentials

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/authn"
)

// passage hands the caller's own header on.
type passage struct {
	header   string
	audience string // that the token must name; "" for any
}

func (p passage) value(_ context.Context, caller *Caller) (string, error) {
	text := ""
	if v := caller.Header[p.header]; len(v) > 0 {
		text = v[0]
	}
	if p.audience != "" && !slices.Contains(audiences(caller.Principal, p.header, text), p.audience) {
		return "", fmt.Errorf("%w: no token that names the audience", ErrNobody)
	}
	return text, nil
}

// audiences is whom a token is for. Those that authentication has read are believed
// first, as the only ones of a token that cannot be read. Any other token is read without
// verifying it: who made its audience up sends the agent what the agent refuses.
func audiences(p *authn.Principal, header, text string) []string {
	for ; p != nil; p = p.Workload {
		if p.Carrier == header && p.Claims != nil {
			return texts(p.Claims["aud"])
		}
	}
	if scheme, token, ok := strings.Cut(text, " "); ok && (strings.EqualFold(scheme, "Bearer") || strings.EqualFold(scheme, "DPoP")) {
		text = token
	}
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return nil
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return nil
	}
	var claims struct {
		Audience any `json:"aud"`
	}
	if json.Unmarshal(payload, &claims) != nil {
		return nil
	}
	return texts(claims.Audience)
}

// texts is a claim of one string or a list of them. Anything else is none.
func texts(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		out := make([]string, 0, len(v))
		for _, e := range v {
			s, ok := e.(string)
			if !ok {
				return nil
			}
			out = append(out, s)
		}
		return out
	}
	return nil
}
