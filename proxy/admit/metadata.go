package admit

// Metadata is the RFC 9728 document. It has no jwks_uri: that is for keys that a
// resource signs its answers with, and the gateway's sign what it says to agents. It
// has no scopes_supported: they would tell strangers of rules.
type Metadata struct {
	Resource string   `json:"resource"`
	Servers  []string `json:"authorization_servers,omitempty"`
	Methods  []string `json:"bearer_methods_supported"`
	Name     string   `json:"resource_name"`

	// Absent means false.
	Certificates bool     `json:"tls_client_certificate_bound_access_tokens,omitzero"`
	Proofs       []string `json:"dpop_signing_alg_values_supported,omitempty"`
	NeedsProof   bool     `json:"dpop_bound_access_tokens_required,omitzero"`
}

// MetadataOf is the document of a resource. How tokens are taken is the same everywhere, and
// says nothing about which agents exist.
func (au *Authenticator) MetadataOf(resource string) Metadata {
	tokens := au.Authn.Usage()
	m := Metadata{Resource: resource, Servers: tokens.Issuers, Name: "a2a-gateway", Proofs: tokens.Proofs}
	if tokens.Bearer {
		m.Methods = []string{"header"}
	}
	m.Certificates = len(tokens.Issuers) > 0 && au.Server.TLS != nil && au.Server.TLS.AsksClients()
	m.NeedsProof = tokens.Bound && !m.Certificates // else a certificate would do
	return m
}
