//go:build !minimal

package mcpserver

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/mcpserver/toolname"
	servermcp "github.com/a2a-gateway/a2a-gateway/internal/server/mcp"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy"
)

// The two tools that are about tasks, whichever agent has them. No skill's name is one of these.
const (
	getTask    = "a2a_get_task"
	cancelTask = "a2a_cancel_task"
)

// served is what a served card says of an agent's skills, beside what cards are for.
type served struct {
	Name         string `json:"name"`
	Capabilities struct {
		Streaming bool `json:"streaming"`
	} `json:"capabilities"`
	Skills []skill `json:"skills"`
}

type skill struct {
	ID          string         `json:"id"`
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Examples    []string       `json:"examples"`
	InputSchema jsontext.Value `json:"inputSchema"`
	Input       jsontext.Value `json:"input"`
}

// cardOf is the card of an agent as it is served to a caller; the zero value where there is none.
func cardOf(p *proxy.Proxy, who *authn.Principal, agent string) (c served) {
	text, _, err := p.CardFor(who, agent, wire.V10)
	if err != nil || text == nil || json.Unmarshal(text, &c) != nil {
		return served{}
	}
	return c
}

// tools are those of a caller, in the order of their names.
func tools(p *proxy.Proxy, who *authn.Principal) []*mcp.Tool {
	var all []*mcp.Tool
	for _, a := range p.Agents {
		may := p.Tooled(who, a.ID)
		if len(may) == 0 {
			continue
		}
		card := cardOf(p, who, a.ID)
		for _, s := range card.Skills {
			if slices.Contains(may, s.ID) {
				all = append(all, newTool(p, a.ID, card.Name, s))
			}
		}
	}
	if len(all) > 0 {
		all = append(all, taskTools()...)
	}
	slices.SortFunc(all, func(a, b *mcp.Tool) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// newTool puts a skill into the words of MCP.
func newTool(p *proxy.Proxy, agent, name string, s skill) *mcp.Tool {
	about := s.Description
	if len(s.Examples) > 0 {
		about += "\n\nExamples:\n- " + strings.Join(s.Examples, "\n- ")
	}
	if name != "" {
		about += "\n\nA skill of the agent " + name + "."
	}
	data := jsontext.Value(p.InputOf(agent, s.ID))
	if data == nil {
		data = jsontext.Value(cmp.Or(string(s.InputSchema), string(s.Input), anyData))
	}
	return &mcp.Tool{
		Name: toolname.Of(agent, s.ID), Title: s.Name, Description: strings.TrimSpace(about),
		InputSchema: inputOf(data), OutputSchema: jsontext.Value(outputSchema),
		Annotations: hints(p.Server.MCP.Hints(agent, s.ID)),
	}
}

// hints are what the configuration says of a skill; nil for nothing.
func hints(a *servermcp.Annotation) *mcp.ToolAnnotations {
	if a == nil {
		return nil
	}
	return &mcp.ToolAnnotations{
		ReadOnlyHint: a.ReadOnly, DestructiveHint: a.Destructive, IdempotentHint: a.Idempotent, OpenWorldHint: a.OpenWorld,
	}
}

// list answers tools/list, a page at a time. A cursor is the name of the last tool before the page,
// so that it is good for whatever the list has become meanwhile.
func list(v *visit, req *mcp.ListToolsRequest) (*mcp.ListToolsResult, error) {
	all := tools(v.Proxy, v.Principal)
	if req.Params != nil && req.Params.Cursor != "" {
		last, err := base64.RawURLEncoding.DecodeString(req.Params.Cursor)
		if err != nil || len(last) > toolname.Max {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the cursor is none of this list's"}
		}
		from, found := slices.BinarySearchFunc(all, string(last), func(t *mcp.Tool, name string) int { return cmp.Compare(t.Name, name) })
		if found {
			from++
		}
		all = all[from:]
	}
	res := &mcp.ListToolsResult{Tools: all, Cacheable: mcp.Cacheable{CacheScope: "private"}}
	if most := v.Config.PageSize; len(all) > most {
		res.Tools = all[:most]
		res.NextCursor = base64.RawURLEncoding.EncodeToString([]byte(all[most-1].Name))
	}
	if res.Tools == nil {
		res.Tools = []*mcp.Tool{} // null is no list
	}
	return res, nil
}

// taskTools are for tasks that are not over when a call ends.
func taskTools() []*mcp.Tool {
	no := false
	return []*mcp.Tool{
		{
			Name: getTask, Title: "Look at a task", InputSchema: jsontext.Value(taskSchema), OutputSchema: jsontext.Value(outputSchema),
			Description: "Tells what has become of a task of yours: its state, and its results once there are any.",
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &no},
		},
		{
			Name: cancelTask, Title: "Cancel a task", InputSchema: jsontext.Value(taskSchema), OutputSchema: jsontext.Value(outputSchema),
			Description: "Asks the agent to end a task of yours.",
		},
	}
}
