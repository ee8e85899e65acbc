package config

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// section is an error of a section with the path of the section's key.
type section struct {
	path []string
	err  error
}

func at(err error, path ...string) error {
	if err == nil {
		return nil
	}
	return &section{path: path, err: err}
}

// Error says the path once, also where the section's own words begin with it.
func (s *section) Error() string {
	var lines []string
	for _, leaf := range leaves("", s.err) {
		path, text := s.place(leaf.text)
		lines = append(lines, spell(path)+": "+text)
	}
	return strings.Join(lines, "\n")
}

func (s *section) Unwrap() error { return s.err }

// place splits what a section says into the whole path of the key and the rest.
func (s *section) place(text string) (path []string, rest string) {
	path, rest = keyPath(text)
	if len(path) < len(s.path) || !slices.Equal(path[:len(s.path)], s.path) {
		path = slices.Concat(s.path, path)
	}
	return path, rest
}

// spell writes a path as it stands in messages: agents[0].card,
// extensions[0].defaults["https://…"].
func spell(path []string) string {
	var b strings.Builder
	for i, step := range path {
		switch {
		case index.MatchString(step):
			b.WriteString("[" + step + "]")
			continue
		case !name.MatchString(step):
			b.WriteString("[" + strconv.Quote(step) + "]")
			continue
		case i > 0:
			b.WriteByte('.')
		}
		b.WriteString(step)
	}
	return b.String()
}

// The steps of a path that need no quotes.
var (
	index = regexp.MustCompile(`^[0-9]+$`)
	name  = regexp.MustCompile(`^[A-Za-z_]\w*$`)
)

// leaves takes joined errors apart, also below a common prefix as in
// fmt.Errorf("authn.oidc[0]: %w", errors.Join(…)), which is then put before each.
func leaves(prefix string, err error) []said {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var all []said
		for _, e := range many.Unwrap() {
			all = append(all, leaves(prefix, e)...)
		}
		return all
	}
	if _, ok := err.(*section); !ok { //nolint:errorlint // this error, not one that it wraps
		if inner := errors.Unwrap(err); inner != nil {
			if own, ok := strings.CutSuffix(err.Error(), inner.Error()); ok {
				return leaves(prefix+own, inner)
			}
		}
	}
	return []said{{prefix + err.Error(), err}}
}

// leading matches the key path that a section's own errors begin with, as in
// `credentials[2].oauth2: …`.
var leading = regexp.MustCompile(`^([a-z]\w*(\[\d+\])*(\.[a-z]\w*(\[\d+\])*)*): `)

// steps takes such a path apart.
var steps = regexp.MustCompile(`\w+`)

func keyPath(text string) (path []string, rest string) {
	for {
		m := leading.FindStringSubmatch(text)
		if m == nil {
			return path, text
		}
		path = append(path, steps.FindAllString(m[1], -1)...)
		text = text[len(m[0]):]
	}
}
