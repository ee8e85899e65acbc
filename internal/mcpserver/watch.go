//go:build !minimal

package mcpserver

import (
	"context"
	"crypto/sha256"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/proxy"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
)

// reviewed is how often sessions are looked at: as often as streams are (docs/identity.md, revocation
// latency).
const reviewed = 2 * time.Second

// sight is what tools a caller had, and by what: as long as rules and cards are the same, so are the
// tools.
type sight struct {
	proxy *proxy.Proxy
	who   *authn.Principal
	views []*agents.View
	tools [sha256.Size]byte
}

func look(p *proxy.Proxy, who *authn.Principal) sight {
	text, _ := json.Marshal(tools(p, who), json.Deterministic(true)) // texts alone: it cannot fail
	return sight{p, who, p.Views(), sha256.Sum256(text)}
}

// current reports whether nothing has changed that tools depend on.
func (s *sight) current(p *proxy.Proxy, who *authn.Principal) bool {
	return s.proxy == p && s.who == who && slices.Equal(s.views, p.Views())
}

// watch looks after the sessions until there are none.
func (s *Server) watch(ctx context.Context) {
	every := time.NewTicker(reviewed)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
			s.review()
		}
	}
}

// review ends sessions that nobody uses, ends streams whose caller would not be let in any more, and
// tells hosts whose tools have changed.
func (s *Server) review() {
	p, release := s.options.Current()
	if p == nil {
		return // the gateway closes
	}
	defer release()
	config := p.Server.MCP
	for _, at := range s.sessions.list() {
		who := at.who()
		switch {
		case config == nil, at.idle(time.Now().Add(-config.Sessions.Idle.Std())):
			s.sessions.finish(at)
		case p.Stays(who) != nil:
			at.hush()
		case !at.seen.current(p, who):
			now := look(p, who)
			if now.tools != at.seen.tools {
				tell(at.serving)
			}
			at.seen = now
		}
	}
}

// tell has the SDK notify a host that its tools have changed, which it does as it is given one. That
// tool is in no list: see Server.answer.
func tell(serving *mcp.Server) {
	none := func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, errOver }
	serving.AddTool(&mcp.Tool{Name: "changed", InputSchema: map[string]any{"type": "object"}}, none)
}
