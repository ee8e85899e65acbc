package proxy

import (
	"context"
	"net/http"
	"net/netip"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/authdemand"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/buffers"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// exchange is one request and everything the stages found out about it. It is passed
// explicitly and used by one goroutine, which is that of the request's handler until a stream
// leaves it (see detachedStream). The comment on each field names the stage that sets it.
//
// Its parts stand in the order of the stages that fill them in. A method that needs one part
// alone is that part's.
type exchange struct {
	fromClient
	admission
	destination
	parsedCall

	principal *authn.Principal // authenticate

	ownership
	authorized
	negotiation
	forwarding
	streamState
	recording
}

// fromClient is the request as the connection has it, and the response to its client (begin).
type fromClient struct {
	w      *response       // begin; out
	out    response        // begin
	r      *http.Request   // begin
	at     site            // begin; where the path leads
	ctx    context.Context // begin; carries the trace and the client's disconnect, nothing else
	client netip.Addr      // begin; for the record, and what refused credentials are counted by; nobody is let in by it
	id     [1]string       // begin; the request's, as headers have it
	length [1]string       // forward; that of the answer, likewise
}

// admission is what the call counts as among all calls: see internal/overload (admit, fairShare).
type admission struct {
	admitted bool   // admit; the call counts as one in flight
	counted  bool   // fairShare; it counts among the caller's
	network  string // fairShare; that of an anonymous client; see holder
	bulk     int64  // decode; bytes of a large body that count as held
}

// destination is whom the call is for: the agent, and what of it the path names (locate).
type destination struct {
	agent  *agents.Agent // locate; nil when the path or host names none that exists. On shared: decode
	shared bool          // locate; neither path nor host says which agent is meant
	home   *agents.Agent // locate; on shared: whom a call is for that names no agent. nil if it has to name one
	named  bool          // decode; the tenant named the agent, and is not the agent's own
	view   *agents.View  // decode; the agent's card
	rest   string        // locate; escaped path below the agent's base
	skill  string        // locate: from the path; authorize: as resolved
	path   string        // locate; the skill that the path names. On shared: decode, the tenant
	route  wire.Route    // locate; HTTP+JSON only
}

// parsedCall is the call as the wire had it (decode).
type parsedCall struct {
	call wire.Call       // locate: binding and version hint; decode: the rest
	body *buffers.Buffer // decode; holds call.Body until the exchange ends, or unload
	told *buffers.Buffer // prepare; holds the call as it is retold, likewise
}

// ownership is whose the task and the context are, and under which names both sides know them (checkOwnership, adopt).
type ownership struct {
	record   state.Record    // checkOwnership; of the task the call names; without one only the context's endpoint
	known    policy.Task     // authorize; what is recorded of the task, zero if none
	foreign  *foreign        // checkOwnership; set when the caller's context id had to be replaced
	contexts []foreign       // checkOwnership, forward; those that may go by other names with the caller, foreign among them
	query    string          // checkOwnership; replaces the request's query, for the same reason
	task     translate.Alias // checkOwnership; a 0.1 caller's name for the task, and the agent's
	session  translate.Alias // checkOwnership; the same for the context
	reserved string          // adopt; the context that has been made the caller's
}

// authorized is what the rules, the limits and the authorizers made of the call (authorize).
type authorized struct {
	agentwide   bool            // authorize; the call is not about one skill
	decision    policy.Decision // authorize
	callMessage callMessage     // authorize; what the call brings, where somebody judges it
	limitPass   *limits.Pass    // authorize; what the call holds of its caller's limits
	resumed     *limits.Pass    // authorize; of an earlier call, whose stream this one comes back to; nil for none
	outlives    bool            // forward; the call goes on when its client hangs up
}

// negotiation is which extensions are active, and what documents are held to (negotiate).
type negotiation struct {
	book      *ext.Book   // begin; the extensions that are registered
	asked     ext.Set     // authorize; what the client asked for
	names     ext.Names   // authorize; the header names the client used
	terms     ext.Outcome // negotiate
	shown     ext.Set     // negotiate; what the client asked for and gets, from whomever
	activated ext.Set     // forward; of what was sent, what the agent says it activated
	watched   *watch      // forward; what the agent's documents are held to, once one is looked at
	passes    bool        // forward; those that cannot carry anything are not looked at
}

// forwarding is the call on its way to the agent, and its answer on the way back (forward).
type forwarding struct {
	endpoint *agents.Endpoint        // decode; the interface of the agent's that serves the call best
	fellBack bool                    // forward; it is called in the caller's version, which its card does not have
	upstream *upstreamCall           // forward; the call as it goes to the agent
	trail    *telemetry.Trail        // forward; the spans of the call to the agent; nil where it is not traced
	sent     time.Time               // forward; when the call went to the agent
	late     *time.Timer             // forward; ends the wait for an answer
	up       *detachedRequest        // forward; the request for a stream of the agent's
	leads    bool                    // forward; the agent's document at hand is put before a stream
	stands   map[state.Step]standing // negotiate: of the call's task; forward
	question *authdemand.Demand      // forward; what a task wants to see that the gateway answers itself
	held     []byte                  // forward; the event that showed it, framed for the caller, until another has come
	webhook  *push.Registration      // forward; what the agent is given for the webhook that came with the call
	holders  map[string]string       // forward; the agent's instances by task, of the tasks that it is asked to list
	filtered bool                    // forward; the list at hand holds nothing of other callers' any more
}

// streamState is the client's stream: its place, and who writes it (forward).
type streamState struct {
	slot  *openstreams.Slot // forward; the stream\'s, of those that may be open
	fed   bool              // forward; events come from a feed, and their ids have been checked
	away  *server.Taken     // forward; the client's connection, once the exchange goes on without its handler
	stays bool              // forward; it does not
}

// recording is what is written down at the end (finish).
type recording struct {
	rec      telemetry.Exchange // all stages; written by finish
	captured *audit.Capture     // record; nil where nothing is
	left     bool               // refuse; nobody waited for the answer any more
	ended    func()             // notified; called when the exchange is on record
	learned  wire.TaskRef       // forward; what the previous event named, already in the ledger
	uses     *openstreams.Uses  // forward; what it uses of the state, where it may last; nil for a short call
}
