package intake

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// A call that comes back to a gateway it has passed would go round until something
// breaks. Every gateway therefore adds itself to Via (RFC 9110 §7.6.3) under its
// server.id, and refuses a call that names it already, or that has passed more than
// server.limits.hops of anything. The header is nobody's proof: whoever writes names
// into it only has calls of his own refused, and whoever takes them out, an agent that
// does not hand the header on among them, is stopped by the depth of actors, by
// limits, and by the agents.

// CheckHops refuses calls that go in circles.
func (fe *Frontend) CheckHops(x *exchange.Exchange) error {
	x.Rec.Hops = Passed(x.Request.Header)
	for _, name := range x.Rec.Hops {
		if strings.EqualFold(name, fe.Server.ID) {
			return wire.Errorf(wire.Loop, "the call has passed this gateway before").
				Because(fmt.Errorf("via %s", strings.Join(x.Rec.Hops, ", ")))
		}
	}
	if most := fe.Server.Limits.Hops; len(x.Rec.Hops) > most {
		return wire.Errorf(wire.Loop, "the call has passed more than %d gateways (server.limits.hops)", most).
			Because(fmt.Errorf("via %s", strings.Join(x.Rec.Hops, ", ")))
	}
	return nil
}

// Passed lists who is named in Via, in the order passed. What is written beside the
// names is not kept.
func Passed(h http.Header) []string {
	var names []string
	for _, line := range h["Via"] {
		for entry := range entries(line) {
			fields := strings.Fields(entry)
			switch len(fields) {
			case 0:
			case 1:
				names = append(names, hopName(fields[0])) // without a protocol it still is a hop
			default:
				names = append(names, hopName(fields[1]))
			}
		}
	}
	return names
}

// hopName ends a name where a comment or another entry begins: written into the next
// Via, an open comment would hide this gateway, and every one behind it, from itself.
func hopName(name string) string {
	if end := strings.IndexAny(name, "(,"); end >= 0 {
		name = name[:end]
	}
	if name == "" {
		return "unnamed"
	}
	return name
}

// entries cuts a list at its commas, those in comments apart.
func entries(line string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		depth, from := 0, 0
		for i := range len(line) {
			switch line[i] {
			case '(':
				depth++
			case ')':
				depth = max(depth-1, 0)
			case ',':
				if depth > 0 {
					continue
				}
				if !yield(line[from:i]) {
					return
				}
				from = i + 1
			}
		}
		yield(line[from:])
	}
}

// Via is the header's value toward the agent: who was passed, and this gateway.
func (fe *Frontend) Via(x *exchange.Exchange) []string {
	here := fe.Here[0]
	if x.Request.ProtoMajor >= 2 {
		here = fe.Here[1]
	}
	if len(x.Rec.Hops) == 0 {
		return here
	}
	var b strings.Builder
	for _, name := range x.Rec.Hops {
		b.WriteString("1.1 " + name + ", ")
	}
	b.WriteString(here[0])
	return []string{b.String()}
}
