package proxy

import (
	"time"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// facts are what the gateway's own extensions may know of the call.
func (ho *hooks) facts(x *exchange) *ext.Facts {
	return &ext.Facts{
		Now: time.Now(), Began: x.rec.Start, Sent: x.sent, RequestID: x.rec.RequestID,
		TraceID: x.rec.TraceID, SpanID: x.rec.SpanID, Gateway: ho.Server.ID,
		Agent: x.agent.ID, AgentName: x.view.Card.Name, AgentURL: ho.base(x.agent),
		Method: x.call.Method.Name, TaskID: x.call.TaskID, Skill: x.skill, Subject: x.principal.Subject, Issuer: x.principal.Issuer,
	}
}

// provide lets the gateway's own extensions see the call.
func (ho *hooks) provide(x *exchange) error {
	if len(x.terms.Provided) == 0 || len(x.call.Body) == 0 {
		return nil
	}
	f := ho.facts(x)
	for _, uri := range x.terms.Provided {
		cs, err := ho.carriers(x)
		if err != nil {
			return err
		}
		if err := ho.Providers[uri].Request(f, cs); err != nil {
			return err
		}
		if err := ho.rebody(x, cs.Apply()); err != nil {
			return err
		}
	}
	return nil
}

// answerProvided lets them see an answer or event.
func (ho *hooks) answerProvided(x *exchange, seen wire.Answer, doc []byte) ([]byte, error) {
	if len(x.terms.Provided) == 0 {
		return doc, nil
	}
	f := ho.facts(x)
	f.Final = seen.Final || !x.streams()
	for _, uri := range x.terms.Provided {
		cs, err := ho.readAnswer(x, doc)
		if err != nil {
			return nil, err
		}
		if err := ho.Providers[uri].Answer(f, cs); err != nil {
			return nil, err
		}
		doc = cs.Apply()
	}
	return doc, nil
}
