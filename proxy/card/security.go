package card

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Schemes is the security of the gateway, which replaces the agent's: a caller
// authenticates to the gateway and never to the agent.
type Schemes struct {
	// OIDC are issuer URLs. Their access tokens go into Authorization: Bearer.
	OIDC []string

	// APIKeyHeader is the header that carries API keys, "" for none.
	APIKeyHeader string

	// MTLS says that client certificates are identities.
	MTLS bool

	// Combinations are the credentials that have to come together, as alternatives:
	// "oidc", "apiKeys" or "mtls" each. None: any one scheme alone.
	Combinations [][]string

	// Anonymous adds the alternative of no credential at all.
	Anonymous bool
}

// Requirements is a shape of 1.0's securityRequirements.
type Requirements string

// The shapes, by what a scheme's scopes look like. The empty one means
// OmitRequirements: the specification's makes Go's SDK (2.4.0) refuse the whole
// card, Go's makes strict Protobuf readers do so, though Python's and
// JavaScript's let it pass as long as no scope is listed. Readers of the mixed
// form take the requirements from 0.3's security instead.
const (
	OmitRequirements Requirements = "omit" // no securityRequirements
	SpecRequirements Requirements = "spec" // {"schemes":{"oidc":{"list":[]}}}
	GoRequirements   Requirements = "go"   // {"schemes":{"oidc":[]}}
)

// scheme is one entry of securitySchemes.
type scheme struct {
	name    string // key, and the name used in requirements
	kind    string // 0.3's discriminator
	wrapper string // 1.0's member
	fields  object // members that both versions call the same
	where   string // API keys only: "in" of 0.3, "location" of 1.0
}

// list names the schemes in a fixed order. Any one of them is enough.
func (s Schemes) list() []scheme {
	var out []scheme
	for i, issuer := range s.OIDC {
		name := "oidc"
		if i > 0 {
			name += "-" + strconv.Itoa(i+1)
		}
		discovery := strings.TrimSuffix(issuer, "/") + "/.well-known/openid-configuration"
		out = append(out, scheme{
			name: name, kind: "openIdConnect", wrapper: "openIdConnectSecurityScheme",
			fields: object{{"openIdConnectUrl", quote(discovery)}},
		})
	}
	if s.APIKeyHeader != "" {
		out = append(out, scheme{
			name: "apiKey", kind: "apiKey", wrapper: "apiKeySecurityScheme",
			fields: object{{"name", quote(s.APIKeyHeader)}}, where: "header",
		})
	}
	return out
}

// schemes writes securitySchemes. In the mixed form an object has both shapes
// side by side: 0.3's readers and Python's look at "type", Go's 1.0 reader wants
// exactly one of the wrapper members, and each ignores the other half.
func (s Schemes) schemes(mixed bool) jsontext.Value {
	var out object
	for _, sc := range s.list() {
		var entry object
		if mixed {
			entry.put("type", quote(sc.kind))
			entry = append(entry, sc.fields...)
			if sc.where != "" {
				entry.put("in", quote(sc.where))
			}
		}
		inner := append(object{}, sc.fields...)
		if sc.where != "" {
			inner.put("location", quote(sc.where))
		}
		entry.put(sc.wrapper, inner.encode())
		out.put(sc.name, entry.encode())
	}
	if out == nil {
		return nil
	}
	return out.encode()
}

// security writes 0.3's security: alternatives, each an object of scheme names.
func (s Schemes) security() jsontext.Value {
	return s.alternatives(func(name string) object {
		return object{{name, array(nil)}}
	})
}

// requirements writes 1.0's securityRequirements, or nil.
func (s Schemes) requirements(shape Requirements) jsontext.Value {
	var scopes jsontext.Value
	switch shape {
	case SpecRequirements:
		scopes = object{{"list", array(nil)}}.encode()
	case GoRequirements:
		scopes = array(nil)
	default:
		return nil
	}
	return s.alternatives(func(name string) object {
		return object{{"schemes", object{{name, scopes}}.encode()}}
	})
}

// authentication writes 0.1's list of scheme names. It never has credentials,
// which that version would have carried in the card itself.
func (s Schemes) authentication() jsontext.Value {
	var list []jsontext.Value
	if len(s.OIDC) > 0 {
		list = append(list, quote("Bearer"))
	}
	if s.APIKeyHeader != "" {
		list = append(list, quote("apiKey"))
	}
	if list == nil {
		return nil
	}
	return object{{"schemes", array(list)}}.encode()
}

// alternatives writes one object per scheme. An empty object among them is
// OpenAPI's way to say that no credential is fine too.
func (s Schemes) alternatives(entry func(name string) object) jsontext.Value {
	var out []jsontext.Value
	for _, sc := range s.list() {
		out = append(out, entry(sc.name).encode())
	}
	if out == nil {
		return nil
	}
	if s.Anonymous {
		out = append(out, object{}.encode())
	}
	return array(out)
}
