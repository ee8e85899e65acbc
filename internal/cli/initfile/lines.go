package initfile

import (
	"context"
	"fmt"
	"io"

	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
)

// lines prints to w what a configuration that exists lacks to serve the agent, for its owner to add: the rule and
// the agent. Of an agent whose card cannot be had it prints nothing, as the error that follows is about the file.
// The rule has a name with the agent's id, since names of rules are there once.
func (b *beginning) lines(ctx context.Context, w io.Writer, egress *tunnel.Proxy, path string) {
	if b.look(ctx, egress) != nil {
		return
	}
	ca, err := caFor(b.CA, path)
	if err != nil {
		return
	}
	b.CA = ca
	var t text
	t.line("policy:")
	t.line("  rules:")
	t.line("    - {name: %s, effect: allow, agents: [%s]}", quote("callers-of-"+b.ID), quote(b.ID))
	b.agent(&t)
	_, _ = fmt.Fprintf(w, "To serve this agent too, add to %s, below the keys that it has:\n\n%s\n", path, t.String())
}
