package verdict

import "github.com/go-json-experiment/json/jsontext"

// Question is one call that is asked about.
// Only Agent has to be given: everything else has the value of an ordinary call.
type Question struct {
	Agent      string         `json:"agent" doc:"its id"`
	Method     string         `json:"method,omitzero" doc:"as any version or an extension calls it; SendMessage unless set"`
	Skill      string         `json:"skill,omitzero" doc:"that the call names, by its path"`
	Caller     *Claimed       `json:"caller,omitzero" doc:"nobody in particular, a caller without a credential, unless set"`
	Extensions []string       `json:"extensions,omitzero" doc:"URIs that the call asks for"`
	Binding    string         `json:"binding,omitzero" doc:"JSONRPC (default), HTTP+JSON or GRPC"`
	Version    string         `json:"version,omitzero" doc:"of A2A; 1.0 unless set"`
	Source     string         `json:"source,omitzero" doc:"the caller's IP address"`
	At         string         `json:"at,omitzero" doc:"when the call is made (RFC 3339); now unless set"`
	Message    jsontext.Value `json:"message,omitzero" doc:"that the call brings, or the params around it, as 1.0 has them"`
	Task       *Task          `json:"task,omitzero" doc:"that the call names"`
}

// Claimed is what a credential says of a caller.
// Claims are JSON, so that numbers and lists are what they are in a token.
type Claimed struct {
	Subject  string                    `json:"subject"`
	Issuer   string                    `json:"issuer,omitzero" doc:"may be left out where one is configured"`
	Client   string                    `json:"client,omitzero"`
	Workload string                    `json:"workload,omitzero"`
	Tenant   string                    `json:"tenant,omitzero"`
	Groups   []string                  `json:"groups,omitzero"`
	Scopes   []string                  `json:"scopes,omitzero"`
	Claims   map[string]jsontext.Value `json:"claims,omitzero"`
	Actors   []string                  `json:"actors,omitzero" doc:"that act for the caller, the one that calls first"`
	ACR      string                    `json:"acr,omitzero"`
	AMR      []string                  `json:"amr,omitzero"`
	AuthTime string                    `json:"authTime,omitzero" doc:"when the sign-in was (RFC 3339), or how long ago (10m)"`
	Agents   []string                  `json:"agents,omitzero" doc:"that the credential is bound to"`
	Key      string                    `json:"key,omitzero" doc:"its id"`
	Owner    string                    `json:"owner,omitzero" doc:"of the key"`
	Proof    string                    `json:"proof,omitzero"`
}

// Task is what is recorded of one. What is not said of its owner is the caller's.
type Task struct {
	ID      string `json:"id,omitzero"`
	Context string `json:"context,omitzero"`
	Skill   string `json:"skill,omitzero"`
	Owner   string `json:"owner,omitzero"`
	Issuer  string `json:"issuer,omitzero"`
	Tenant  string `json:"tenant,omitzero"`
}
