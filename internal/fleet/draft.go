package fleet

import (
	"bytes"
	"context"
	"errors"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/console/fleet"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
)

// whole is what is to be registered with the secrets that its markers keep, and the edition that it
// may replace. A secret that is kept binds to the edition that it was taken from: who changes
// the agent meanwhile, to one that calls somebody else, must not be sent the secret. What is known
// here may be older than the state, which alter reads before it compares editions.
func (a *Agents) whole(id string, r fleet.Registration) (doc []byte, match string, err error) {
	var one registered
	if r.Replace {
		one = a.Registry.one(id)
	}
	if doc, err = config.KeepSecrets(r.Doc, one.Doc); err != nil {
		return nil, "", invalid(err)
	}
	if match = r.Match; bytes.Equal(doc, r.Doc) {
		return doc, match, nil
	}
	if match == "" {
		match = one.edition
	}
	if match != one.edition {
		return nil, "", fleet.ErrAgentOther
	}
	return doc, match, nil
}

// one is what is registered under an id, the zero value for nothing.
func (r *Registry) one(id string) registered {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.registered[id]
}

// JSON implements fleet.Agents.
func (a *Agents) JSON(text []byte) ([]byte, error) {
	doc, err := config.AgentJSON(text)
	return doc, invalid(err)
}

// Draft implements fleet.Agents. The text of an agent of a file is read from the file, which somebody will
// change, and not from what is in force.
func (a *Agents) Draft(_ context.Context, id string) (d fleet.AgentDraft, ok bool, err error) {
	s := a.Current.Acquire()
	if s == nil {
		return d, false, snapshot.ErrClosed
	}
	defer s.Release()
	origin, known := a.from(s, id)
	switch {
	case !known:
		return d, false, nil
	case origin == fleet.FromAPI:
		one := a.Registry.one(id)
		d.Registered, d.Edition = true, one.edition
		if d.Text, err = config.RegisteredText(one.Doc); err != nil {
			return d, true, fleet.DraftUnread{Err: err}
		}
		return d, true, nil
	case origin == fleet.FromFile:
		if d.Place = s.Config.AgentPlaces[id]; d.Place == "" {
			return d, true, fleet.DraftUnread{}
		}
		if d.Text, err = config.WrittenText(d.Place, id); err != nil {
			return d, true, fleet.DraftUnread{Err: err}
		}
		return d, true, nil
	}
	return d, true, fleet.DraftUnread{}
}

// from is where an agent comes from that is served, or left out.
func (a *Agents) from(s *snapshot.Snapshot, id string) (origin string, known bool) {
	r := a.Registry
	r.mu.Lock()
	defer r.mu.Unlock()
	origin, _, _ = r.origin(id)
	return origin, s.Agents[id] != nil || r.faults[id] != nil
}

// Check implements fleet.Agents. It reads the draft as Put or a reload would, against the other agents, the
// registry of extensions and the rules in force. No file is opened and nobody is called.
func (a *Agents) Check(_ context.Context, id string, text []byte) (answer fleet.AgentChecked, ok bool, err error) {
	s := a.Current.Acquire()
	if s == nil {
		return answer, false, snapshot.ErrClosed
	}
	defer s.Release()
	d := config.AgentDraft{ID: id, Text: text}
	switch origin, known := a.from(s, id); {
	case !known:
		return answer, false, nil
	case origin == fleet.FromAPI:
		d.Registered = a.Registry.one(id).Doc
	case origin != fleet.FromFile:
		return answer, true, fleet.DraftUnread{}
	}
	_, unread, err := s.Config.DraftAgent(d, s.Rules, s.Book)
	var bad *config.DraftError
	if err != nil && !errors.As(err, &bad) {
		return answer, true, err
	}
	if bad != nil {
		bad.Mistakes(func(line, column int, text string) {
			answer.Mistakes = append(answer.Mistakes, verdict.Mistake{Line: line, Column: column, Text: text})
		})
	}
	answer.Warnings = unread
	return answer, true, nil
}
