package authn

// MTLS is authn.mtls: client certificates as identities. The subject is a name in the
// certificate's subjectAltName, never its common name; the principal's issuer is
// "mtls". Which CAs count is server.tls.clientCA.
type MTLS struct {
	// Names says which kind of name is the subject, in the order of preference: uri,
	// dns. A certificate needs exactly one of the kind that is taken. Default:
	// [uri, dns].
	Names []string `yaml:"names,omitempty"`
	// TrustDomains are the SPIFFE trust domains whose ids are taken (spiffe://DOMAIN/…).
	// Default: any that a trusted CA vouches for.
	TrustDomains []string `yaml:"trustDomains,omitempty"`
	// Identities says more of callers, by the name in their certificate. Without an
	// entry that matches, a certificate is refused, unless there are no entries at all.
	// The first match counts.
	Identities []CertificateIdentity `yaml:"identities,omitempty"`
}

// CertificateIdentity maps names of certificates to principals.
type CertificateIdentity struct {
	// Name is a subject, in which a * stands for any run of characters.
	Name string `yaml:"name"`
	// Subject the caller is known by. Default: the name in the certificate.
	Subject string `yaml:"subject,omitempty"`
	// Groups, Scopes and Tenant are given to the principal.
	Groups []string `yaml:"groups,omitempty"`
	Scopes []string `yaml:"scopes,omitempty"`
	Tenant string   `yaml:"tenant,omitempty"`
	// Agents binds the identity to these agents. Default: any.
	Agents []string `yaml:"agents,omitempty"`
}
