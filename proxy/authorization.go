package proxy

// AuthorizationConfig is agents[].authorization: what becomes of a task that waits for
// authorization (A2A 1.0 §7.6). Where a credential with `on: auth-required` fits, the
// gateway answers it by itself, once; else it reaches the client with what this section
// adds.
type AuthorizationConfig struct {
	// Hosts are those that links in such a task may lead to, beside the issuers of
	// authn.oidc, with * for any label in front ("*.example.com"). Default: any.
	Hosts []string `yaml:"hosts"`
	// Links says what becomes of a task with a link elsewhere: refuse (default; 502), or
	// report: it passes, and is recorded.
	Links string `yaml:"links"`
	// ResourceMetadata is the RFC 9728 document that says where a token for the agent's
	// system can be had. Default: the gateway's own.
	ResourceMetadata string `yaml:"resourceMetadata"`
	// Message is the text of the gateway's own answer to such a task. Default:
	// "Authorization has been provided."
	Message string `yaml:"message"`
}
