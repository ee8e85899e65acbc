//go:build !minimal

package mcp_test

import (
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/server/mcp"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	yes := true
	for name, tt := range map[string]struct {
		config mcp.Config
		want   string // "" for what is right
	}{
		"a path":             {mcp.Config{Path: "/mcp"}, ""},
		"two segments":       {mcp.Config{Path: "/tools/mcp"}, ""},
		"none":               {mcp.Config{}, "server.mcp.path: is required"},
		"no slash":           {mcp.Config{Path: "mcp"}, "server.mcp.path"},
		"a slash at the end": {mcp.Config{Path: "/mcp/"}, "server.mcp.path"},
		"well-known":         {mcp.Config{Path: "/.well-known/mcp"}, "server.mcp.path"},
		"gRPC's":             {mcp.Config{Path: "/lf.a2a.v1.A2AService"}, "server.mcp.path"},
		"A2A's":              {mcp.Config{Path: "/agents/mcp"}, "begins as A2A's paths do"},
		"of webhooks":        {mcp.Config{Path: "/push"}, "begins as A2A's paths do"},
		"no time":            {mcp.Config{Path: "/mcp", Wait: -1}, "server.mcp.wait"},
		"no sessions":        {mcp.Config{Path: "/mcp", Sessions: mcp.Sessions{PerCaller: -1}}, "server.mcp.sessions.perCaller"},
		"two hints that contradict": {
			mcp.Config{Path: "/mcp", Annotations: []mcp.Annotation{{ReadOnly: true, Destructive: &yes}}},
			"server.mcp.annotations[0].destructive",
		},
	} {
		tt.config.Defaults()
		err := tt.config.Validate()
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func TestHints(t *testing.T) {
	t.Parallel()
	c := mcp.Config{Annotations: []mcp.Annotation{{Agents: []string{"bill*"}, Skills: []string{"quote"}, ReadOnly: true}, {Agents: []string{"billing"}}}}
	for _, tt := range []struct {
		agent, skill string
		want         *mcp.Annotation
	}{{"billing", "quote", &c.Annotations[0]}, {"billing", "refund", &c.Annotations[1]}, {"weather", "quote", nil}} {
		if got := c.Hints(tt.agent, tt.skill); got != tt.want {
			t.Errorf("%s, %s: %v", tt.agent, tt.skill, got)
		}
	}
}
