package policy

import (
	"net/netip"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/content"
	"github.com/a2a-gateway/a2a-gateway/policy/netset"
	"github.com/a2a-gateway/a2a-gateway/policy/window"
)

// circumstances are what the conditions on a call look at: how, whence and when it came, and
// what it brings. Each condition is given a copy, so that the call need not be on the heap,
// and the copy fits into the registers of a function call.
type circumstances struct {
	message *wire.Message // nil for none; content.Unreadable
	now     time.Time     // zero: not known
	source  netip.Addr    // the zero Addr: not known
	binding wire.Binding  // 0: not known
}

func (q *Request) circumstances() circumstances {
	c := circumstances{message: q.Message, now: q.Now, source: q.Source, binding: q.Binding}
	if q.unread() {
		c.message = content.Unreadable
	}
	return c
}

// unread reports whether what the call brings cannot be told: its message was not handed
// on, or is an extension's own protobuf.
func (q *Request) unread() bool {
	return q.Message == nil && (q.Method.Subject == wire.OfMessage || q.Method.Extension != "" && q.Binding == wire.GRPC)
}

// onSources is the condition on where the call comes from, after trusted proxies were taken
// off (internal/server).
var onSources = condition{
	key: "sources", about: ofCall, holds: "it comes from one of these addresses and networks, trusted proxies taken off",
	compile: func(_ *compiler, r *rule) []error {
		list, wrong := netset.Parse(r.source.Sources)
		r.call.sources = list
		problems := checkList("sources", r.source.Sources, true, "rule")
		for _, err := range wrong {
			problems = append(problems, keypath.At(err, "sources"))
		}
		return problems
	},
	has: func(r *rule) bool { return r.call.sources != nil },
	call: func(r *rule, c circumstances) string {
		if !c.source.IsValid() { // not known
			return r.inDoubt("sources")
		}
		// The zone of a link-local address is the name of one of this machine's interfaces, and
		// says nothing of the caller.
		return unless(r.call.sources.Has(c.source.Unmap().WithZone("")), "sources")
	},
	// Ranges are joined where they touch, so that each of the other rule lies in one.
	covers: func(r, other *rule) bool {
		return other.call.sources != nil && r.call.sources.Covers(other.call.sources)
	},
}

// onTimes is the condition on when the call comes. Windows that are over are told of while
// the gateway runs: Compile reads no clock.
var onTimes = condition{
	key: "times", about: ofCall, holds: "it comes in one of these windows",
	compile: func(_ *compiler, r *rule) (problems []error) {
		r.call.times, problems = window.Compile(r.source.Times)
		return problems
	},
	has: func(r *rule) bool { return r.call.times != nil },
	call: func(r *rule, c circumstances) string {
		if c.now.IsZero() { // not known
			return r.inDoubt("times")
		}
		for i := range r.call.times {
			if r.call.times[i].Has(c.now) {
				return ""
			}
		}
		return "times"
	},
	covers: func(r, other *rule) bool {
		return other.call.times != nil && window.Covers(r.call.times, other.call.times)
	},
	lint: func(_ *Set, r *rule, k Known) []warning {
		open := func(w window.Window) bool { return !w.Over(k.Now) }
		if k.Now.IsZero() || slices.ContainsFunc(r.call.times, open) {
			return nil
		}
		return []warning{{r.name, "all of its times are over, so the rule matches no more"}}
	},
}

// onContent is the condition on the parts of the call's message.
var onContent = condition{
	key: "content", about: ofCall, holds: "the parts of its message are within these bounds", patterns: "`hosts`",
	compile: func(_ *compiler, r *rule) (problems []error) {
		effect := r.source.Effect
		if r.restricts() { // one part that is within the bounds is enough
			effect = "deny"
		}
		r.call.content, problems = content.New(r.source.Content, effect)
		return problems
	},
	has:  func(r *rule) bool { return r.call.content != nil },
	call: func(r *rule, c circumstances) string { return r.call.content.Failed(c.message) },
	covers: func(r, other *rule) bool {
		return other.call.content != nil && r.call.content.Covers(other.call.content)
	},
	// A call without parts is within what an allow rule says of them, and in no deny rule.
	stops: func(operations, *rule, *rule) bool { return false },
	// For an allow rule a call without parts is within any bounds.
	dead: func(s *Set, r *rule) string {
		return unless(!r.restricts() || r.target.methods&s.ops.messaging() != 0, "no call that it is about has such parts, so the rule can never match")
	},
	reads: func(*rule) bool { return true },
	asks:  func(src *Rule) Facts { return Facts{Message: src.Content != nil} },
}
