package card

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Schemes is the security of the gateway, which replaces the agent's: a caller
// authenticates to the gateway and never to the agent.
type Schemes struct {
	// OIDC are the issuers whose access tokens are taken.
	OIDC []Issuer

	// APIKeyHeader is the header that carries API keys, "" for none.
	APIKeyHeader string

	// Bearer says that API keys are taken in Authorization too, behind "Bearer ".
	Bearer bool

	// MTLS says that client certificates are identities.
	MTLS bool

	// Combinations are the credentials that have to come together, as alternatives:
	// "oidc" (of any issuer), an issuer of OIDC, "apiKeys" or "mtls" each. None: any
	// one scheme alone.
	Combinations [][]string

	// Anonymous adds the alternative of no credential at all.
	Anonymous bool
}

// Issuer is one of the issuers of Schemes.
type Issuer struct {
	URL string // as its tokens spell it
	// Header carries its tokens, alone or behind "Bearer "; "" is Authorization, behind
	// "Bearer " or "DPoP ". OpenAPI's scheme for issuers knows Authorization only, so
	// tokens in another header are API keys to readers of cards.
	Header string
}

// Requirements is a shape of 1.0's securityRequirements.
type Requirements string

// The shapes, by what a scheme's scopes look like. The empty one means
// autoRequirements: the specification's makes Go's SDK (2.4.0) refuse the whole
// card, Go's makes strict Protobuf readers do so, though Python's and
// JavaScript's let it pass as long as no scope is listed.
const (
	autoRequirements Requirements = "auto" // under names that each reader reads in its own shape
	omitRequirements Requirements = "omit" // none
	specRequirements Requirements = "spec" // {"schemes":{"oidc":{"list":[]}}}
	goRequirements   Requirements = "go"   // {"schemes":{"oidc":[]}}

	// nullScopes is {"schemes":{"oidc":null}}.
	nullScopes Requirements = "null"
)

// scheme is one entry of securitySchemes.
type scheme struct {
	name    string // key, and the name used in requirements
	kind    string // 0.3's discriminator
	wrapper string // 1.0's member
	fields  object // members that both versions call the same
	where   string // what is an API key to cards: "in" of 0.3, "location" of 1.0
	issuer  string // tokens only: whose
	bearer  bool   // it goes into Authorization
	alone   bool   // it stands in no combination
}

// What Combinations call the kinds of credential.
const (
	anyIssuer   = "oidc"
	apiKeys     = "apiKeys"
	certificate = "mtls"
)

// in is what a form can say of s: readers of 0.2 refuse a card with a kind of scheme
// that they do not know, and mutualTLS came with 0.3.
func (s Schemes) in(v wire.Version) Schemes {
	s.MTLS = s.MTLS && v != wire.V01
	return s
}

// list names the schemes in a fixed order.
func (s Schemes) list() []scheme {
	var out []scheme
	for i, issuer := range s.OIDC {
		for _, sc := range issuer.schemes(s.enough(issuer)) {
			if i > 0 {
				sc.name += "-" + strconv.Itoa(i+1)
			}
			out = append(out, sc)
		}
	}
	if s.APIKeyHeader != "" {
		out = append(out, scheme{
			name: "apiKey", kind: "apiKey", wrapper: "apiKeySecurityScheme",
			fields: object{{"name", quote(s.APIKeyHeader)}}, where: "header",
		})
	}
	if s.Bearer {
		out = append(out, scheme{
			name: "bearer", kind: "http", wrapper: "httpAuthSecurityScheme",
			fields: object{{"description", quote("API key")}, {"scheme", quote("bearer")}}, bearer: true,
		})
	}
	if s.MTLS {
		out = append(out, scheme{name: "mtls", kind: "mutualTLS", wrapper: "mtlsSecurityScheme"})
	}
	return out
}

// enough reports whether a token of the issuer needs no other credential beside it.
func (s Schemes) enough(i Issuer) bool {
	return len(s.Combinations) == 0 || slices.ContainsFunc(s.Combinations, func(c []string) bool {
		return len(c) == 1 && (c[0] == anyIssuer || c[0] == i.URL)
	})
}

// schemes are how a card asks for tokens of the issuer. One that is enough alone is a bearer
// token to readers who know no issuers: the Go SDK sends nothing for openIdConnect.
func (i Issuer) schemes(alone bool) []scheme {
	description := quote("Access token of " + i.URL)
	if i.Header != "" {
		return []scheme{{
			name: "token", kind: "apiKey", wrapper: "apiKeySecurityScheme", where: "header", issuer: i.URL,
			fields: object{{"description", description}, {"name", quote(i.Header)}},
		}}
	}
	discovery := strings.TrimSuffix(i.URL, "/") + "/.well-known/openid-configuration"
	list := []scheme{{
		name: "oidc", kind: "openIdConnect", wrapper: "openIdConnectSecurityScheme",
		fields: object{{"openIdConnectUrl", quote(discovery)}}, issuer: i.URL, bearer: true,
	}}
	if alone {
		list = append(list, scheme{
			name: "oidcBearer", kind: "http", wrapper: "httpAuthSecurityScheme", issuer: i.URL, bearer: true, alone: true,
			fields: object{{"description", description}, {"scheme", quote("bearer")}},
		})
	}
	return list
}

