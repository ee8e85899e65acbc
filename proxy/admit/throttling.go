package admit

import (
	"net/http"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
	"github.com/a2a-gateway/a2a-gateway/telemetry/anomaly"
)

// Throttling refuses calls of callers who did something unusual before (telemetry/anomaly).
type Throttling struct {
	Anomalies *anomaly.Watch
	Telemetry *telemetry.Telemetry
}

// Throttle: is the caller held back for what it did before? It comes before anybody looks
// for a task: who tries ids must not learn from the answer which of them exist.
func (th *Throttling) Throttle(x *exchange.Exchange) error {
	// In 0.1 it is the caller who names a new task: none is looked for under that name.
	names := x.Call.Version == wire.V01 && x.Call.Method.Subject == wire.OfMessage
	return th.Anomalies.Check(&anomaly.Call{
		Caller: anomalyCaller(x), Method: x.Call.Method.Name,
		Task: x.Call.TaskID != "" && !names, Refers: len(x.Call.ReferenceTaskIDs) > 0,
	})
}

// ThrottleSkill asks what can be asked once the skill is known.
func (th *Throttling) ThrottleSkill(x *exchange.Exchange) error {
	return th.Anomalies.CheckSkill(anomalyCaller(x), x.Agent.ID, x.Skill)
}

// anomalyCaller is whom the call is counted for where unusual things are.
func anomalyCaller(x *exchange.Exchange) anomaly.Caller {
	return anomaly.CallerOf(x.Principal.Subject, x.Principal.Issuer, x.Principal.Method, x.Rec.ClientIP)
}

// Throttled answers a caller who is held back. What was unusual is for the record only:
// it would tell whoever tries how far to go.
func (th *Throttling) Throttled(x *exchange.Exchange, t *anomaly.Throttled) *wire.Error {
	x.Rec.Limit = "telemetry.anomalies." + t.Detector
	th.Telemetry.Metrics.Anomalies.Throttled(t.Detector)
	e := wire.Errorf(wire.RateLimited, "rate limited").Because(t)
	e.Header = http.Header{"Retry-After": {limits.RetryAfter(t.After)}}
	return e
}
