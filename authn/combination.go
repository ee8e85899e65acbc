package authn

// Combination is one entry of authn.combinations: the credentials that make a call
// together. Each is "oidc" (a token of any issuer), one issuer's address, "apiKeys" or
// "mtls". Two that are combined must not share a header.
type Combination struct {
	// User is the credential that names the caller: tasks are its, and rules are about
	// it.
	User string `yaml:"user"`
	// Client is the credential of the software that calls, in Principal.Workload.
	// Default: none is needed, and none may come.
	Client string `yaml:"client,omitempty"`
}
