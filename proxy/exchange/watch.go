package exchange

import (
	"github.com/a2a-gateway/a2a-gateway/ext/content"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
)

// Watch is what the agent's documents are held to, made with the first of them.
type Watch struct {
	Terms     content.Terms
	Skill     agents.SkillSchemas
	Objects   bool // some schema is for whole objects
	Canonical *translate.Retelling
}

// Streams reports whether the agent's document at hand is one of a stream.
func (x *Exchange) Streams() bool { return x.Rec.Streamed || x.Leads }

// Standing is where an exchange knows a task to be.
type Standing struct {
	State string // "" for in none yet
	Shown bool   // by an event of this exchange's stream, so that the next follows at once
}
