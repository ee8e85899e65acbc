package card

import "slices"

// Summary is what lists of agents say of one: texts that may leave, and the skills of a
// View.
type Summary struct {
	Name          string
	Description   string
	Version       string
	Documentation string // URL; "" for none
	Streaming     bool
	Push          bool
	Skills        []Skill // ids, names, descriptions and tags
}

// Summarize says in short what Render says to the readers of v. What is left out and
// blackened there is here too.
func (c *Card) Summarize(v View) Summary {
	w := newWriter(c, &v)
	s := Summary{
		Name: w.guard.redact(c.Name), Description: w.guard.redact(c.Description), Version: w.guard.redact(c.Version),
		Documentation: w.guard.link(c.top.text("documentationUrl")),
		Streaming:     c.Streaming, Push: v.Push && c.Push,
	}
	for _, skill := range c.Skills {
		hidden := v.Skills != nil && !slices.Contains(v.Skills, skill.ID)
		if hidden || w.guard.unfit(skill.ID) {
			continue
		}
		one := Skill{ID: skill.ID, Name: w.guard.redact(skill.Name), Description: w.guard.redact(skill.Description)}
		for _, tag := range skill.Tags {
			if !w.guard.leaks(tag) {
				one.Tags = append(one.Tags, w.guard.redact(tag))
			}
		}
		s.Skills = append(s.Skills, one)
	}
	return s
}
