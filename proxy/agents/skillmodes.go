package agents

import (
	"fmt"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// skillModes are the modes that calls for a skill are held to.
type skillModes struct{ in, out []mediaRange }

// mediaRange is one of the modes that a card or a caller lists: a range of media types,
// as in image/*. Cards of before 0.2 have words for kinds of parts instead: text, file
// and data. Other words than these are types without a subtype.
type mediaRange struct{ kind, major, minor string }

func rangeOf(mode string) mediaRange {
	mode, _, _ = strings.Cut(mode, ";")
	mode = strings.ToLower(strings.TrimSpace(mode))
	major, minor, ok := strings.Cut(mode, "/")
	switch {
	case ok:
		return mediaRange{"", major, minor}
	case mode == "file":
		return mediaRange{wire.PartFile, "*", "*"}
	case mode == "data":
		return mediaRange{wire.PartData, "application", "json"}
	case mode == "text":
		return mediaRange{wire.PartText, "text", "*"}
	}
	return mediaRange{"", major, "*"}
}

func rangesOf(modes []string) []mediaRange {
	list := make([]mediaRange, 0, len(modes))
	for _, mode := range modes {
		list = append(list, rangeOf(mode))
	}
	return list
}

// has reports whether a part is in the range.
func (r mediaRange) has(p *wire.Part) bool {
	switch {
	case r.kind != "" && r.kind == p.Kind:
		return true
	case r.kind == wire.PartFile: // whatever its type is
		return false
	}
	major, minor, _ := strings.Cut(mediaTypeOf(p), "/")
	return (r.major == "*" || r.major == major) && (r.minor == "*" || r.minor == minor)
}

// meets reports whether there is a media type in both ranges.
func (r mediaRange) meets(other mediaRange) bool {
	same := func(a, b string) bool { return a == "*" || b == "*" || a == b }
	return same(r.major, other.major) && same(r.minor, other.minor)
}

// mediaTypeOf is the media type of a part, also of one that does not say it.
func mediaTypeOf(p *wire.Part) string {
	switch {
	case p.MediaType != "":
		return p.MediaType
	case p.Kind == wire.PartText:
		return "text/plain"
	case p.Kind == wire.PartData:
		return "application/json"
	}
	return "application/octet-stream"
}

// OddModes says of a message what is not among the modes of a skill, or of all skills
// where that is "": what agents[].modes reports or refuses. skills are the agent's, c is
// its card.
func OddModes(c *card.Card, skills []string, skill string, m *wire.Message) []string {
	v := &View{Card: c, Skills: skills}
	v.readModes()
	return v.ModesOf(skill).Odd(m)
}

// manyOdd is how many media types of one message are told of.
const manyOdd = 16

// Odd says of a message what is not among the modes. Of the message it names media
// types only.
func (s skillModes) Odd(m *wire.Message) []string {
	var odd []string
	told := map[string]bool{}
	for i := range m.Parts {
		part := &m.Parts[i]
		if slices.ContainsFunc(s.in, func(r mediaRange) bool { return r.has(part) }) || len(odd) == manyOdd {
			continue
		}
		if name := mediaTypeOf(part); !told[name] {
			told[name] = true
			odd = append(odd, fmt.Sprintf("%.80q is not taken", name))
		}
	}
	if len(m.OutputModes) == 0 {
		return odd
	}
	for _, accepted := range m.OutputModes {
		if slices.ContainsFunc(s.out, rangeOf(accepted).meets) {
			return odd
		}
	}
	return append(odd, "none of the accepted output modes is offered")
}

// readModes finds the modes of every skill, and under "" those of all together.
func (v *View) readModes() {
	v.modes = map[string]skillModes{}
	listed := map[string]*card.Skill{}
	for i := range v.Card.Skills {
		listed[v.Card.Skills[i].ID] = &v.Card.Skills[i]
	}
	var all skillModes
	for _, id := range v.Skills {
		m := modesIn(v.Card, listed[id])
		v.modes[id] = m
		all.in, all.out = append(all.in, m.in...), append(all.out, m.out...)
	}
	if len(v.Skills) == 0 {
		all = modesIn(v.Card, nil)
	}
	v.modes[""] = skillModes{distinct(all.in), distinct(all.out)}
}

// modesIn are the modes of a skill, which may be nil: the card's where it has none.
func modesIn(c *card.Card, s *card.Skill) skillModes {
	in, out := c.DefaultInputModes, c.DefaultOutputModes
	if s != nil && s.InputModes != nil {
		in = s.InputModes
	}
	if s != nil && s.OutputModes != nil {
		out = s.OutputModes
	}
	return skillModes{rangesOf(in), rangesOf(out)}
}

// distinct leaves out repeats; skills mostly list the same.
func distinct(list []mediaRange) []mediaRange {
	seen := make(map[mediaRange]bool, len(list))
	return slices.DeleteFunc(list, func(r mediaRange) bool {
		was := seen[r]
		seen[r] = true
		return was
	})
}

// ModesOf are the modes of a skill. One that a task was made for may be gone from the
// card.
func (v *View) ModesOf(skill string) skillModes {
	if m, ok := v.modes[skill]; ok {
		return m
	}
	return modesIn(v.Card, nil)
}
