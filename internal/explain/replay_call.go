package explain

import (
	"cmp"
	"net/netip"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/schemes"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
)

// unsettled is in the place of a rule where the skill of a call could not be settled.
const unsettled = "undeclared"

// ruling is what rules say of a call.
type ruling struct {
	allow bool
	rule  string
}

// was is what the rules had said of a recorded call. why is a reason not to compare it
// with anything, "" for none.
func was(c *reader.Call) (r ruling, why string) {
	switch {
	// Fields are missing from it, and no one knows which.
	case c.Cut:
		return r, "the record was cut short"
	case c.Limit != "":
		return r, "a limit refused the call"
	// The owner of the task is not in the record, so that its conditions cannot be asked again.
	case c.Sharing != "":
		return r, "ownership: the task is somebody else's, and was shared"
	case c.Rule == "" && c.Reason == wire.TaskNotFound.Reason:
		return r, "ownership: the task was not the caller's"
	case c.Rule != "credential" && c.Reason == wire.UnknownAgent.Reason && c.Principal != "" && c.Agent != "" && c.Method != "":
		return ruling{}, "" // the rules hid the agent, whatever the call
	case c.Rule == "":
		return r, "refused before the rules: " + c.Reason
	case strings.Contains(c.Cause, "refused by authorizer "):
		return r, "an authorizer refused the call"
	}
	// An error behind the rules is that of a call which they allowed.
	return ruling{allow: c.Decision != "deny", rule: c.Rule}, ""
}

// request is a recorded call as rules see it, with what of it they cannot.
// The facts are those that no audit record keeps: claims of tokens, the end of a credential, the
// message, the task's owner. why says that the call cannot be put to these rules at all, "" where
// it can.
func (r *Replay) request(c *reader.Call) (q policy.Request, unknown policy.Facts, why string) {
	m, err := r.FindMethod(c.Method)
	if err != nil {
		return q, unknown, "the configuration has no method " + c.Method
	}
	q = policy.Request{
		Principal: principalOf(c), Agent: c.Agent, Method: m, Now: c.Start, Extensions: c.Extensions,
	}
	// A record of a later version may have a binding that is not known here: conditions on it are
	// then in doubt.
	q.Binding, _ = parseBinding(c.Binding)
	q.Version, _ = wire.ParseVersion(c.A2A)
	if source, err := netip.ParseAddr(c.ClientIP); err == nil {
		q.Source = source.Unmap()
	}
	// API keys and certificates have no claims: a condition on claims is known not to hold for
	// them.
	if schemes.HaveClaims(c.AuthMethod) {
		unknown.Claims = true
	}
	if c.AuthMethod != "anonymous" {
		unknown.Expiry = true
	}
	if q.Principal.Workload != nil {
		unknown.Workload = true
	}
	if m.Subject == wire.OfMessage {
		unknown.Message = true
	}
	if m.Subject != wire.OfAgent && m.Subject != wire.OfCaller {
		unknown.Task = true
	}
	return q, unknown, ""
}

// principalOf is who called.
// Claims, the expiry and the agents that a credential is bound to are not recorded.
func principalOf(c *reader.Call) *authn.Principal {
	p := &authn.Principal{
		Subject: c.Principal, Issuer: c.Issuer, Client: c.Client, Tenant: c.Tenant,
		Groups: c.Groups, Scopes: c.Scopes, Method: c.AuthMethod, KeyID: c.KeyID, Owner: c.KeyOwner,
		Proof: c.Proof, ACR: c.ACR, AMR: c.AMR, AuthTime: c.AuthTime,
	}
	for _, text := range c.Actors {
		subject, issuer := parted(text)
		p.Actors = append(p.Actors, authn.Actor{Subject: subject, Issuer: issuer})
	}
	if c.Workload != "" {
		subject, issuer := parted(c.Workload)
		p.Workload = &authn.Principal{Subject: subject, Issuer: issuer}
	}
	return p
}

// parted takes subject@issuer apart; issuers have no @ but in user names, which nobody
// gives them.
func parted(text string) (subject, issuer string) {
	i := strings.LastIndexByte(text, '@')
	if i < 0 {
		return text, ""
	}
	return text[:i], text[i+1:]
}

