package exchange

import (
	"errors"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/taskstate"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/ending"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/grammar"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// Recording is what is written down at the end (finish).
type Recording struct {
	Rec      telemetry.Exchange // all stages; written by finish
	Captured *audit.Capture     // record; nil where nothing is
	Left     bool               // refuse; nobody waited for the answer any more
	Ended    func()             // notified; called when the exchange is on record
	Learned  wire.TaskRef       // forward; what the previous event named, already in the ledger
	Uses     *openstreams.Uses  // forward; what it uses of the state, where it may last; nil for a short call
}

// Begun reports whether the agent has shown a task.
func (x *Recording) Begun() bool { return x.Rec.TaskState != "" || x.Learned != (wire.TaskRef{}) }

// Dropped records what the client was not given of a stream that has ended with err, and
// which rule that was about.
func (x *Recording) Dropped(err error) {
	if r, ok := grammar.RuleOf(err); ok {
		x.Rec.Grammar = r.Err.Error()
	}
	var d *stream.Dropped
	if errors.As(err, &d) {
		x.Rec.DroppedEvents, x.Rec.DroppedBytes, x.Rec.DroppedMore = d.Events, d.Bytes, d.More
	}
}

// reached reports whether any of the call may have come to the agent, err being what became
// of it.
func (x *Recording) reached(err error) bool {
	return x.Rec.UpstreamStatus != 0 || x.Rec.Tries > 0 && !upstream.NotSent(err)
}

// Uncertain reports whether the call may have had an effect of which its caller has seen
// nothing: neither an answer of the agent's, nor an event of the task.
func (x *Exchange) Uncertain(err error) bool {
	return x.Call.Method != nil && x.Call.Method.Writes && x.reached(err) && x.Rec.Events == 0 && !errors.Is(err, ErrAgentSaid)
}

// uses notes that a quirk was used for the call.
func (x *Recording) UsesQuirk(q agents.Quirk) {
	if !slices.Contains(x.Rec.Quirks, string(q)) {
		x.Rec.Quirks = append(x.Rec.Quirks, string(q))
	}
}

// OneConfig reports whether an agent keeps one config per task, as those of 0.1 do.
func (x *Forwarding) OneConfig() bool { return x.Endpoint.Version == wire.V01 }

// Unregistered answers a call whose webhook is not taken.
func (x *Recording) Unregistered(r *push.RefusedError) error {
	if r.Key == "" {
		return wire.Errorf(wire.InvalidParams, "Invalid parameters: %s", r).Because(r)
	}
	x.Rec.Limit = r.Key
	return wire.Errorf(wire.RateLimited, "%s", r).Because(r)
}

// Depict copies what only spans show.
func (x *Exchange) Depict() {
	if !x.Rec.Sampled() {
		return
	}
	x.Rec.Verb, x.Rec.Route = x.Request.Method, x.Site.Pattern()
	if x.View != nil {
		x.Rec.AgentName = x.View.Card.Name
	}
}

// Describe copies what the stages found into the record.
func (x *Exchange) Describe() {
	rec := &x.Rec
	if x.Agent != nil {
		rec.Agent = x.Agent.ID
	}
	if x.Call.Method != nil && !rec.Resumed { // who comes back has made another call at first
		rec.Method = x.Call.Method.Name
	}
	rec.Binding, rec.Version = x.Binding().String(), string(x.Call.Version)
	rec.Skill = x.Skill
	if p := x.Principal; p != nil {
		rec.Principal, rec.Issuer, rec.Client = p.Subject, p.Issuer, p.Client
		rec.AuthMethod, rec.Groups, rec.Tenant, rec.KeyID = p.Method, p.Groups, p.Tenant, p.KeyID
		rec.Proof, rec.ACR, rec.KeyOwner = p.Proof, p.ACR, p.Owner
		rec.Scopes, rec.AMR, rec.AuthTime = p.Scopes, p.AMR, p.AuthTime
		if rec.Actors == nil {
			for _, a := range p.Actors {
				rec.Actors = append(rec.Actors, a.String())
			}
		}
		if p.Workload != nil {
			rec.Workload = p.Workload.String()
		}
	}
	if rec.TaskID == "" {
		rec.TaskID = x.Call.TaskID
	}
	if rec.ContextID == "" {
		rec.ContextID = x.Call.ContextID
	}
	rec.MessageID, rec.References = x.Call.MessageID, x.Call.ReferenceTaskIDs
	rec.Shadow = x.Shadow
	if len(x.Terms.Shadow) > 0 {
		rec.Shadow = slices.Concat(x.Shadow, x.Terms.Shadow)
	}
	if x.LimitPass != nil && len(x.LimitPass.Shadow) > 0 {
		rec.Shadow = slices.Concat(rec.Shadow, x.LimitPass.Shadow)
	}
	rec.ExtensionsRequested = x.Asked
	rec.ExtensionsInjected, rec.ExtensionsProvided, rec.ExtensionsRefused =
		x.Terms.Injected, x.Terms.Provided, x.Terms.Refused
	if rec.Decision == "" {
		rec.Decision = "allow"
	}
}

// EndTrail ends the span of the latest request for the caller's own call, err being what
// became of the exchange: what its answer has shown belongs to it.
func (x *Exchange) EndTrail(err error) {
	if x.Trail == nil {
		return
	}
	if x.Trail.Learn(&x.Rec); errors.Is(err, ErrAgentBroke) || errors.Is(err, ending.ErrBroken) || errors.Is(err, ending.ErrEarly) {
		x.Trail.End(x.Rec.UpstreamStatus, err)
	}
	x.Trail.End(x.Rec.UpstreamStatus, nil)
	x.Trail = nil
}

// Tally tells the limits of the tasks that an answer shows. Several goroutines may do so.
func (x *Exchange) Tally(seen wire.Answer) {
	if len(seen.Tasks) != 1 || seen.Kind == "list" || seen.State == "" {
		return
	}
	if x.Resumed != nil && taskstate.Terminal(seen.State) && seen.Tasks[0].ID == x.Call.TaskID {
		x.Resumed.Done()
	}
	if x.LimitPass == nil {
		return
	}
	x.LimitPass.Task(x.Ctx, seen.Tasks[0].ID, !taskstate.Terminal(seen.State))
}
