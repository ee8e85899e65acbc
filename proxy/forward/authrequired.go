package forward

import (
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/authdemand"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/negotiate"
)

const (
	defaultMessage = "Authorization has been provided."
)

// ReadDemand reads what a task in auth-required wants to see, nil for any other
// answer, and holds its links against the hosts that are permitted: an agent that has
// been taken over asks the user to log in somewhere else. That a task waits is never an
// authorization.
//
// Its error is that a link in the demand leads to a host that is not permitted
// (agents[].authorization.hosts), and withholds the answer.
func (fw *Forwarder) ReadDemand(x *exchange.Exchange, seen wire.Answer, doc []byte) (*authdemand.Demand, error) {
	if exchange.IsError(seen) || !AsksForMore(seen.State) {
		return nil, nil //nolint:nilnil // no demand and no error: the usual answer
	}
	d, ok := authdemand.Read(doc)
	if !ok {
		return nil, nil //nolint:nilnil // as above
	}
	if !slices.ContainsFunc(seen.Tasks, func(t wire.TaskRef) bool { return t.ID == d.Task }) {
		d.Task = "" // read in two ways: it may be somebody else's, and is not answered
	}
	return &d, fw.CheckLinks(x, &d)
}

// AsksForMore reports whether a task in that state may have a demand.
func AsksForMore(state string) bool {
	return state == "TASK_STATE_AUTH_REQUIRED" || state == "TASK_STATE_INPUT_REQUIRED"
}

// EnrichDemand tells the client where a token can be had for a task that waits for one, if
// that is known.
//
// The value goes into the metadata of the message in the task's status, under
// negotiate.TaskAuthorization; messages of the history and of other places are left alone.
func (fw *Forwarder) EnrichDemand(x *exchange.Exchange, doc []byte) ([]byte, error) {
	where := x.Agent.Authorization.ResourceMetadata
	if where == "" {
		return doc, nil
	}
	value, err := json.Marshal(map[string]string{"resource_metadata": where})
	if err != nil {
		return nil, err
	}
	cs, err := wire.ReadCarriers(x.Upstream.Side, x.Upstream.Call.Method, true, doc, fw.AnswerLimits())
	if err != nil {
		return nil, wire.Errorf(wire.BadAgentResponse, "").Because(err)
	}
	for i, c := range cs.List {
		if c.Place == wire.InMessage && !c.History && c.Parent >= 0 && cs.List[c.Parent].Place == wire.InStatus {
			cs.Set(i, negotiate.TaskAuthorization, value)
		}
	}
	return cs.Apply(), nil
}
