package inspect

import (
	"time"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// facts are what the gateway's own extensions may know of the call.
func (ho *Hooks) facts(x *exchange.Exchange) *ext.Facts {
	return &ext.Facts{
		Now: time.Now(), Began: x.Rec.Start, Sent: x.Sent, RequestID: x.Rec.RequestID,
		TraceID: x.Rec.TraceID, SpanID: x.Rec.SpanID, Gateway: ho.Server.ID,
		Agent: x.Agent.ID, AgentName: x.View.Card.Name, AgentURL: ho.Base(x.Agent),
		Method: x.Call.Method.Name, TaskID: x.Call.TaskID, Skill: x.Skill, Subject: x.Principal.Subject, Issuer: x.Principal.Issuer,
	}
}

// provide lets the gateway's own extensions see the call.
//
// Each extension sees the body as the one before it has left it; the body is decoded anew after
// each.
func (ho *Hooks) provide(x *exchange.Exchange) error {
	if len(x.Terms.Provided) == 0 || len(x.Call.Body) == 0 {
		return nil
	}
	f := ho.facts(x)
	for _, uri := range x.Terms.Provided {
		cs, err := ho.carriers(x)
		if err != nil {
			return err
		}
		if err := ho.Providers[uri].Request(f, cs); err != nil {
			return err
		}
		if err := ho.ReplaceBody(x, cs.Apply()); err != nil {
			return err
		}
	}
	return nil
}

// answerProvided lets them see an answer or event.
func (ho *Hooks) answerProvided(x *exchange.Exchange, seen wire.Answer, doc []byte) ([]byte, error) {
	if len(x.Terms.Provided) == 0 {
		return doc, nil
	}
	f := ho.facts(x)
	f.Final = seen.Final || !x.Streams()
	for _, uri := range x.Terms.Provided {
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
