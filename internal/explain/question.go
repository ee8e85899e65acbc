package explain

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/schemes"
	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Read makes a question ready, without the agent's card. With an error it returns the member
// that is wrong.
//
// The member is that of the JSON of a question, as agent, method, binding, caller or message. The
// method defaults to SendMessage, the call that most rules are written for. Card is the caller's
// to add, as reading it may take a request to the agent.
func (jd *Judge) Read(q *verdict.Question, now time.Time) (i *Inquiry, wrong string, err error) {
	i = &Inquiry{Skill: q.Skill}
	if q.Agent == "" {
		return i, "agent", errors.New("it is missing")
	}
	if i.Agent, err = jd.Find(q.Agent); err != nil {
		return i, "agent", err
	}
	if i.Method, err = jd.FindMethod(cmp.Or(q.Method, wire.SendMessage)); err != nil {
		return i, "method", err
	}
	m := Manner{Binding: q.Binding, Version: q.Version, Source: q.Source, At: q.At, Now: now}
	if wrong, err = m.Settle(i); err != nil {
		return i, wrong, err
	}
	if i.Caller, err = Identify(q.Caller, jd.Authn, i.now); err != nil {
		return i, "caller", err
	}
	if err = i.Request(q.Extensions); err != nil {
		return i, "extensions", err
	}
	if q.Task != nil {
		i.Recall(q.Task)
	}
	if err = i.Bring(q.Message); err != nil {
		return i, "message", err
	}
	return i, "", nil
}

// Identify makes the principal of what a credential is to say, nil for none. The error is what is wrong
// with it for this configuration.
// A workload, actors and a time of authentication are read as Said.Identify reads them.
func Identify(from *verdict.Claimed, c *schemes.Config, now time.Time) (*authn.Principal, error) {
	s := Said{Key: func(name string) string { return name }}
	if from != nil {
		if from.Subject == "" {
			return nil, errors.New("subject is missing")
		}
		claims, err := valuesOf(from.Claims)
		if err != nil {
			return nil, err
		}
		s.Principal = authn.Principal{
			Subject: from.Subject, Issuer: from.Issuer, Client: from.Client, Tenant: from.Tenant,
			Groups: from.Groups, Scopes: from.Scopes, Claims: claims, ACR: from.ACR, AMR: from.AMR,
			Agents: from.Agents, KeyID: from.Key, Owner: from.Owner, Proof: from.Proof,
		}
		s.Workload, s.Actors, s.AuthTime = from.Workload, from.Actors, from.AuthTime
	}
	return s.Identify(c, now)
}

// valuesOf makes claims what they are in a verified token.
// In the order of their names, so that the same mistake is told each time.
func valuesOf(claims map[string]jsontext.Value) (map[string]any, error) {
	if len(claims) == 0 {
		return nil, nil //nolint:nilnil // no claims
	}
	values := make(map[string]any, len(claims))
	for _, name := range slices.Sorted(maps.Keys(claims)) {
		var v any
		if err := json.Unmarshal(claims[name], &v); err != nil {
			return nil, fmt.Errorf("claims.%s: %w", name, err)
		}
		values[name] = v
	}
	return values, nil
}