// means reports whether the scheme is what a combination calls credential.
func (sc *scheme) means(credential string) bool {
	switch {
	case sc.issuer != "":
		return credential == anyIssuer || credential == sc.issuer
	case sc.wrapper != "mtlsSecurityScheme":
		return credential == apiKeys
	}
	return credential == certificate
}

// together lists the names of schemes that are enough, each list by being complete. A
// combination that this form has no words for is left out: one that lacks a part
// would promise too much.
func (s Schemes) together() [][]string {
	list := s.list()
	var out [][]string
	if len(s.Combinations) == 0 {
		for _, sc := range list {
			out = append(out, []string{sc.name})
		}
		return out
	}
	for _, credentials := range s.Combinations {
		whole := [][]string{nil}
		for _, credential := range credentials {
			whole = extend(whole, list, credential, len(credentials) == 1)
		}
		if len(credentials) > 0 {
			out = append(out, whole...)
		}
	}
	return out
}

// extend adds to each list every scheme in turn that the credential can be. No scheme
// stands twice in one: a caller has one token of an issuer. Nor does a key that goes into
// Authorization stand beside a token that does. The credential is alone if the combination
// has no other.
func extend(all [][]string, list []scheme, credential string, alone bool) [][]string {
	var out [][]string
	for _, names := range all {
		for _, sc := range list {
			taken := func(o scheme) bool { return slices.Contains(names, o.name) && (o.name == sc.name || o.clashes(&sc)) }
			if sc.means(credential) && (alone || !sc.alone) && !slices.ContainsFunc(list, taken) {
				out = append(out, append(slices.Clip(names), sc.name))
			}
		}
	}
	return out
}

// clashes reports whether a request has no room for both, of which one is an API key.
func (sc *scheme) clashes(o *scheme) bool {
	return sc.bearer && o.bearer && (sc.issuer == "") != (o.issuer == "")
}

// schemes writes securitySchemes. In the mixed form an object has both shapes
// side by side: 0.3's readers and Python's look at "type", Go's 1.0 reader wants
// exactly one of the wrapper members, and each ignores the other half.
func (s Schemes) schemes(modern, legacy bool) jsontext.Value {
	var out object
	for _, sc := range s.list() {
		var entry object
		if legacy {
			entry.put("type", quote(sc.kind))
			entry = append(entry, sc.placed("in")...)
		}
		if modern {
			entry.put(sc.wrapper, sc.placed("location").encode())
		}
		out.put(sc.name, entry.encode())
	}
	if out == nil {
		return nil
	}
	return out.encode()
}

// placed are the fields, with where the credential is put under a version's name for that.
func (sc *scheme) placed(name string) object {
	out := append(object{}, sc.fields...)
	if sc.where != "" {
		out.put(name, quote(sc.where))
	}
	return out
}

// security writes 0.3's security: alternatives, each an object of scheme names.
func (s Schemes) security() jsontext.Value {
	return s.alternatives(func(names []string) object { return named(names, array(nil)) })
}

// named gives every scheme the same scopes.
func named(names []string, scopes jsontext.Value) object {
	var out object
	for _, name := range names {
		out.put(name, scopes)
	}
	return out
}

// requirements writes 1.0's securityRequirements, or nil.
func (s Schemes) requirements(shape Requirements) jsontext.Value {
	var scopes jsontext.Value
	switch shape {
	case specRequirements:
		scopes = object{{"list", array(nil)}}.encode()
	case goRequirements:
		scopes = array(nil)
	case nullScopes:
		scopes = jsontext.Value("null")
	default:
		return nil
	}
	return s.alternatives(func(names []string) object {
		return object{{"schemes", named(names, scopes).encode()}}
	})
}

// authentication writes 0.1's list of scheme names. It never has credentials,
// which that version would have carried in the card itself.
func (s Schemes) authentication() jsontext.Value {
	var list []jsontext.Value
	own := func(i Issuer) bool { return i.Header != "" }
	apart := slices.ContainsFunc(s.OIDC, own)
	if s.Bearer || slices.ContainsFunc(s.OIDC, func(i Issuer) bool { return !own(i) }) {
		list = append(list, quote("Bearer"))
	}
	if apart || s.APIKeyHeader != "" {
		list = append(list, quote("apiKey"))
	}
	if list == nil {
		return nil
	}
	return object{{"schemes", array(list)}}.encode()
}

// alternatives writes one object per list of schemes that are enough. An empty object
// among them is OpenAPI's way to say that no credential is fine too.
func (s Schemes) alternatives(entry func(names []string) object) jsontext.Value {
	var out []jsontext.Value
	for _, names := range s.together() {
		out = append(out, entry(names).encode())
	}
	if out == nil {
		return nil
	}
	if s.Anonymous {
		out = append(out, object{}.encode())
	}
	return array(out)
}
