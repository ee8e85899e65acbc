package ext

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
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
			problems = append(problems, fmt.Errorf("uri: extension %q is listed twice", e.URI))
		}
		seen[e.URI] = true
		errs = append(errs, prefixed(fmt.Sprintf("[%d].", i), problems)...)
	}
	if len(seen) == len(r) {
		errs = append(errs, r.cycles()...)
	}
	return errors.Join(errs...)
}

// prefixed puts where something is before every error of a list.
func prefixed(where string, errs []error) []error {
	var out []error
	for _, err := range errs {
		if err != nil {
			out = append(out, fmt.Errorf("%s%w", where, err))
		}
	}
	return out
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
		errs = append(errs, errors.New(`digest: not "sha256:" and 64 lower-case hex digits`))
	}
	if e.Digest != "" && e.Specification == "" {
		errs = append(errs, errors.New("digest: there is no specification that it could be of"))
	}
	errs = append(errs, e.Dependencies.problems(e.URI)...)
	for i, key := range e.Metadata {
		if slices.Contains(e.Metadata[:i], key) {
			errs = append(errs, fmt.Errorf("metadata: %q is listed twice", clip(key)))
		}
		errs = append(errs, checkKey(key))
	}
	errs = append(errs, e.misfits()...)
	if e.States != nil {
		errs = append(errs, prefixed("states.", e.States.problems())...)
	}
	for i, h := range e.Hooks {
		if err := h.Validate(); err != nil {
			errs = append(errs, fmt.Errorf("hooks[%d]: %w", i, err))
		}
	}
	return errs
}

func checkURI(key, uri string) error {
	if err := CheckURI(uri); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

// end are the problems of what stands about an extension's last days.
func (e *Entry) end() []error {
	var errs []error
	if e.Replacement != "" {
		errs = append(errs, checkURI("replacement", e.Replacement))
		if e.Replacement == e.URI {
			errs = append(errs, errors.New("replacement: the extension itself"))
		}
		if e.Status != Deprecated && e.Status != Blocked {
			errs = append(errs, errors.New("replacement: the extension is neither deprecated nor blocked"))
		}
	}
	if e.Sunset != "" {
		if _, err := time.Parse(time.DateOnly, e.Sunset); err != nil {
			errs = append(errs, fmt.Errorf("sunset: %q is no date such as 2027-03-31", clip(e.Sunset)))
		}
		if e.Status != Deprecated {
			errs = append(errs, errors.New("sunset: the extension is not deprecated"))
		}
	}
	return errs
}

func (d *Dependencies) problems(self string) []error {
	errs := checkURIs("dependencies.required", d.Required)
	errs = append(errs, checkURIs("dependencies.optional", d.Optional)...)
	for _, uri := range d.Required {
		if slices.Contains(d.Optional, uri) {
			errs = append(errs, fmt.Errorf("dependencies: extension %q is both required and optional", uri))
		}
	}
	if slices.Contains(d.Optional, self) {
		errs = append(errs, errors.New("dependencies.optional: the extension itself"))
	}
	return errs
}

// checkKey refuses metadata keys that claim everything or nothing.
func checkKey(key string) error {
	switch star := strings.IndexByte(key, '*'); {
	case key == "" || key == "*":
		return fmt.Errorf("metadata: %q is no key of a single extension", key)
	case star >= 0 && star < len(key)-1:
		return fmt.Errorf("metadata: %q: a * stands at the end only", clip(key))
	}
	return nil
}

// misfits are the parts of an entry that its kind rules out.
func (e *Entry) misfits() []error {
	var errs []error
	rule := func(key string, present bool, kinds ...Kind) {
		kind := e.kind()
		if present && !slices.Contains(kinds, kind) {
			errs = append(errs, fmt.Errorf("%s: an extension of kind %s has none", key, kind))
		}
	}
	s := &e.Schemas
	objects := !s.Request.IsZero() || len(s.Metadata) > 0 || !s.Message.IsZero() ||
		!s.Artifact.IsZero() || !s.Status.IsZero() || !s.Part.IsZero()
	rule("metadata", len(e.Metadata) > 0, Profile, Method, States)
	rule("defaults", len(e.Defaults) > 0, Profile, Method, States)
	rule("schemas: all but params", objects, Profile, Method, States)
	rule("hooks", len(e.Hooks) > 0, Profile, Method, States)
	rule("methods", len(e.Methods) > 0, Method, States)
	rule("states", e.States != nil, Method, States)
	return errs
}

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
		errs = append(errs, errors.New("key: needed"))
	}
	if len(s.Initial) == 0 {
		errs = append(errs, errors.New("initial: no task could begin"))
	}
	known := s.names()
	if slices.Contains(known, "") {
		errs = append(errs, errors.New("transitions: a state without a name"))
	}
	for _, state := range sortedKeys(s.Within) {
		if _, ok := slices.BinarySearch(known, state); !ok {
			errs = append(errs, fmt.Errorf("within: no task comes to state %q", clip(state)))
		}
		for _, task := range s.Within[state] {
			if name, ok := wire.State(task); !ok || name != task {
				errs = append(errs, fmt.Errorf("within: %q is no task state of A2A 1.0", clip(task)))
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
	state := make([]int, len(r))
	var errs []error
	var visit func(i int, path []string)
	visit = func(i int, path []string) {
		state[i] = open
		path = append(path, r[i].URI)
		for _, dep := range r[i].Dependencies.Required {
			j, ok := index[dep]
			switch {
			case !ok || state[j] == done:
			case state[j] == open:
				round := append(path[slices.Index(path, dep):], dep)
				errs = append(errs, fmt.Errorf("[%d].dependencies.required: extensions that need each other: %s",
					i, strings.Join(round, ", ")))
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
