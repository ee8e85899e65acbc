package ext

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/taskstate"
)

// Registry is the top-level `extensions:` list.
type Registry []Entry

// Validate reports what is wrong with entries, and with entries beside each other. Every
// error begins with the place in the list and the key, as in "[2].sunset: ". It does
// not compile anything: Compile does, and validates first.
func (r Registry) Validate() error {
	var errs []error
	seen := make(map[string]bool, len(r))
	for i := range r {
		e := &r[i]
		problems := e.problems()
		if seen[e.URI] {
			problems = append(problems, keypath.At(fmt.Errorf("extension %q is listed twice", e.URI), "uri"))
		}
		seen[e.URI] = true
		errs = append(errs, keypath.At(errors.Join(problems...), i))
	}
	// With an entry twice it is not clear whose dependencies are meant.
	if len(seen) == len(r) {
		errs = append(errs, r.cycles()...)
	}
	return errors.Join(errs...)
}

// digest is what Entry.Digest looks like.
var digest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// problems are those of an entry by itself.
func (e *Entry) problems() []error {
	errs := []error{
		checkURI("uri", e.URI),
		checkWord("kind", string(e.Kind), []string{string(Data), string(Profile), string(Method), string(States)}),
		checkWord("status", string(e.Status), []string{string(Allowed), string(Deprecated), string(Blocked)}),
		checkWord("validation", string(e.Validation), modes),
	}
	errs = append(errs, e.end()...)
	if e.Digest != "" && !digest.MatchString(e.Digest) {
		errs = append(errs, keypath.At(errors.New(`not "sha256:" and 64 lower-case hex digits`), "digest"))
	}
	if e.Digest != "" && e.Specification == "" {
		errs = append(errs, keypath.At(errors.New("there is no specification that it could be of"), "digest"))
	}
	errs = append(errs, e.Dependencies.problems(e.URI)...)
	for i, key := range e.Metadata {
		if slices.Contains(e.Metadata[:i], key) {
			errs = append(errs, keypath.At(keypath.Point(fmt.Errorf("%q is listed twice", clip(key)), i), "metadata"))
		}
		errs = append(errs, checkKey(key))
	}
	errs = append(errs, e.misfits()...)
	if e.States != nil {
		errs = append(errs, keypath.At(errors.Join(e.States.problems()...), "states"))
	}
	for i, h := range e.Hooks {
		if err := h.Validate(); err != nil {
			errs = append(errs, keypath.At(err, "hooks", i))
		}
	}
	return errs
}

func checkURI(key, uri string) error {
	return keypath.At(CheckURI(uri), key)
}

// end are the problems of what stands about an extension's last days.
func (e *Entry) end() []error {
	var errs []error
	if e.Replacement != "" {
		errs = append(errs, checkURI("replacement", e.Replacement))
		if e.Replacement == e.URI {
			errs = append(errs, keypath.At(errors.New("the extension itself"), "replacement"))
		}
		if e.Status != Deprecated && e.Status != Blocked {
			errs = append(errs, keypath.At(errors.New("the extension is neither deprecated nor blocked"), "replacement"))
		}
	}
	if e.Sunset != "" {
		if _, err := time.Parse(time.DateOnly, e.Sunset); err != nil {
			errs = append(errs, keypath.At(fmt.Errorf("%q is no date such as 2027-03-31", clip(e.Sunset)), "sunset"))
		}
		if e.Status != Deprecated {
			errs = append(errs, keypath.At(errors.New("the extension is not deprecated"), "sunset"))
		}
	}
	return errs
}

// An extension that requires itself is a cycle, and is told of with those.
func (d *Dependencies) problems(self string) []error {
	errs := checkURIs(d.Required, "dependencies", "required")
	errs = append(errs, checkURIs(d.Optional, "dependencies", "optional")...)
	for _, uri := range d.Required {
		if slices.Contains(d.Optional, uri) {
			errs = append(errs, keypath.At(fmt.Errorf("extension %q is both required and optional", uri), "dependencies"))
		}
	}
	if slices.Contains(d.Optional, self) {
		errs = append(errs, keypath.At(errors.New("the extension itself"), "dependencies", "optional"))
	}
	return errs
}

