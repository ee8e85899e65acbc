package authn

// Security is how a scheme is asked for in an agent card: a security scheme as OpenAPI has
// them, of which A2A cards are made.
type Security struct {
	Kind   SecurityKind
	Issuer string // whose access tokens they are, with OpenIDConnect
	Header string // that the credential comes in; "" for Authorization, and for MutualTLS
}

// SecurityKind is a type of security scheme, by its name in OpenAPI.
type SecurityKind string

// The kinds that schemes of a gateway are of.
const (
	OpenIDConnect SecurityKind = "openIdConnect"
	APIKey        SecurityKind = "apiKey"
	HTTPBearer    SecurityKind = "http"
	MutualTLS     SecurityKind = "mutualTLS"
)
