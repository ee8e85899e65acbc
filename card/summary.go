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
	g, limits := w.guard, w.guard.limits
	s := Summary{
		Name: g.prose(c.Name, limits.Name), Description: g.prose(c.Description, limits.Text), Version: g.prose(c.Version, limits.Name),
		Documentation: g.link(c.top.text("documentationUrl")),
		Streaming:     c.Streaming, Push: v.Push && c.Push,
	}
	for _, skill := range c.Skills {
		hidden := v.Skills != nil && !slices.Contains(v.Skills, skill.ID)
		if hidden || g.unfit(skill.ID, limits.Name) {
			continue
		}
		one := Skill{ID: skill.ID, Name: g.prose(skill.Name, limits.Name), Description: g.prose(skill.Description, limits.Text)}
		for _, tag := range skill.Tags {
			if len(one.Tags) < limits.Entries && !g.leaks(tag) {
				one.Tags = append(one.Tags, g.prose(tag, limits.Name))
			}
		}
		s.Skills = append(s.Skills, one)
	}
	return s
}
