// Package mcp has the server.mcp section of the configuration: the endpoint of the Model Context
// Protocol, at which agents' skills are tools.
//
// It owns the keys, their defaults and what is refused of them. What the endpoint does is package
// internal/mcpserver's, and where it is on the public listener package proxy's.
package mcp

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/feature"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/pattern"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// Config is the server.mcp section: an MCP server whose tools are the skills that its caller may use.
type Config struct {
	// Path of the endpoint on the gateway's own hosts: segments of letters, digits, "-" and "_". It
	// cannot begin with agents, a2a or push, which are A2A's. Required.
	Path string `yaml:"path" jsonschema:"required"`

	// How long a tool call waits for its task, and for its user where the task asks for input. Then
	// the answer is the id and the state of the task, which a2a_get_task tells more of. It should be
	// shorter than the time that hosts wait, often a minute. Default: 45s.
	Wait quantity.Duration `yaml:"wait,omitempty"`

	// Most tools that a page of the list has. Default: 200.
	PageSize int `yaml:"pageSize,omitempty"`

	// Keeps no sessions for hosts that speak MCP before 2026-07-28, so that their requests may reach
	// any replica. Such hosts are then not asked for input, and not told that tools have changed.
	// Later hosts have no sessions in any case. Default: false.
	Stateless bool `yaml:"stateless,omitempty"`

	// Sessions of hosts that speak MCP before 2026-07-28, in the memory of this replica, and open
	// subscriptions of later ones.
	Sessions Sessions `yaml:"sessions,omitempty"`

	// Hints about tools, for hosts that ask their users before some. The first entry that matches a
	// skill counts. Default: none, and hosts assume the worst.
	Annotations []Annotation `yaml:"annotations,omitempty"`
}

// Sessions is the server.mcp.sessions section. In every key, 0 is the default.
type Sessions struct {
	// Most sessions and subscriptions open at once; the gateway answers further ones with 503.
	// Default: 1000.
	Total int `yaml:"total,omitempty"`

	// Most of one caller; the gateway answers further ones with 429. Default: 20.
	PerCaller int `yaml:"perCaller,omitempty"`

	// Time after which a session without a request ends. Default: 30m.
	Idle quantity.Duration `yaml:"idle,omitempty"`
}

// Annotation is an entry of server.mcp.annotations: what a host may believe of some tools.
type Annotation struct {
	// Agents and Skills that the entry is about, by id; * matches any part of one. Default: all.
	Agents []string `yaml:"agents,omitempty"`
	Skills []string `yaml:"skills,omitempty"`

	// ReadOnly says that the skill changes nothing. Default: false.
	ReadOnly bool `yaml:"readOnly,omitempty"`

	// Destructive says whether the skill may delete or overwrite, and not only add. Default: not
	// said, which hosts take for true.
	Destructive *bool `yaml:"destructive,omitempty"`

	// Idempotent says that the same call twice does no more than once. Default: false.
	Idempotent bool `yaml:"idempotent,omitempty"`

	// OpenWorld says whether the skill deals with others than the agent's own system. Default: not
	// said, which hosts take for true.
	OpenWorld *bool `yaml:"openWorld,omitempty"`
}

// Defaults fills in what is not set.
func (c *Config) Defaults() {
	if c.Wait == 0 {
		c.Wait = quantity.Duration(45 * time.Second)
	}
	if c.PageSize == 0 {
		c.PageSize = 200
	}
	if c.Sessions.Total == 0 {
		c.Sessions.Total = 1000
	}
	if c.Sessions.PerCaller == 0 {
		c.Sessions.PerCaller = 20
	}
	if c.Sessions.Idle == 0 {
		c.Sessions.Idle = quantity.Duration(30 * time.Minute)
	}
}

var path = regexp.MustCompile(`^(/[A-Za-z0-9_-]+)+$`)

// reserved begin the paths that are the gateway's already.
var reserved = []string{"agents", "a2a", "push"}

// Validate names each key that is wrong (keypath.Error), below server.mcp. A nil Config is right.
func (c *Config) Validate() error {
	if c == nil {
		return nil
	}
	var all []error
	add := func(err error, key ...any) {
		all = append(all, keypath.At(err, append([]any{"server", "mcp"}, key...)...))
	}
	if err := feature.Need(feature.MCP); err != nil {
		add(err)
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(c.Path, "/"), "/")
	switch {
	case c.Path == "":
		add(errors.New(`is required, write the path that MCP hosts connect to, such as "/mcp"`), "path")
	case !path.MatchString(c.Path):
		add(fmt.Errorf(`%q must begin with a slash, not end with one, and have segments of letters, digits, "-" and "_"`, c.Path), "path")
	case slices.Contains(reserved, first):
		add(fmt.Errorf("%q begins as A2A's paths do, write for instance /mcp", c.Path), "path")
	}
	if c.Wait < 0 {
		add(errors.New("must not be negative"), "wait")
	}
	if c.PageSize < 0 {
		add(errors.New("must not be negative"), "pageSize")
	}
	if c.Sessions.Total < 0 {
		add(errors.New("must not be negative"), "sessions", "total")
	}
	if c.Sessions.PerCaller < 0 {
		add(errors.New("must not be negative"), "sessions", "perCaller")
	}
	if c.Sessions.Idle < 0 {
		add(errors.New("must not be negative"), "sessions", "idle")
	}
	for i, a := range c.Annotations {
		if a.ReadOnly && a.Destructive != nil && *a.Destructive {
			add(errors.New("is true together with readOnly, remove one of them"), "annotations", i, "destructive")
		}
	}
	return errors.Join(all...)
}

// Hints is the annotation of a skill; nil where nothing is known of it.
func (c *Config) Hints(agent, skill string) *Annotation {
	for i := range c.Annotations {
		if a := &c.Annotations[i]; matches(a.Agents, agent) && matches(a.Skills, skill) {
			return a
		}
	}
	return nil
}

func matches(patterns []string, id string) bool {
	return patterns == nil || slices.ContainsFunc(patterns, func(p string) bool { return pattern.Match(p, id) })
}
