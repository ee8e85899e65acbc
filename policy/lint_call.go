package policy

import (
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// possible reports whether some method of the rule can be called over one of its
// bindings: extensions offer theirs where they say.
func (s *Set) possible(r *rule) bool {
	if r.circumstances == nil || r.circumstances.bindings == 0 || r.methods&otherMethods != 0 {
		return true
	}
	for m, bit := range s.bits {
		if r.methods&bit != 0 && r.circumstances.bindings&offered(m) != 0 {
			return true
		}
	}
	return false
}

// offered are the bindings over which a method can be called.
func offered(m *wire.Method) bindings {
	set := bindings(1) << wire.JSONRPC
	if m.Extension == "" || m.Path != "" {
		set |= 1 << wire.HTTPJSON
	}
	if m.Extension == "" || m.RPCPath != "" {
		set |= 1 << wire.GRPC
	}
	return set
}

// partless reports whether no call that a rule is about has parts within its content:
// A2A's own methods bring a message only where they start work.
func (s *Set) partless(r *rule) bool {
	if r.circumstances == nil || r.circumstances.content == nil {
		return false
	}
	silent := s.sending() | otherMethods
	for m, bit := range s.bits {
		if m.Extension != "" {
			silent |= bit
		}
	}
	return r.methods&silent == 0
}

// lintTimes reports a rule whose last window is over.
func (r *rule) lintTimes(now time.Time) []Warning {
	if now.IsZero() || r.circumstances == nil || r.circumstances.times == nil {
		return nil
	}
	if slices.ContainsFunc(r.circumstances.times, func(w window) bool { return w.before.IsZero() || now.Before(w.before) }) {
		return nil
	}
	return []Warning{{r.name, "all of its times are over, so the rule matches no more"}}
}
