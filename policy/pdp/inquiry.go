package pdp

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// maxQuestion bounds what an authorizer is told of one call, in bytes of JSON. Nearly
// all of it is the caller's (claims, metadata, extensions), and services have bounds too.
const maxQuestion = 256 << 10

// inquiry is a question as one authorizer is told of it: the four parts of an AuthZEN
// evaluation (Authorization API 1.0 §5), which ext_authz carries as metadata.
//
//	subject   {"type":"user","id":"alice","properties":{"issuer":"https://idp.example", …}}
//	action    {"name":"SendMessage","properties":{"binding":"JSONRPC","version":"1.0"}}
//	resource  {"type":"a2a_skill","id":"billing/refund","properties":{"agent":"billing", …}}
//	context   {"time":"2026-12-24T18:00:00Z","host":"a2a.example", …}
type inquiry struct {
	q      *Question
	skills []string // that the call may be for; none where it is about the agent

	subject, action, resource jsontext.Value
	context                   jsontext.Value // an object that is not empty, without the time
}

// subject is who calls.
type subject struct {
	Type       string `json:"type"` // "user", whatever the principal is
	ID         string `json:"id"`
	Properties struct {
		Issuer   string         `json:"issuer"`
		Client   string         `json:"client,omitzero"`
		Tenant   string         `json:"tenant,omitzero"`
		Groups   []string       `json:"groups,omitempty"`
		Scopes   []string       `json:"scopes,omitempty"`
		Method   string         `json:"method,omitzero"` // how it was proved
		Proof    string         `json:"proof,omitzero"`
		ACR      string         `json:"acr,omitzero"`
		AMR      []string       `json:"amr,omitempty"`
		AuthTime int64          `json:"auth_time,omitzero"` // seconds, as in tokens
		Owner    string         `json:"owner,omitzero"`
		Actors   []party        `json:"actors,omitempty"`
		Workload *party         `json:"workload,omitzero"`
		Claims   map[string]any `json:"claims,omitempty"`
	} `json:"properties"`
}

// party is somebody, by name.
type party struct {
	Issuer  string `json:"issuer,omitzero"`
	Subject string `json:"subject,omitzero"`
}

// action is what is to be done.
type action struct {
	Name       string `json:"name"` // of the A2A operation, in 1.0's words
	Properties struct {
		Binding   string `json:"binding"`
		Version   string `json:"version"`
		Extension string `json:"extension,omitzero"` // that brings the operation
	} `json:"properties"`
}

// resource is what it is done to: an agent, or a skill of one.
type resource struct {
	Type       string `json:"type"`
	ID         string `json:"id"`
	Properties struct {
		Agent   string   `json:"agent"`
		Skill   string   `json:"skill,omitzero"`
		Skills  []string `json:"skills,omitempty"` // of an agent: all that the call may be for
		Task    string   `json:"task,omitzero"`
		Context string   `json:"context,omitzero"`
	} `json:"properties"`
}

// circumstances are the rest.
type circumstances struct {
	Gateway    string   `json:"gateway,omitzero"`
	Source     string   `json:"source,omitzero"`
	Host       string   `json:"host"`
	Verb       string   `json:"verb,omitzero"`
	Path       string   `json:"path,omitzero"`
	Extensions []string `json:"extensions,omitempty"`
	Message    *message `json:"message,omitzero"`
}

// message is a wire.Message without its contents.
type message struct {
	Role         string         `json:"role,omitzero"`
	Parts        []part         `json:"parts"`
	Metadata     map[string]any `json:"metadata,omitempty"`
	CallMetadata map[string]any `json:"call_metadata,omitempty"`
}

// part is what is told of a part of a message: nothing that the caller wrote into it.
type part struct {
	Kind      string `json:"kind"`
	MediaType string `json:"media_type,omitzero"`
	Bytes     int64  `json:"bytes"`
}

// The types of resources.
const (
	// For calls that are about no skill, or about several where the service takes one question.
	typeAgent = "a2a_agent"
	typeSkill = "a2a_skill" // its id is AGENT/SKILL; agent ids have no slash
)

