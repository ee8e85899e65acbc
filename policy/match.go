package policy

import "strings"

// glob is a pattern with at least one star: a star stands for any run of bytes,
// also none. There is no other special character and no escape, so that a pattern
// means what it looks like; an id with a star in it cannot be named exactly.
type glob struct {
	prefix, suffix string
	middle         []string // what must occur between them, in order
}

// newGlob takes a pattern apart at its stars. Stars that stand together are one.
func newGlob(pattern string) glob {
	parts := strings.Split(pattern, "*")
	last := len(parts) - 1
	g := glob{prefix: parts[0], suffix: parts[last]}
	for _, part := range parts[1:last] {
		if part != "" {
			g.middle = append(g.middle, part)
		}
	}
	return g
}

// match looks for each middle part as early as possible, which never misses a
// match and makes the cost linear: no pattern can be made slow from outside.
func (g *glob) match(s string) bool {
	if len(s) < len(g.prefix)+len(g.suffix) ||
		!strings.HasPrefix(s, g.prefix) || !strings.HasSuffix(s, g.suffix) {
		return false
	}
	s = s[len(g.prefix) : len(s)-len(g.suffix)]
	for _, part := range g.middle {
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
	return true
}

// patterns is a compiled condition: any of the strings and globs.
type patterns struct {
	any   bool // no condition, or one that holds for everything
	exact map[string]struct{}
	one   string // the only exact string, when exact is nil
	globs []glob
}

// newPatterns compiles a list; nil is no condition. A lone star is none either,
// so that skills: ["*"] also holds for an agent that has no skills.
func newPatterns(list []string) patterns {
	if list == nil {
		return patterns{any: true}
	}
	var p patterns
	for _, s := range list {
		switch {
		case strings.Trim(s, "*") == "" && s != "":
			return patterns{any: true}
		case strings.Contains(s, "*"):
			p.globs = append(p.globs, newGlob(s))
		default:
			p.add(s)
		}
	}
	return p
}

// add takes the common case of one exact string without a map.
func (p *patterns) add(s string) {
	if p.exact == nil && p.one == "" {
		p.one = s
		return
	}
	if p.exact == nil {
		p.exact = map[string]struct{}{p.one: {}}
		p.one = ""
	}
	p.exact[s] = struct{}{}
}

// match reports whether any pattern fits. The empty string, which no pattern
// can name, fits only where there is no condition or a glob takes it.
func (p *patterns) match(s string) bool {
	if p.any {
		return true
	}
	if p.exact != nil {
		if _, ok := p.exact[s]; ok {
			return true
		}
	} else if p.one == s && s != "" {
		return true
	}
	for i := range p.globs {
		if p.globs[i].match(s) {
			return true
		}
	}
	return false
}
