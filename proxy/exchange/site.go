package exchange

import (
	"strings"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/server/cors"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals"
	"github.com/a2a-gateway/a2a-gateway/proxy/catalog"
)

// Site is where in the routes a request is.
type Site struct {
	Fixed string // the path of the route, where it is none of one agent
	Agent string // the id in the path
	Skill string // the skill in the path
	Rest  string // of the path, below any of these

	Tools bool             // the path is the server of MCP's
	Tool  *authn.Principal // whose call of a tool this carries out; nil for a call of A2A's own

	Approved *approvals.Dispatch // the call has waited for approval, and this sends it; else nil
}

const (
	AgentsPath = "/agents/"
	SkillsPath = "/skills/"
)

// Base reports whether a site is the base of one agent, or of all.
func (at *Site) Base() bool {
	switch at.Fixed {
	case "":
		return at.Rest == "/" || at.Rest == "" && at.Agent+at.Skill != ""
	case SharedPath, SharedPath + "/":
		return at.Rest == "" || at.Rest == "/"
	}
	return false
}

// Pattern is the route for telemetry: of all agents the same.
func (at *Site) Pattern() string {
	switch {
	case at.Fixed == MetadataPath+AgentsPath:
		return at.Fixed + "{agent}"
	case strings.HasSuffix(at.Fixed, "/"):
		return at.Fixed + "*"
	case at.Fixed != "":
		return at.Fixed
	}
	pattern := ""
	if at.Agent != "" {
		pattern = AgentsPath + "{agent}"
	}
	if at.Skill != "" {
		pattern += SkillsPath + "{skill}"
	}
	switch at.Rest {
	case "", CardPath, LegacyCardPath:
		return pattern + at.Rest
	}
	return pattern + "/*"
}

// ForPages reports whether pages may have business at a site: all but where agents deliver
// notifications, gRPC, and what is about the listener.
func (at *Site) ForPages() bool {
	switch at.Fixed {
	case "", SharedPath, SharedPath + "/", catalog.Own.Path:
		return true
	}
	return at.Tools || strings.HasPrefix(at.Fixed, "/.well-known/")
}

// Readers are the pages that may read an answer.
type Readers struct {
	CORS   *cors.Config
	Origin []string // of the page that asked
	more   []string // names of fields that they may read, beside the gateway's own
}

// Expose lets the pages read further fields of the answer.
func (r *Readers) Expose(names ...string) { r.more = append(r.more, names...) }

// SharedPath is the endpoint that all agents have in common. There, and on gRPC,
// whose paths are A2A's own, a call names its agent by tenant or by a credential
// that is good for one agent only (A2A 1.0, multi-tenancy).
const SharedPath = "/a2a"

// The two places where clients look for a card: 0.3 and 1.0 use the first,
// 0.1 and 0.2 the second.
const (
	CardPath       = "/.well-known/agent-card.json"
	LegacyCardPath = "/.well-known/agent.json"
)

// MetadataPath begins the paths of protected resource metadata (RFC 9728 §3).
const MetadataPath = "/.well-known/oauth-protected-resource"