// inquire writes down what the authorizer is told of a call. The error is an
// *final.
func (a *authorizer) inquire(q *Question, skills []string) (*inquiry, error) {
	in := &inquiry{q: q, skills: skills}
	act := action{Name: q.Method.Name}
	act.Properties.Binding, act.Properties.Version = q.Binding.String(), string(q.Version)
	act.Properties.Extension = q.Method.Extension
	// Sizes are added up before anything is sent: a service with a smaller bound fails in ways of
	// its own.
	size := 0
	for _, part := range []struct {
		of   any
		text *jsontext.Value
	}{
		{a.subject(q.Principal), &in.subject},
		{act, &in.action},
		{in.about(), &in.resource},
		{a.circumstances(q), &in.context},
	} {
		// Members in one order: the same question has to have the same digest.
		text, err := json.Marshal(part.of, json.Deterministic(true))
		if err != nil {
			// Bytes of the call that are not UTF-8: two such calls could not be told apart.
			return nil, &final{fmt.Errorf("the question cannot be written: %w", err)}
		}
		*part.text = text
		size += len(text)
	}
	if size > maxQuestion {
		return nil, &final{errors.New("the question is too large")}
	}
	return in, nil
}

// subject describes the principal. Of the claims there are those that were asked for;
// the credential is nowhere.
func (a *authorizer) subject(p *authn.Principal) *subject {
	s := &subject{Type: "user", ID: p.Subject}
	to := &s.Properties
	to.Issuer, to.Client, to.Tenant, to.Groups, to.Scopes = p.Issuer, p.Client, p.Tenant, p.Groups, p.Scopes
	to.Method, to.Proof, to.Owner, to.ACR, to.AMR = p.Method, p.Proof, p.Owner, p.ACR, p.AMR
	if !p.AuthTime.IsZero() {
		to.AuthTime = p.AuthTime.Unix()
	}
	for _, actor := range p.Actors {
		to.Actors = append(to.Actors, party{actor.Issuer, actor.Subject})
	}
	if w := p.Workload; w != nil {
		to.Workload = &party{w.Issuer, w.Subject}
	}
	for name, value := range p.Claims {
		if slices.Contains(a.claims, name) || slices.Contains(a.claims, "*") {
			if to.Claims == nil {
				to.Claims = map[string]any{}
			}
			to.Claims[name] = value
		}
	}
	return s
}

// about is the resource: the skill where there is one, else the agent.
func (in *inquiry) about() resource {
	if len(in.skills) == 1 {
		return in.skill(in.skills[0])
	}
	r := resource{Type: typeAgent, ID: in.q.Agent}
	r.Properties.Agent, r.Properties.Skills = in.q.Agent, in.skills
	r.Properties.Task, r.Properties.Context = in.q.TaskID, in.q.ContextID
	return r
}

// skill is a skill of the agent as a resource.
func (in *inquiry) skill(id string) resource {
	r := resource{Type: typeSkill, ID: in.q.Agent + "/" + id}
	r.Properties.Agent, r.Properties.Skill = in.q.Agent, id
	r.Properties.Task, r.Properties.Context = in.q.TaskID, in.q.ContextID
	return r
}

// circumstances are how the call comes, and what it brings where the authorizer is told of it.
func (a *authorizer) circumstances(q *Question) circumstances {
	c := circumstances{
		Gateway: a.gateway, Host: q.Host, Verb: q.Verb,
		Path:       (&url.URL{Path: q.Path}).EscapedPath(), // any bytes, as ASCII
		Extensions: q.Extensions,
	}
	if q.Source.IsValid() {
		c.Source = q.Source.String()
	}
	if a.message && q.Message != nil {
		c.Message = outline(q.Message)
	}
	return c
}

// outline is what is told of a message.
// Contents and names of files stay here; metadata are passed on, as extensions speak in them.
func outline(m *wire.Message) *message {
	// A slice in any case: in JSON a message without parts has an empty list.
	o := &message{Role: m.Role, Parts: make([]part, len(m.Parts)), Metadata: m.Metadata, CallMetadata: m.CallMetadata}
	for i := range m.Parts {
		p := &m.Parts[i]
		o.Parts[i] = part{p.Kind, p.MediaType, p.Bytes}
	}
	return o
}

// key digests all that is told, each part with its length: no two questions that differ
// in anything but their time and id have the same.
func (in *inquiry) key() cacheKey {
	var text []byte
	for _, part := range []jsontext.Value{in.subject, in.action, in.resource, in.context} {
		text = append(binary.AppendUvarint(text, uint64(len(part))), part...)
	}
	return sha256.Sum256(text)
}

// now is the context with the call's time in front.
func (in *inquiry) now() jsontext.Value {
	// Written in front of the other members, and not into the digest of the question: with it no
	// two questions were the same.
	at := `{"time":"` + in.q.Now.UTC().Format(time.RFC3339Nano) + `",`
	return slices.Concat(jsontext.Value(at), in.context[1:])
}
