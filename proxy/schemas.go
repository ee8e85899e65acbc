package proxy

import (
	"errors"
	"fmt"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/content"
	"github.com/a2a-gateway/a2a-gateway/ext/schema"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// skillSchemas are what a skill's data parts are held against; each may be nil.
type skillSchemas struct {
	input, output *schema.Schema
	enforced      bool
}

// hold checks the data parts of a document.
func (s skillSchemas) hold(cs *wire.Carriers, by *schema.Schema) []content.Violation {
	return content.Data(cs, by, s.enforced)
}

// compile makes the schemas that the configuration has for skills. A skill for which
// it has none, and does not say that there shall be none, is not in the map.
func (c AgentConfig) compile() (map[string]skillSchemas, error) {
	var errs []error
	all := make(map[string]skillSchemas)
	for i, s := range c.Skills {
		compiled := skillSchemas{enforced: s.Schemas != ext.Report}
		for _, one := range []struct {
			key    string
			source schema.Source
			to     **schema.Schema
		}{{"input", s.Input, &compiled.input}, {"output", s.Output, &compiled.output}} {
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
			all[s.ID] = skillSchemas{}
		case compiled.input != nil || compiled.output != nil:
			all[s.ID] = compiled
		}
	}
	return all, errors.Join(errs...)
}

// learnSchemas adds what the card says of skills that the configuration has no schema
// for. Nobody has vouched for those: they are reported, not enforced, and one that
// is no schema is none.
func learnSchemas(configured map[string]skillSchemas, skills []card.Skill) map[string]skillSchemas {
	all := make(map[string]skillSchemas, len(skills))
	for id, s := range configured {
		all[id] = s
	}
	for _, s := range skills {
		if _, known := configured[s.ID]; known || s.Input == nil && s.Output == nil {
			continue
		}
		var learned skillSchemas
		if s.Input != nil {
			learned.input, _ = schema.Compile(schema.Source{Inline: s.Input})
		}
		if s.Output != nil {
			learned.output, _ = schema.Compile(schema.Source{Inline: s.Output})
		}
		all[s.ID] = learned
	}
	return all
}
