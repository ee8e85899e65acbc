package guard

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/ext/hook"
	"github.com/a2a-gateway/a2a-gateway/internal/detect"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/spelling"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/guard/service"
)

// Options are what a configuration does not say.
type Options struct {
	Agents  []string       // ids of the configured agents
	Methods []*wire.Method // that extensions bring
	Egress  *tunnel.Proxy  // the way to services; nil is direct
	Log     *slog.Logger   // nil for none
	// Asked is told how each question to a service ended (clean, found, error, cached) and how long it
	// took; nil for none.
	Asked func(guard, result string, took time.Duration)
	Hold  Hold // of streams; zero is the default
	// Files says that files of services are read; without it nothing of a service is opened.
	Files bool
}

// Set is a Config made ready. It is safe for concurrent use; a nil one has no guards.
type Set struct {
	each []*guard
	hold Hold
}

// guard is a Guard, compiled.
type guard struct {
	name   string
	use    use
	on     []Phase
	action string
	shadow bool
	when   *policy.Conditions
	finder finder
}

// New compiles a Config and makes ready to ask services; it connects to nobody. All errors are reported
// at once, each with the path of its key.
func New(c Config, o Options) (*Set, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Asked == nil {
		o.Asked = func(string, string, time.Duration) {}
	}
	s := &Set{hold: o.Hold.orDefault()}
	var errs []error
	taken := map[string]bool{}
	for i := range c {
		g, wrong := c[i].compile(&o, taken)
		s.each = append(s.each, g)
		for _, err := range wrong {
			errs = append(errs, keypath.At(err, "policy", "guards", i))
		}
	}
	if err := errors.Join(errs...); err != nil {
		s.each = slices.DeleteFunc(s.each, func(g *guard) bool { return g == nil })
		s.Close()
		return nil, err
	}
	if len(c) == 0 {
		return nil, nil //nolint:nilnil // no guards, no set
	}
	return s, nil
}

// compile makes a guard ready, and says what is wrong with it by the paths of its keys.
func (g *Guard) compile(o *Options, taken map[string]bool) (*guard, []error) {
	errs := append(g.checkName(taken), g.checkWords()...)
	taken[g.Name] = true
	when, err := policy.NewConditions(g.rule(g.Name), o.Agents, o.Methods...)
	errs = append(errs, err)
	if err == nil {
		if text := when.Never(); text != "" {
			errs = append(errs, errors.New(strings.ReplaceAll(text, "the rule", "the guard")))
		}
	}
	u, known := useOf(g.Use)
	if !known {
		return nil, append(errs, keypath.At(fmt.Errorf("%q is no use of guards%s", g.Use, spelling.Hint(g.Use, useNames())), "use"))
	}
	errs = append(errs, g.checkKeys(u)...)
	made := &guard{name: g.Name, use: u, on: g.On, action: g.Action, shadow: g.Mode == modeShadow, when: when}
	if made.on == nil {
		made.on = []Phase{Request, Answer, Event}
	}
	if made.action == "" {
		made.action = refuse
	}
	if u.whole && made.action == redact {
		errs = append(errs, keypath.At(fmt.Errorf("what %s finds has no place that could be redacted; report or refuse it", u.name), "action"))
	}
	own := *o
	own.Log = o.Log.With("guard", g.Name)
	var wrong []error
	made.finder, wrong = u.make(g, &own)
	errs = slices.DeleteFunc(append(errs, wrong...), func(err error) bool { return err == nil })
	return made, errs
}

// useNames are the words of Guard.Use.
func useNames() (names []string) {
	for _, u := range uses() {
		names = append(names, u.name)
	}
	return names
}

// checkName reports what is wrong with a name, which becomes a label of metrics.
func (g *Guard) checkName(taken map[string]bool) []error {
	other := func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune("-_.", r)
	}
	var err error
	switch {
	case g.Name == "":
		err = errors.New("missing; say what records shall call it")
	case taken[g.Name]:
		err = fmt.Errorf("another guard is called %q too", g.Name)
	case len(g.Name) > nameLength:
		err = fmt.Errorf("longer than %d bytes", nameLength)
	case strings.ContainsFunc(g.Name, other):
		err = fmt.Errorf("%q has characters other than letters, digits and - _ . in it", g.Name)
	default:
		return nil
	}
	return []error{keypath.At(err, "name")}
}

// checkWords reports words that the keys do not have.
func (g *Guard) checkWords() (errs []error) {
	if g.On != nil && len(g.On) == 0 {
		errs = append(errs, keypath.At(errors.New("the list is empty, so the guard looks at nothing; leave it out for all"), "on"))
	}
	for i, p := range g.On {
		if p != Request && p != Answer && p != Event {
			errs = append(errs, keypath.At(keypath.Point(fmt.Errorf("%q is not request, answer or event", p), i), "on"))
		}
	}
	if !slices.Contains([]string{"", report, redact, refuse}, g.Action) {
		errs = append(errs, keypath.At(fmt.Errorf("%q is not report, redact or refuse", g.Action), "action"))
	}
	if !slices.Contains([]string{"", modeEnforce, modeShadow}, g.Mode) {
		errs = append(errs, keypath.At(fmt.Errorf("%q is neither %q nor %q", g.Mode, modeEnforce, modeShadow), "mode"))
	}
	return errs
}

