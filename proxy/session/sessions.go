// Package session serves the streams of clients: it reads the agent's events, judges and
// translates each, resumes behind Last-Event-ID, reconnects to the agent, polls an agent that
// does not stream, and keeps a stream going whose client has left.
//
// # The last stage
//
// Forward is the last stage of every governed call, streams or not. Calls that are answered once
// pass through here to package forward; what this package adds are the streams, and the time and
// places that a call holds:
//
//	Forward         a place for the stream (server.limits.streams, streams.perPrincipal), or 503
//	  withinTimeout the agent's time for the answer; afterwards nothing is left of the call
//	    answerCall  ListTasks; a stream that is there already; SubscribeToTask in front of older agents; else the agent
//	      relay     the agent's stream becomes a feed (proxy/stream), and the client follows it
//
// # One message/stream
//
// The agent's answer is text/event-stream. relayTo opens a feed of its body: a goroutine of the
// hub reads events, the judge of this package reads each once for all clients (ids, JSON-RPC id,
// the grammar of streams, artifacts), and what it keeps are the feed's entries. The client's own
// part begins there: tellEvent records the ids as the caller's, holds the event to what was
// negotiated, translates it where the versions differ, and emits it with an id, the sealed task
// and the number of the entry:
//
//	data: {"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t1",…}}
//
//	id: kA3…f9.2
//	data: {"jsonrpc":"2.0","id":1,"result":{"kind":"status-update","taskId":"t1",…}}
//
// The feed is bound to its task with the first event that shows one. From then on a second client
// that subscribes to the task joins the feed instead of asking the agent (shareFeed), and events
// have ids.
//
// Over HTTP/1.1 the handler returns as soon as the stream has to wait for its next event
// (detach). The connection is taken over from net/http, and what is left is a struct without a
// goroutine, which is called when there is something to write.
//
// # One tasks/resubscribe, or a Last-Event-ID
//
//   - a task that has a feed here, or in the log of another replica: the task as it is by the
//     feed's events, then what comes.
//   - Last-Event-ID of an event that is kept: the events behind it, then what comes
//     (resumeStream).
//   - one that is not kept any more: the task as it is, asked for anew, then what comes
//     (showTaskAnew).
//   - one that was not given to this caller for this task: INVALID_PARAMS.
//   - a task without a feed, in front of an agent of 1.0: the agent's own stream.
//   - the same in front of an older agent: GetTask and the agent's resubscribe at once, the
//     snapshot first (subscribe).
//
// # When the agent's stream breaks
//
// The first client of the feed to notice reopens it for all (reconnect): SubscribeToTask, or
// where the agent has no such stream GetTask every streams.poll (poll), for streams.resubscribe
// at most. The task as the agent shows it then is compared with what the feed has shown, and what
// is missing is made into events, so that clients notice a pause and nothing else.
//
// # Refusals
//
// Before the header is out a refusal is an answer of its own; afterwards it is the stream's last
// event, and an event that is refused is counted with what came behind it (Dropped). What ends a
// stream stands in the record's end field, one of the texts of proxy/stream/ending.
package session

import (
	"github.com/a2a-gateway/a2a-gateway/internal/overload"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/proxy/admit"
	"github.com/a2a-gateway/a2a-gateway/proxy/authorize"
	"github.com/a2a-gateway/a2a-gateway/proxy/cursors"
	"github.com/a2a-gateway/a2a-gateway/proxy/forward"
	"github.com/a2a-gateway/a2a-gateway/proxy/inspect"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/negotiate"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
	"github.com/a2a-gateway/a2a-gateway/proxy/ownership"
	"github.com/a2a-gateway/a2a-gateway/proxy/record"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/tasklist"
	"github.com/a2a-gateway/a2a-gateway/proxy/webhooks"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// Sessions serves the event streams of clients: it subscribes to agents, relays, resumes and
// reconnects.
//
// It embeds the stages it sends calls through. Drain and Hold are given by internal/gateway:
// Drain runs a function when the process shuts down, Hold keeps the configuration alive for
// streams whose handlers have returned. Server, Policy and StreamConfig are those of one
// configuration; Hub and Streams outlive it.
type Sessions struct {
	*admit.Admissions
	*cursors.Cursors
	*negotiate.ExtensionRules
	*record.Recorder
	*webhooks.Webhooks
	*intake.Decoder
	*ownership.Owners
	*inspect.Inspector
	*forward.Forwarder
	*authorize.Authorizer
	*tasklist.Lister

	Drain        func(end func()) (stop func() bool)
	Hold         func() (release func())
	Hub          *stream.Hub
	Ledger       *ledger.Ledger
	Load         *overload.Ladder
	Policy       *policy.Set
	Server       *server.Config
	StreamConfig stream.Config
	Streams      *openstreams.Streams
	Telemetry    *telemetry.Telemetry
}
