package agents

import (
	"errors"
	"fmt"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/content"
	"github.com/a2a-gateway/a2a-gateway/ext/schema"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// SkillSchemas are what a skill's data parts are held against; each may be nil.
type SkillSchemas struct {
	Input, Output *schema.Schema
	Document      []byte // Input as JSON, where the configuration has it; nil for none
	enforced      bool
}

// Hold checks the data parts of a document.
func (s SkillSchemas) Hold(cs *wire.Carriers, by *schema.Schema) []content.Violation {
	return content.Data(cs, by, s.enforced)
}

// compile makes the schemas that the configuration has for skills. A skill for which
// it has none, and does not say that there shall be none, is not in the map.
func (c Config) compile() (map[string]SkillSchemas, error) {
	var errs []error
	all := make(map[string]SkillSchemas)
	for i, s := range c.Skills {
		compiled := SkillSchemas{enforced: s.Schemas != ext.Report, Document: s.Input.Document()}
		for _, one := range []struct {
			key    string
			source schema.Source
			to     **schema.Schema
		}{{"input", s.Input, &compiled.Input}, {"output", s.Output, &compiled.Output}} {
			if one.source.IsZero() {
				continue
			}
			var err error
			if *one.to, err = schema.Compile(one.source); err != nil {
				errs = append(errs, fmt.Errorf("skills[%d].%s: %w", i, one.key, err))
			}
		}
		switch {
		case s.Schemas == ext.Off:
			all[s.ID] = SkillSchemas{}
		case compiled.Input != nil || compiled.Output != nil:
			all[s.ID] = compiled
		}
	}
	return all, errors.Join(errs...)
}

// learnSchemas adds what the card says of skills that the configuration has no schema
// for. Nobody has vouched for those: they are reported, not enforced, and one that
// is no schema is none.
func learnSchemas(configured map[string]SkillSchemas, skills []card.Skill) map[string]SkillSchemas {
	all := make(map[string]SkillSchemas, len(skills))
	for id, s := range configured {
		all[id] = s
	}
	for _, s := range skills {
		if _, known := configured[s.ID]; known || s.Input == nil && s.Output == nil {
			continue
		}
		var learned SkillSchemas
		if s.Input != nil {
			learned.Input, _ = schema.Compile(schema.Source{Inline: s.Input})
		}
		if s.Output != nil {
			learned.Output, _ = schema.Compile(schema.Source{Inline: s.Output})
		}
		all[s.ID] = learned
	}
	return all
}
