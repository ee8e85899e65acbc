package keypath

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Error is an error about the value of a key.
type Error struct {
	said  Path // stands in front of the text
	about Path // leads on from there to the value, and does not
	err   error
}

// At says that an error is about the value that the steps lead to, keys and indexes as Of takes
// them. The text begins with the path: At(err, "tls", "minVersion") reads "tls.minVersion: …".
// Around an error that has a path already, the two become one. Errors that are joined get the
// path each. At of nil is nil.
func At(err error, steps ...any) error { return each(err, Of(steps...), at) }

// Point is At for an error whose text names the value in words of its own, such as
// "effect is missing", or not at all: the path is for finding the place in the file only.
func Point(err error, steps ...any) error { return each(err, Of(steps...), point) }

// Trim takes the steps off the front of the paths that begin with them: what is wrong with one
// section is said of another one of the same form.
func Trim(err error, steps ...any) error { return each(err, Of(steps...), trim) }

func trim(e *Error, p Path) *Error {
	if len(e.said) < len(p) || !slices.Equal(e.said[:len(p)], p) {
		return e
	}
	return &Error{said: e.said[len(p):], about: e.about, err: e.err}
}

func at(e *Error, p Path) *Error {
	return &Error{said: slices.Concat(p, e.said), about: e.about, err: e.err}
}

func point(e *Error, p Path) *Error {
	if len(e.said) > 0 { // which is part of the text from here on
		return &Error{about: slices.Concat(p, e.said, e.about), err: e}
	}
	return &Error{about: slices.Concat(p, e.about), err: e.err}
}

// each puts a path before all of several errors, with a text each: one line of a list of
// mistakes has to be understood without the one above it.
func each(err error, p Path, put func(*Error, Path) *Error) error {
	var all []error
	for _, e := range Errors(err) {
		all = append(all, put(e, p))
	}
	if len(all) == 1 {
		return all[0]
	}
	return errors.Join(all...)
}

// parts are the errors that errors.Join made one of. An error of several that says them in a
// sentence, as fmt.Errorf("%w: %w", …) does, is one error.
func parts(err error) ([]error, bool) {
	many, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil, false
	}
	var texts []string
	for _, one := range many.Unwrap() {
		texts = append(texts, one.Error())
	}
	return many.Unwrap(), strings.Join(texts, "\n") == err.Error()
}

// around takes off the words that stand before joined errors, as in fmt.Errorf("hooks: %w", …).
func around(err error) (words string, joined error, ok bool) {
	joined = errors.Unwrap(err)
	if _, ok := parts(joined); !ok {
		return "", nil, false
	}
	words, ok = strings.CutSuffix(err.Error(), joined.Error())
	return words, joined, ok
}

// Errors takes joined errors apart, in their order, also where there are words before them. One without a path comes as an Error with
// an empty one.
func Errors(err error) []*Error {
	if err == nil {
		return nil
	}
	if many, ok := parts(err); ok {
		var all []*Error
		for _, one := range many {
			all = append(all, Errors(one)...)
		}
		return all
	}
	if e, ok := err.(*Error); ok { //nolint:errorlint // one that is wrapped has another text
		return []*Error{e}
	}
	if words, joined, ok := around(err); ok {
		var all []*Error
		for _, one := range Errors(joined) {
			all = append(all, &Error{about: one.Path(), err: fmt.Errorf("%s%w", words, one)})
		}
		return all
	}
	var inner *Error
	if errors.As(err, &inner) { // the words around it name the place
		return []*Error{{about: inner.Path(), err: err}}
	}
	return []*Error{{err: err}}
}

// Error is the path that is part of the text, and what is wrong.
func (e *Error) Error() string {
	if len(e.said) == 0 {
		return e.err.Error()
	}
	return e.said.String() + ": " + e.err.Error()
}

// Unwrap is the error without the path in front.
func (e *Error) Unwrap() error { return e.err }

// Said is the path that the text begins with.
func (e *Error) Said() Path { return e.said }

// Path is the whole path of the value that is wrong.
func (e *Error) Path() Path { return slices.Concat(e.said, e.about) }
