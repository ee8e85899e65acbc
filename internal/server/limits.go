package server

import (
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/overload"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/server/screen"
)

// Limits is the server.limits section. In every key, 0 is the default.
type Limits struct {
	// Largest request body. Default: 4MiB.
	Body quantity.Size `yaml:"body,omitempty"`

	// Slowest acceptable request body, in bytes per second, after timeouts.body.
	// Default: 1KiB.
	BodyRate quantity.Size `yaml:"bodyRate,omitempty"`

	// Most that the gateway reads and discards of a request after an early answer, for instance to a
	// body that is too large. The client may still be sending, and would lose the answer if the
	// gateway closed the connection (RFC 9112 §9.6). It closes the connection then, or after
	// timeouts.linger. Default: 64MiB.
	Linger quantity.Size `yaml:"linger,omitempty"`

	// Largest request head, request line and fields together; the gateway answers larger ones with
	// 431. Default: 48KiB, which leaves room beside a token of authn.limits.token.
	Header quantity.Size `yaml:"header,omitempty"`

	// Longest request target, path and query together. Default: 8KiB.
	Target quantity.Size `yaml:"target,omitempty"`

	// Longest query. Default: 4KiB.
	Query quantity.Size `yaml:"query,omitempty"`

	// Most query parameters. Default: 64.
	Parameters int `yaml:"parameters,omitempty"`

	// Most header field lines. Default: 100.
	Fields int `yaml:"fields,omitempty"`

	// Deepest nesting of a JSON body. Default: 64.
	JSONDepth int `yaml:"jsonDepth,omitempty"`

	// Most members of one JSON object or array. Default: 10000.
	JSONMembers int `yaml:"jsonMembers,omitempty"`

	// Most parts of one message. Default: 1000.
	Parts int `yaml:"parts,omitempty"`

	// Largest answer of an agent that is not a stream. Default: 16MiB.
	Answer quantity.Size `yaml:"answer,omitempty"`

	// Largest event of an agent's stream. Default: 4MiB.
	Event quantity.Size `yaml:"event,omitempty"`

	// Most event streams open at once; the gateway answers further ones with 503. Default: 10000.
	Streams int `yaml:"streams,omitempty"`

	// Most tasks of one caller on one agent that the gateway lists itself, for agents of a version
	// without ListTasks. It asks the agent for each of them. A caller with more has to name a
	// context. Default: 1000.
	ListedTasks int `yaml:"listedTasks,omitempty"`

	// Most pages of an agent's ListTasks that the gateway reads to fill one page for a caller,
	// because it leaves out the tasks of others. Then the caller gets the page as it is, and a token
	// to go on with. Default: 20.
	ListedPages int `yaml:"listedPages,omitempty"`

	// Most gateways and proxies that a call may have passed before this one (Via, RFC 9110 §7.6.3);
	// the gateway answers other calls with 508. Default: 8.
	Hops int `yaml:"hops,omitempty"`

	// Most connections open at once. The gateway answers a few more with 503, and closes the rest
	// unanswered. Every connection takes a file descriptor, and each of its calls one more toward
	// the agents. Default: 16384.
	Connections int `yaml:"connections,omitempty"`

	// Most connections of one client address, or of one IPv6 /64 network, open at once; the gateway
	// closes further ones. Default: 4096.
	ConnectionsPerIP int `yaml:"connectionsPerIP,omitempty"`

	// Most requests in flight on one HTTP/2 connection. Default: 100.
	ConnectionStreams int `yaml:"connectionStreams,omitempty"`

	// Frames on one HTTP/2 connection that serve no call: canceled calls, resets, pings, settings,
	// priorities, windows, data of a few bytes. The allowance is full again after half a minute, and
	// each answer restores a part of it. The gateway ends a connection that sends more (GOAWAY,
	// ENHANCE_YOUR_CALM). Default: 4 for each of connectionStreams, and 400 at least.
	ConnectionFrames int `yaml:"connectionFrames,omitempty"`

	// Most calls in flight at once, event streams not counted. The gateway answers further ones with
	// 503 before it checks anything else. One caller may have as many as places are left, so half of
	// them at most. Callers without a name differ by their addresses. Default: 10000.
	Requests int `yaml:"requests,omitempty"`

	// Memory in use, without garbage, above which the gateway answers new calls with 503, until it
	// is 5 % less. It still answers requests for cards, health and metrics. Default: 90 % of
	// GOMEMLIMIT, which serve sets to 90 % of the cgroup's limit if it is not set. Without any of
	// these the gateway refuses nothing for memory. If this is the only limit, the gateway tells the
	// garbage collector of it.
	Memory quantity.Size `yaml:"memory,omitempty"`

	// Memory in use above which the gateway answers new event streams, and calls with bodies above
	// largeBody, with 503, until it is 5 % less. Default: 85 % of memory.
	SoftMemory quantity.Size `yaml:"softMemory,omitempty"`

	// Largest body that the gateway takes in whatever memory is left. Larger ones together fill no
	// more than half of what is free, and above softMemory it takes none. Default: 64KiB.
	LargeBody quantity.Size `yaml:"largeBody,omitempty"`

	// Longest that work may wait for a processor. When every wait has been longer for a second, the
	// gateway sheds load until waits are shorter: it answers with 503 the calls of each caller above
	// a share that is the same for all. A long time, such as 1h, refuses nothing. Default: 100ms.
	Delay quantity.Duration `yaml:"delay,omitempty"`

	// File descriptors that the gateway may use. It keeps 64 for its own files. Of the others every
	// connection takes one, and its call one more toward the agent. It answers connections beyond
	// that with 503, or closes them. When no more than a sixteenth of all is left, and 64 at least,
	// it answers additional calls and new event streams with 503. Default, and most: what the system
	// permits the process (RLIMIT_NOFILE).
	Descriptors int `yaml:"descriptors,omitempty"`
}

// Defaults fills in what is not set.
func (l *Limits) Defaults() {
	fill(&l.Body, 4<<20)
	fill(&l.BodyRate, 1<<10)
	fill(&l.Linger, 64<<20)
	fill(&l.Header, 48<<10)
	fill(&l.Target, 8<<10)
	fill(&l.Query, 4<<10)
	fill(&l.Parameters, 64)
	fill(&l.Fields, 100)
	fill(&l.JSONDepth, 64)
	fill(&l.JSONMembers, 10_000)
	fill(&l.Parts, 1000)
	fill(&l.Answer, 16<<20)
	fill(&l.Event, 4<<20)
	fill(&l.Streams, 10_000)
	fill(&l.ListedTasks, 1000)
	fill(&l.ListedPages, 20)
	fill(&l.Hops, 8)
	fill(&l.Connections, 16_384)
	fill(&l.ConnectionsPerIP, 4096)
	fill(&l.ConnectionStreams, 100)
	fill(&l.ConnectionFrames, max(400, 4*l.ConnectionStreams))
	fill(&l.Requests, 10_000)
	fill(&l.LargeBody, 64<<10)
	fill(&l.Delay, quantity.Duration(100*time.Millisecond))
}

// Overload is what of the limits is compared with what is measured.
func (l *Limits) Overload() overload.Limits {
	return overload.Limits{
		Memory: int64(l.Memory), SoftMemory: int64(l.SoftMemory),
		Descriptors: l.permitted(descriptors()), Delay: l.Delay.Std(),
	}
}

// Screen is what of the limits a request is held to before anybody reads what it says.
func (l *Limits) Screen() screen.Limits {
	return screen.Limits{Target: int(l.Target), Query: int(l.Query), Parameters: l.Parameters, Fields: l.Fields}
}
