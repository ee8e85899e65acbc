package pattern

import (
	"slices"
	"strings"
)

// Glob is a pattern with at least one star: a star stands for any run of bytes,
// also none. There is no other special character and no escape, so that a pattern
// means what it looks like; an id with a star in it cannot be named exactly.
type Glob struct {
	prefix, suffix string
	middle         []string // what must occur between them, in order
}

// NewGlob takes a pattern apart at its stars. Stars that stand together are one.
func NewGlob(pattern string) Glob {
	parts := strings.Split(pattern, "*")
	last := len(parts) - 1
	g := Glob{prefix: parts[0], suffix: parts[last]}
	for _, part := range parts[1:last] {
		if part != "" {
			g.middle = append(g.middle, part)
		}
	}
	return g
}

// Match looks for each middle part as early as possible, which never misses a
// match and makes the cost linear: no pattern can be made slow from outside.
func (g *Glob) Match(s string) bool {
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

// List is a compiled condition: any of the names and globs of a list. It is immutable.
type List struct {
	any   bool // no condition, or one that holds for everything
	exact map[string]struct{}
	one   string // the only exact string, when exact is nil
	globs []Glob
}

// Compile compiles a list; nil is no condition. A lone star is none either,
// so that skills: ["*"] also holds for an agent that has no skills.
func Compile(list []string) List {
	if list == nil {
		return List{any: true}
	}
	var p List
	for _, s := range list {
		switch {
		case strings.Trim(s, "*") == "" && s != "":
			return List{any: true}
		case strings.Contains(s, "*"):
			p.globs = append(p.globs, NewGlob(s))
		default:
			p.add(s)
		}
	}
	return p
}

// add takes the common case of one exact string without a map.
func (p *List) add(s string) {
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

// Match reports whether any pattern fits. The empty string, which no pattern
// can name, fits only where there is no condition or a glob takes it.
func (p *List) Match(s string) bool {
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
		if p.globs[i].Match(s) {
			return true
		}
	}
	return false
}

// All reports whether every name fits: there is no condition, or a lone star.
func (p *List) All() bool { return p.any }

// Exact reports whether there is a condition and all of its entries are plain names, so
// that whoever indexes conditions can look a name up.
func (p *List) Exact() bool { return !p.any && len(p.globs) == 0 }

// Covers reports whether every name that other entries fit fits p; nil is any name. An entry
// with a star is matched as if it were a name, which is sound: its stars can only be taken by
// stars of p, which then take whatever they stand for.
func (p *List) Covers(list []string) bool {
	return p.any || list != nil && !slices.ContainsFunc(list, func(pattern string) bool { return !p.Match(pattern) })
}
