// Package demo holds the sample agents and the development token issuer behind
// `a2a-gateway demo`, the examples in the documentation and many tests.
//
// It owns two agents that speak A2A through the official Go SDKs, unchanged,
// and one OpenID Connect issuer. It does not own anything a production
// deployment should use: nothing here persists, the agents accept every caller
// unless told otherwise, and the issuer's clients and secrets are public
// knowledge. It may import the SDKs and nothing else of this module.
//
// # Billing, protocol 1.0
//
// [Agent10] speaks JSON-RPC at / and HTTP+JSON at /rest, or with [Options.GRPC]
// gRPC alone. Its skills are `summarize` and `refund`. The first word of the message text chooses what it
// does; case does not matter, and words after it are arguments:
//
//	hello             a plain message, no task
//	echo              a plain message that repeats every part it was sent
//	summarize         a task: submitted, working ×2, an artifact in three chunks, a data artifact, completed
//	refund INV-7      input-required; answer the same task with yes (completed) or no (rejected)
//	export            a task with a file by value (CSV) and a file by reference
//	login             auth-required; the sign-in happens elsewhere and the task completes 20 steps later
//	audit [n]         a long-running task, n progress updates (default 600); made to be cancelled
//	count [n]         a task that streams n artifact chunks (default 10)
//	reject            a task that is rejected
//	fail              a task that fails
//
// Anything else is answered by a message that lists the words. A bare "task"
// in front ("task hello") turns a message reply into a completed task.
//
// # Weather, protocol 0.3
//
// [Agent03] runs on the 0.3 SDK, JSON-RPC at / and HTTP+JSON at /rest (paths
// /rest/v1/…). That SDK has no HTTP+JSON server of its own, so the 1.0 SDK's
// compatibility handler is put in front of the same 0.3 request handler: both
// bindings see the same tasks. Its skills are `forecast` and `alerts`:
//
//	hello             a plain message
//	echo              a plain message that repeats every part it was sent
//	forecast [place]  a task that streams a text artifact per day, then completes
//	alerts [place]    a task with a data artifact; without a place: input-required
//	watch [n]         a long-running task, n progress updates (default 600)
//	reject, fail      as above
//
// # One task
//
// "summarize" over SendStreamingMessage is these events, each a line of the stream:
//
//	task             submitted, with its id and the id of its context
//	statusUpdate     working
//	artifactUpdate   three chunks of one artifact: append is false for the first, lastChunk is
//	                 true for the last
//	statusUpdate     working
//	artifactUpdate   a data artifact, whole
//	statusUpdate     completed, after which the stream ends
//
// Between two events there is a pause of [Options.Step], so that cancelling, resubscribing and
// disconnecting have something to happen in.
//
// # Issuer
//
// [NewIssuer] serves what an OpenID Connect provider does, on one origin:
//
//	GET  /.well-known/openid-configuration        discovery, also at …/oauth-authorization-server
//	GET  /jwks                                    the public keys, the newest first
//	POST /token                                   client_credentials and authorization_code
//	GET  /authorize                               a page with the users, or login_hint
//	GET  /logout                                  sends the browser back
//
// A token of alice's, decoded, has these claims beside iss, iat, exp and jti:
//
//	{"sub":"alice","aud":["a2a-gateway"],"client_id":"alice","scope":"billing.read …","groups":["finance"],"tenant":"acme"}
//
// # Extension
//
// Both agents declare [CostCentre]. A caller who activates it finds the
// message's cost centre repeated in the metadata of what the agent says, and
// the URI in the answer's extensions header. With [Options.RequireExtension]
// the agents refuse callers who do not.
package demo
