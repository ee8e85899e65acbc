package authn

// Actors is authn.actors.
type Actors struct {
	// Depth is how many actors may stand behind one another in a credential: a token
	// with more is refused. Default: 5.
	Depth int `yaml:"depth,omitempty"`
}

// Actor is one party of a delegation (RFC 8693 §4.1).
type Actor struct {
	Subject string // sub; never empty
	Issuer  string // iss where the claim names one, else that of the credential
}

// String is for people and records.
func (a Actor) String() string { return a.Subject + "@" + a.Issuer }
