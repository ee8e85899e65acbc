package pdp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
)

// authzen asks a policy decision point by OpenID's Authorization API 1.0.
type authzen struct {
	client   *client
	metadata *metadata
}

// newAuthZEN connects to nobody yet, and reads no metadata.
func newAuthZEN(life context.Context, c *Authorizer, files *tls.Config, egress *tunnel.Proxy) *authzen {
	cl := newClient(files, c.Token.Reveal(), egress)
	return &authzen{client: cl, metadata: newMetadata(life, cl, c.URL.Reveal())}
}

// close leaves the questions that are being asked to their contexts.
func (z *authzen) close() { z.client.http.CloseIdleConnections() }

// evaluation is the request of §6.1.
type evaluation struct {
	Subject  jsontext.Value `json:"subject"`
	Action   jsontext.Value `json:"action"`
	Resource jsontext.Value `json:"resource"`
	Context  jsontext.Value `json:"context"`
}

// evaluations is the request of §7.1: the same question about several resources.
type evaluations struct {
	Subject     jsontext.Value `json:"subject"`
	Action      jsontext.Value `json:"action"`
	Context     jsontext.Value `json:"context"`
	Evaluations []about        `json:"evaluations"`
	Options     struct {
		Semantic string `json:"evaluations_semantic"`
	} `json:"options"`
}

// about is one of the resources of §7.1; subject, action and context are those of all.
type about struct {
	Resource resource `json:"resource"`
}

// decide implements decider. A call that may be for several skills is one question for
// each, where the service takes several at once, and else one about the agent that lists
// them.
func (z *authzen) decide(ctx context.Context, in *inquiry) (verdict, error) {
	to, err := z.metadata.endpoints(ctx)
	if err != nil {
		return verdict{}, err
	}
	target, several := to.one, len(in.skills) > 1 && to.several != ""
	var question any = evaluation{in.subject, in.action, in.resource, in.now()}
	if several {
		target = to.several
		q := evaluations{Subject: in.subject, Action: in.action, Context: in.now()}
		for _, skill := range in.skills {
			q.Evaluations = append(q.Evaluations, about{in.skill(skill)})
		}
		// All have to be allowed, so that the service need not go on after the first that is not.
		q.Options.Semantic = "deny_on_first_deny"
		question = q
	}
	body, err := json.Marshal(question)
	if err != nil {
		return verdict{}, &final{fmt.Errorf("the question cannot be written: %w", err)}
	}
	answer, err := z.client.do(ctx, target, in.q.RequestID, body)
	if err != nil {
		return verdict{}, z.failed(err)
	}
	if several {
		return readEvaluations(answer, in.skills)
	}
	return readEvaluation(answer)
}

// failed sorts out what a question without an answer is due to.
// A status that finds fault with the question is final: onFailure: allow would let a caller
// through that makes its questions unreadable, as by a claim of great length.
func (z *authzen) failed(err error) error {
	var s status
	switch {
	case !errors.As(err, &s):
	case s.blames():
		return &final{err}
	case s == http.StatusNotFound || s == http.StatusMethodNotAllowed || s == http.StatusGone:
		z.metadata.forget() // the endpoint may have moved
	}
	return err
}

// decision is the answer of §6.2. Members of other names are somebody else's.
// A pointer tells false from a member that is left out.
type decision struct {
	Decision *bool          `json:"decision"`
	Context  jsontext.Value `json:"context"`
}

// verdict takes true and false, and nothing that could be meant to be one of them.
func (d *decision) verdict() (verdict, error) {
	if d.Decision == nil {
		return verdict{}, errors.New("its answer has no decision")
	}
	return verdict{*d.Decision, reason(d.Context)}, nil
}

// readEvaluation reads the answer to one question. Where a member stands twice nothing is
// decided: another reader could see the other one.
func readEvaluation(body []byte) (verdict, error) {
	var d decision
	if err := json.Unmarshal(body, &d); err != nil {
		return verdict{}, errors.New("its answer is not a JSON object with a boolean decision")
	}
	return d.verdict()
}

// readEvaluations reads the answer to the same question about several skills. All have
// to be allowed; after the first that is not there need not be more.
func readEvaluations(body []byte, skills []string) (verdict, error) {
	var answer struct {
		Evaluations []decision `json:"evaluations"`
	}
	// The reader refuses repeated names; more answers than questions are an answer to something
	// else.
	if err := json.Unmarshal(body, &answer); err != nil || len(answer.Evaluations) > len(skills) {
		return verdict{}, errors.New("its answer is not a JSON object with one evaluation for each question")
	}
	for i := range answer.Evaluations {
		v, err := answer.Evaluations[i].verdict()
		if err != nil {
			return verdict{}, err
		}
		if !v.allow {
			v.reason = strings.TrimSuffix("skill "+printable(skills[i])+": "+v.reason, ": ")
			return v, nil
		}
	}
	if len(answer.Evaluations) < len(skills) {
		return verdict{}, errors.New("its answer leaves out questions, and denies none of the others")
	}
	return verdict{allow: true}, nil
}
