package proxy

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

// sessions serves the event streams of clients: it subscribes to agents, relays, resumes and reconnects.
type sessions struct {
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
