package approvers

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/taskstate"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// longestReason bounds what is kept of an agent's reason, in bytes, as of people's.
const longestReason = 500

// abstains is the reply of an agent that says nothing which counts. Nothing of its answer is in it.
func abstains(e *agents.Endpoint, why string, args ...any) *approvals.Reply {
	return &approvals.Reply{Interface: e.Address, Answer: &approvals.Answer{Decision: approvals.Abstain, Why: fmt.Sprintf(why, args...)}}
}

// read reads an answer: a message, or a task.
func (a Approver) read(l *exchange.UpstreamCall, resp *http.Response, body []byte, c *approvals.Call) (*approvals.Reply, error) {
	doc, wrong := a.document(l, resp, body)
	var err error
	if wrong == nil {
		doc, err = l.Retell.Answer(nil, doc)
	}
	switch {
	case wrong != nil && comes(wrong):
		return nil, again("it answers %s", wrong.Reason)
	case wrong != nil && wrong.Reason == wire.Internal.Reason:
		return nil, fails("it answers %s", wrong.Reason)
	case resp.StatusCode >= http.StatusInternalServerError:
		return nil, fails("it answers HTTP %d", resp.StatusCode)
	case wrong != nil && wrong.Reason != wire.BadAgentResponse.Reason:
		return abstains(l.Endpoint, "it answers %s", wrong.Reason), nil
	case resp.StatusCode >= http.StatusMultipleChoices:
		return abstains(l.Endpoint, "it answers HTTP %d", resp.StatusCode), nil
	case wrong != nil || err != nil:
		return abstains(l.Endpoint, "its answer cannot be read"), nil
	}
	var said struct {
		Task    *task   `json:"task"`
		Message *spoken `json:"message"`
		task            // of an answer about a task
	}
	if err := json.Unmarshal(doc, &said); err != nil {
		return abstains(l.Endpoint, "its answer cannot be read"), nil
	}
	reply, shown := &approvals.Reply{Interface: l.Address}, cmp.Or(said.Task, &said.task)
	switch {
	case said.Message != nil:
		reply.Answer = decision(said.Message.Parts, c)
	case shown.ID == "":
		return abstains(l.Endpoint, "its answer is neither a message nor a task"), nil
	default:
		reply.Task, reply.Answer = shown.ID, shown.answer(c)
	}
	return reply, nil
}

// spoken is a message of the agent's.
type spoken struct {
	Parts []struct {
		Data jsontext.Value `json:"data"`
	} `json:"parts"`
}

// task is a task of the agent's, without its history: the question is in there.
type task struct {
	ID     string `json:"id"`
	Status struct {
		State   string `json:"state"`
		Message spoken `json:"message"`
	} `json:"status"`
	Artifacts []spoken `json:"artifacts"`
}

// answer is what a task says; nil as long as the agent works on it.
func (t *task) answer(c *approvals.Call) *approvals.Answer {
	state := t.Status.State
	switch {
	case state == "TASK_STATE_COMPLETED":
		parts := t.Status.Message.Parts
		for _, a := range t.Artifacts {
			parts = append(parts, a.Parts...)
		}
		return decision(parts, c)
	case state == "TASK_STATE_SUBMITTED", state == "TASK_STATE_WORKING":
		return nil
	case taskstate.Settled(state):
		name := strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(state, "TASK_STATE_")), "_", "-")
		return &approvals.Answer{Decision: approvals.Abstain, Why: "its task is " + name}
	}
	return &approvals.Answer{Decision: approvals.Abstain, Why: "its task is in no state of A2A"}
}

// said is a decision as an agent writes it.
type said struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
	Digest   string `json:"digest"`
}

var errDecision = errors.New("its decision is malformed")

// decision is the one that data parts have: of several that are not the same, none counts.
func decision(parts []struct {
	Data jsontext.Value `json:"data"`
}, c *approvals.Call) *approvals.Answer {
	var found []said
	for _, p := range parts {
		if p.Data.Kind() != '{' {
			continue
		}
		var members map[string]jsontext.Value
		if err := json.Unmarshal(p.Data, &members); err != nil {
			continue
		}
		value, ok := members[URI]
		if !ok {
			continue
		}
		one, err := readDecision(value)
		switch {
		case err != nil:
			return &approvals.Answer{Decision: approvals.Abstain, Why: err.Error()}
		case !slices.Contains(found, one):
			found = append(found, one)
		}
	}
	switch {
	case len(found) == 1 && found[0].Digest == "":
		return &approvals.Answer{Decision: approvals.Abstain, Why: "its decision has no digest"}
	case len(found) == 0:
		return &approvals.Answer{Decision: approvals.Abstain, Why: "its answer has no decision"}
	case len(found) > 1:
		return &approvals.Answer{Decision: approvals.Abstain, Why: "its answer has several decisions"}
	case found[0].Digest != c.Digest:
		return &approvals.Answer{Decision: approvals.Abstain, Why: "its decision has another digest than the call"}
	}
	return &approvals.Answer{Decision: found[0].Decision, Reason: found[0].Reason}
}

func readDecision(value jsontext.Value) (said, error) {
	var one said
	if err := json.Unmarshal(value, &one); err != nil {
		return one, errDecision
	}
	switch one.Decision {
	case approvals.Approve, approvals.Reject, approvals.Abstain:
	default:
		return one, errDecision
	}
	if len(one.Reason) > longestReason {
		one.Reason = strings.ToValidUTF8(one.Reason[:longestReason], "")
	}
	return one, nil
}
