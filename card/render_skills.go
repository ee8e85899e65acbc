package card

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// skills writes the skills that v shows. Their security is dropped with the
// card's: it named schemes that no longer exist.
func (w *writer) skills() jsontext.Value {
	own := known("id", "name", "description", "tags", "examples", "inputModes", "outputModes",
		"security", "securityRequirements")
	g, limits := w.guard, w.guard.limits
	var list []jsontext.Value
	for i, s := range w.card.Skills {
		hidden := w.view.Skills != nil && !slices.Contains(w.view.Skills, s.ID)
		if hidden || g.unfit(s.ID, limits.Name) {
			continue // an id is what callers name a skill by: it cannot be half shown
		}
		from := w.card.skills[i]
		entry := object{
			{"id", quote(s.ID)},
			{"name", w.prose(s.Name, limits.Name)},
			{"description", w.filled(s.Description, s.Name, limits.Text)},
			{"tags", w.listed(from.find("tags"), s.ID, g.said, limits.Name)},
		}
		w.lists(&entry, from)
		w.rest(&entry, from, own)
		list = append(list, entry.encode())
	}
	return array(list)
}

// lists writes those of a skill's lists that it may do without.
func (w *writer) lists(entry *object, skill object) {
	for _, l := range []struct {
		name  string
		shown pass
		limit int
	}{
		{"examples", w.guard.said, w.guard.limits.Text},
		{"inputModes", w.guard.shown, w.guard.limits.Name},
		{"outputModes", w.guard.shown, w.guard.limits.Name},
	} {
		if v := skill.find(l.name); v.Kind() == '[' && len(elements(v)) > 0 {
			entry.put(l.name, w.texts(v, l.shown, l.limit))
		}
	}
}