// checkKey refuses metadata keys that claim everything or nothing.
func checkKey(key string) error {
	switch star := strings.IndexByte(key, '*'); {
	case key == "" || key == "*":
		return keypath.At(fmt.Errorf("%q is no key of a single extension", key), "metadata")
	case star >= 0 && star < len(key)-1:
		return keypath.At(fmt.Errorf("%q: a * stands at the end only", clip(key)), "metadata")
	}
	return nil
}

// misfits are the parts of an entry that its kind rules out.
func (e *Entry) misfits() []error {
	var errs []error
	kind := e.kind()
	rule := func(key string, present bool, kinds ...Kind) {
		if present && !slices.Contains(kinds, kind) {
			errs = append(errs, keypath.At(fmt.Errorf("an extension of kind %s has none", kind), key))
		}
	}
	s := &e.Schemas
	objects := !s.Request.IsZero() || len(s.Metadata) > 0 || !s.Message.IsZero() ||
		!s.Artifact.IsZero() || !s.Status.IsZero() || !s.Part.IsZero()
	rule("metadata", len(e.Metadata) > 0, Profile, Method, States)
	rule("defaults", len(e.Defaults) > 0, Profile, Method, States)
	if objects && !slices.Contains([]Kind{Profile, Method, States}, kind) {
		errs = append(errs, keypath.At(fmt.Errorf("all but params: an extension of kind %s has none", kind), "schemas"))
	}
	rule("hooks", len(e.Hooks) > 0, Profile, Method, States)
	rule("methods", len(e.Methods) > 0, Method, States)
	rule("states", e.States != nil, Method, States)
	return errs
}

// kind is the effective kind.
func (e *Entry) kind() Kind {
	if e.Kind == "" {
		return Profile
	}
	return e.Kind
}

// problems are those of states.
func (s *StatesConfig) problems() []error {
	var errs []error
	if s.Key == "" {
		errs = append(errs, keypath.At(errors.New("needed"), "key"))
	}
	if len(s.Initial) == 0 {
		errs = append(errs, keypath.At(errors.New("no task could begin"), "initial"))
	}
	known := s.names()
	if slices.Contains(known, "") {
		errs = append(errs, keypath.At(errors.New("a state without a name"), "transitions"))
	}
	for _, state := range sortedKeys(s.Within) {
		if _, ok := slices.BinarySearch(known, state); !ok {
			errs = append(errs, keypath.At(fmt.Errorf("no task comes to state %q", clip(state)), "within"))
		}
		for i, task := range s.Within[state] {
			if name, ok := taskstate.Parse(task); !ok || name != task {
				errs = append(errs, keypath.At(keypath.Point(fmt.Errorf("%q is no task state of A2A 1.0", clip(task)), state, i), "within"))
			}
		}
	}
	return errs
}

// cycles reports dependencies that lead back to where they began.
func (r Registry) cycles() []error {
	index := make(map[string]int, len(r))
	for i := range r {
		index[r[i].URI] = i
	}
	const (
		unseen = iota
		open
		done
	)
	// A depth-first walk: an entry that is met while it is open leads back to itself.
	state := make([]int, len(r))
	var errs []error
	var visit func(i int, path []string)
	visit = func(i int, path []string) {
		state[i] = open
		path = append(path, r[i].URI)
		for n, dep := range r[i].Dependencies.Required {
			j, ok := index[dep]
			switch {
			case !ok || state[j] == done:
			case state[j] == open:
				round := append(path[slices.Index(path, dep):], dep)
				errs = append(errs, keypath.At(keypath.Point(fmt.Errorf("extensions that need each other: %s", strings.Join(round, ", ")), n),
					i, "dependencies", "required"))
			default:
				visit(j, path)
			}
		}
		state[i] = done
	}
	for i := range r {
		if state[i] == unseen {
			visit(i, nil)
		}
	}
	return errs
}
