package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/yamlerror"
)

// problem is something wrong at a place in a file: what Load says, one a line, in the form in which
// compilers do, so that editors can go there.
type problem struct {
	name         string
	line, column int // from 1; 0 where there is no place
	err          error
}

func (p *problem) Error() string {
	if p.line == 0 {
		return p.name + ": " + p.err.Error()
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.name, p.line, p.column, p.err)
}

func (p *problem) Unwrap() error { return p.err }

// problemAt is a problem of one node, once for every error that is joined in it: each is a line of
// its own, and needs the place.
func problemAt(name string, n *yaml.Node, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if inner := errors.Unwrap(err); inner != nil {
		if many, ok := inner.(interface{ Unwrap() []error }); ok && err.Error() == inner.Error() {
			errs := make([]error, 0, len(many.Unwrap()))
			for _, e := range many.Unwrap() {
				errs = append(errs, &problem{name, n.Line, n.Column, e})
			}
			return errors.Join(errs...)
		}
	}
	return &problem{name, n.Line, n.Column, err}
}

// located turns the YAML library's errors into file:line:column, one per line.
// s knows the path of each place, and which places are wrong already; it may be
// nil.
func located(name string, err error, s *shape) error {
	var many *yaml.LoadErrors
	if errors.As(err, &many) {
		errs := make([]error, 0, len(many.Errors))
		for _, e := range many.Errors {
			errs = append(errs, located(name, e, s))
		}
		return errors.Join(errs...)
	}
	var one *yaml.LoadError
	if !errors.As(err, &one) {
		return &problem{name: name, err: err}
	}
	text := plain(one.Message)
	if s != nil {
		where := place{one.Mark.Line, one.Mark.Column}
		if s.wrongs[where] {
			return nil
		}
		if path := s.paths[where]; path != "" {
			text = path + ": " + text
		}
	}
	return &problem{name, one.Mark.Line, one.Mark.Column, errors.New(text)}
}

// position is the line that section types put in front of their own errors.
var position = regexp.MustCompile(`^(yaml: )?(line \d+: )?`)

// plain takes out of the library's words what does not help: positions that are
// there already, and every text that it quotes from the file. A password that
// begins with * is an unknown anchor to it.
func plain(message string) string {
	return yamlerror.Words(message[len(position.FindString(message)):])
}

// placed adds file, line and column to the errors of Validate, in the order of the files. Those
// without a path are about no key, such as what an environment lacks.
func placed(src *sources, err error) error {
	var problems []*problem
	for _, e := range keypath.Errors(err) {
		if len(e.Path()) == 0 {
			problems = append(problems, &problem{name: src.main.name, err: e.Unwrap()})
			continue
		}
		f, path, said := src.of(e)
		n := find(f.doc, path)
		problems = append(problems, &problem{f.name, n.Line, n.Column, said})
	}
	// The mistakes of one file stand together, as somebody reads who corrects them from top to
	// bottom. Where two are of one place, the order is that of the checks.
	order := func(p *problem) int {
		return slices.IndexFunc(src.all(), func(f *source) bool { return f.name == p.name })
	}
	slices.SortStableFunc(problems, func(a, b *problem) int {
		if a.name != b.name {
			return order(a) - order(b)
		}
		if a.line != b.line {
			return a.line - b.line
		}
		return a.column - b.column
	})
	errs := make([]error, 0, len(problems))
	for _, p := range problems {
		errs = append(errs, p)
	}
	return errors.Join(errs...)
}

// readLimited reads what has no more than sizeLimit bytes, and one byte more of anything longer to
// know that it is.
// The error does not name the file, which the caller knows.
func readLimited(to *bytes.Buffer, from io.Reader) error {
	n, err := to.ReadFrom(io.LimitReader(from, sizeLimit+1))
	if err != nil {
		return err
	}
	if n > sizeLimit {
		return fmt.Errorf("larger than %d bytes", sizeLimit)
	}
	return nil
}