// checkKeys reports keys that configure another use.
func (g *Guard) checkKeys(u use) (errs []error) {
	for _, k := range []struct {
		key  string
		said bool
	}{
		{"kinds", g.Kinds != nil},
		{"links", g.Links.Allow != nil || g.Links.Deny != nil},
		{"size", g.Size != Size{}},
		{"schema", !g.Schema.IsZero()},
		{"service", !g.Service.IsZero()},
	} {
		if k.said && k.key != u.key {
			errs = append(errs, keypath.At(fmt.Errorf("%s is not for use %s", k.key, u.name), k.key))
		}
	}
	return errs
}

// Close ends the connections to services.
func (s *Set) Close() {
	if s == nil {
		return
	}
	for _, g := range s.each {
		if c, ok := g.finder.(interface{ close() }); ok {
			c.close()
		}
	}
}

// Reads reports whether the conditions of a guard that is about an agent look at the message of a call.
func (s *Set) Reads(agent string) bool {
	return s != nil && slices.ContainsFunc(s.each, func(g *guard) bool { return g.when.About(agent) && g.when.Reads() })
}

// About reports whether any guard is about an agent.
func (s *Set) About(agent string) bool {
	return s != nil && slices.ContainsFunc(s.each, func(g *guard) bool { return g.when.About(agent) })
}

// Names are those of all guards, in the order of the configuration.
func (s *Set) Names() (names []string) {
	if s == nil {
		return nil
	}
	for _, g := range s.each {
		names = append(names, g.name)
	}
	return names
}

// Asking are the names of those that ask a service.
func (s *Set) Asking() (names []string) {
	if s == nil {
		return nil
	}
	for _, g := range s.each {
		if _, asks := g.finder.(serviceFinder); asks {
			names = append(names, g.name)
		}
	}
	return names
}

// For selects the guards that look at a call, in the order of the configuration.
func (s *Set) For(q policy.Request) Selection {
	return s.selection(func(g *guard) bool { return g.when.Failed(q) == "" })
}

// Of selects those that are about an agent, whoever calls: for notifications, which come without a call.
func (s *Set) Of(agent string) Selection {
	return s.selection(func(g *guard) bool { return g.when.About(agent) })
}

func (s *Set) selection(is func(*guard) bool) (sel Selection) {
	if s == nil {
		return nil
	}
	for _, g := range s.each {
		if is(g) {
			sel = append(sel, g)
		}
	}
	return sel
}

// serviceFinder is the finder of uses that ask a service.
type serviceFinder struct{ *service.Service }

// makeService makes guards that ask a service.
func makeService(use string) func(*Guard, *Options) (finder, []error) {
	return func(g *Guard, o *Options) (finder, []error) {
		c := g.Service
		if err := c.Validate(use); err != nil {
			return nil, []error{keypath.At(err, "service")}
		}
		if !o.Files {
			c.TLS, c.TokenFile = service.TLS{}, ""
		}
		name, asked := g.Name, o.Asked
		s, err := service.New(use, c, service.Options{
			Guard: name, Egress: o.Egress, Log: o.Log, Asked: func(result string, took time.Duration) { asked(name, result, took) },
		})
		if err != nil {
			return nil, []error{keypath.At(err, "service")}
		}
		return serviceFinder{s}, nil
	}
}

func (s serviceFinder) close() { s.Close() }

func (s serviceFinder) find(ctx context.Context, c *Content) (list []place, _ error) {
	q := service.Question{Who: c.Who, Phase: phaseOf(c.Phase), Texts: make([]string, len(c.Texts)), Parts: make([]int, len(c.Texts))}
	for i := range c.Texts {
		t := &c.Texts[i]
		q.Texts[i] = t.Value
		// What is said anew does not go with what was said before, of which less comes.
		if i > 0 {
			last := &c.Texts[i-1]
			q.Parts[i] = q.Parts[i-1]
			if t.Of != last.Of || t.Part != last.Part || t.Old != last.Old {
				q.Parts[i]++
			}
		}
	}
	found, err := s.Find(ctx, q)
	for _, f := range found {
		list = append(list, inText(detect.Finding{Begin: f.Begin, End: f.End, Kind: f.Kind}, c, f.Text))
	}
	return list, err
}

// phaseOf is the word that hooks have for a phase.
func phaseOf(p Phase) hook.Phase {
	if p == Answer {
		return hook.Response
	}
	return hook.Phase(p)
}
