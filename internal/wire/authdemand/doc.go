// Package authdemand reads what a task says that waits for authorization: for whom a token is wanted
// (audiences), for what (scopes), and where a person is sent (links).
//
// A2A has a state for it, TASK_STATE_AUTH_REQUIRED (1.0 §7.6; auth-required in 0.3, and
// input-required in 0.1, which lacks it), and says that the credential goes to the agent by other
// ways than the call. What the agent wants has no shape in A2A. Frameworks put it into a data part
// of the status message, into metadata, or into plain text:
//
//	{"status":{"state":"TASK_STATE_AUTH_REQUIRED","message":{"parts":[
//		{"data":{"audience":"https://crm.example","scope":"read write"}},
//		{"text":"Sign in at [this page](https://login.example/go)."}]}}}
//
// The gateway can answer a demand with a token of its own making, and holds links to the hosts that
// they may lead to. Both are decisions about security that an agent's words must not be able to get
// around, so the package finds more than one reader would: whatever any client, browser or person
// might take for a demand or a link.
package authdemand