// settle finds the skill that the call is for: the one that was found then. Where there
// was none it is found again, if that takes no more than the configuration. refused says
// that the skill being unknown is refused.
func (r *Replay) settle(q *policy.Request, c *reader.Call) (unknown policy.Facts, refused bool) {
	a := r.agent(c.Agent)
	wide := q.Method.Subject == wire.OfCaller || q.Method.Subject == wire.OfAgent
	switch {
	case a == nil: // nothing is allowed on what does not exist
		return unknown, false
	case c.Rule == unsettled:
		q.Agentwide = true // as at the end
		return policy.Facts{Skill: true}, false
	case c.Skill != "":
		q.Skill = c.Skill
		return unknown, false
	case wide:
		q.Agentwide = true
		return unknown, false
	}
	for _, s := range a.Skills {
		q.Skills = append(q.Skills, s.ID)
	}
	// The skill was settled then, to none in particular, by what is recorded of the call. Match
	// rules would look at its message, which is not.
	asked := c.Rule != "" && (a.match == nil || q.Method.Subject != wire.OfMessage)
	if len(q.Skills) == 1 || len(q.Skills) > 1 && asked {
		skill, agentwide, err := r.Rules.Resolve(policy.SkillSource{
			All: q.Skills, Method: q.Method, Principal: q.Principal, Agent: q.Agent,
		})
		q.Skill, q.Agentwide = skill, agentwide
		return unknown, err != nil
	}
	q.Agentwide = true // of the rules that bounds leave, none asks for a skill
	return policy.Facts{Skill: true}, false
}

// answer is what the rules say of a call now: at their strictest and their most lenient,
// which are the same where all that matters is known.
// why is what keeps them apart, "" where they are the same.
func (r *Replay) answer(c *reader.Call) (strict, lenient ruling, why string, err error) {
	q, unknown, why := r.request(c)
	if why != "" {
		return strict, lenient, why, nil
	}
	more, refused := r.settle(&q, c)
	if refused {
		return ruling{rule: unsettled}, ruling{rule: unsettled}, "", nil
	}
	unknown = unknown.Or(more)
	// Only facts that are both unknown and asked for by some rule make a difference.
	b, err := r.boundsFor(unknown.And(r.asked))
	if err != nil {
		return strict, lenient, "", err
	}
	strict, lenient = ask(b.strict, &q), ask(b.lenient, &q)
	if own := r.Book.Skill(q.Method); own != "" && q.Skill != "" && own != q.Skill { // both are needed
		also := q
		also.Skill = own
		strict, lenient = strict.and(ask(b.strict, &also)), lenient.and(ask(b.lenient, &also))
	}
	unruled := "" // what beside rules may refuse the call
	switch {
	case !strict.allow:
	case c.Rule == unsettled || more.Any() && r.Policy.Skills.Undeclared == "deny":
		strict, unruled = ruling{rule: unsettled}, "skill: which the call is for could not be told"
	case r.Rules.UsesCardScopes() && q.Method.Subject != wire.OfCaller && q.Method.Subject != wire.OfAgent:
		strict, unruled = ruling{rule: "skill-scopes"}, "the scopes that the agent's card asks for"
	}
	if strict != lenient {
		why = cmp.Or(unruled, b.doubt(&q))
	}
	return strict, lenient, why, nil
}

// ask is what one set of rules says of a call.
func ask(set *policy.Set, q *policy.Request) ruling {
	d, err := set.Check(*q)
	return ruling{err == nil, d.Rule}
}

// and is the ruling where two are needed: the first that denies.
func (r ruling) and(other ruling) ruling {
	if r.allow {
		return other
	}
	return r
}

// agent finds one, each once; nil where there is none of that id.
// An agent that is gone since then is remembered as nil, so that a log with a million calls on it
// looks it up once.
func (r *Replay) agent(id string) *Agent {
	a, ok := r.agents[id]
	if !ok {
		if a, _ = r.Find(id); a != nil { // what is not there is none of the log's making
			r.agents[id] = a
		}
	}
	return a
}
