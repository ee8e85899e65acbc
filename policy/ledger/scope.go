package ledger

import (
	"strconv"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// The scopes that are not the default; see policy.TasksConfig.
const (
	scopeTenant scope = "tenant"
	scopeAgent  scope = "agent"
)

// scope says who shares tasks and contexts: Config.Scope.
type scope string

// shares reports whether a record is this owner's to use. A tenant is a name
// across the whole gateway, whichever issuer said it; no tenant is not a tenant
// that all who have none share.
func (s scope) shares(o owner, r state.Record) bool {
	switch {
	case r.Owner == o.key:
		return true
	case s == scopeAgent:
		return true
	case s == scopeTenant:
		return o.tenant != "" && r.Tenant == o.tenant
	}
	return false
}

// aliasID is the id under which a client's id is stored. What comes before it is
// length-prefixed and starts with what it is, so that no principal, tenant or id
// makes the name of another.
func (s scope) aliasID(o owner, clientID string) string {
	who, whose := s.circle(o)
	return who + ":" + strconv.Itoa(len(whose)) + ":" + whose + clientID
}

// circle is whoever shares with an owner: what they are, and which.
func (s scope) circle(o owner) (who, whose string) {
	switch {
	case s == scopeAgent:
		return string(scopeAgent), ""
	case s == scopeTenant && o.tenant != "":
		return string(scopeTenant), o.tenant
	}
	return "principal", o.key
}

// query asks for the tasks that are the asker's, those lent left aside.
func (s scope) query(o owner, agent, contextID string) state.Query {
	q := state.Query{Agent: agent, Owner: o.key, Context: contextID}
	switch s {
	case scopeAgent:
		q.Everyone = true
	case scopeTenant:
		q.Tenant = o.tenant
	}
	return q
}
