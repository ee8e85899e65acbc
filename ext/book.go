package ext

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/ext/hook"
	"github.com/a2a-gateway/a2a-gateway/ext/schema"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Book is a Registry made ready to be asked. It is immutable; a nil Book is that of
// an empty registry.
// skills says which skill a method needs, owners whose a metadata key is, and extra are the
// methods of all extensions for package wire.
type Book struct {
	entries map[string]*record
	order   []*record // as configured
	owners  owners
	extra   *wire.Extra
	skills  map[string]string // of methods, by name
}

// record is an entry with what was made of it.
type record struct {
	Entry
	needs    []string  // dependencies, and theirs, nearest first
	ends     time.Time // when it is blocked; zero for never
	compiled *Compiled
	machine  *Machine
	hooks    []*hook.Hook
}

// Compile makes a Book: schemas compiled, methods and dependencies checked against
// each other. The error names every entry that is wrong, as Validate does.
func (r Registry) Compile() (*Book, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	b := &Book{entries: make(map[string]*record, len(r)), owners: ownersOf(r)}
	var errs []error
	for i := range r {
		rec, problems := compile(&r[i])
		b.entries[rec.URI] = rec
		b.order = append(b.order, rec)
		errs = append(errs, keypath.At(errors.Join(problems...), i))
	}
	for _, rec := range b.order {
		rec.needs = b.closure(nil, rec)
	}
	errs = append(errs, b.bringMethods()...)
	if err := errors.Join(errs...); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// compile makes ready what an entry needs while calls run. The record is there also with errors,
// so that the rest of the registry can be checked against it.
func compile(e *Entry) (*record, []error) {
	rec := &record{Entry: *e}
	var errs []error
	rec.compiled, errs = e.Schemas.compile()
	if e.Sunset != "" {
		last, err := time.Parse(time.DateOnly, e.Sunset)
		errs = append(errs, err)
		// The sunset is the last day on which the extension works: it ends with the day after.
		rec.ends = last.AddDate(0, 0, 1)
	}
	if e.States != nil {
		rec.machine = newMachine(e.States)
	}
	for i, c := range e.Hooks {
		h, err := hook.New(c)
		if err != nil {
			errs = append(errs, keypath.At(err, "hooks", i))
			continue
		}
		rec.hooks = append(rec.hooks, h)
	}
	return rec, errs
}

// closure appends what an extension depends on, directly or not. Validate has seen to
// it that this ends.
func (b *Book) closure(needs []string, rec *record) []string {
	for _, uri := range rec.Dependencies.Required {
		if slices.Contains(needs, uri) {
			continue
		}
		needs = append(needs, uri)
		if dep, ok := b.entries[uri]; ok {
			needs = b.closure(needs, dep)
		}
	}
	return needs
}

// Through has the services of hooks reached by a way out, before the first call.
func (b *Book) Through(egress *tunnel.Proxy) {
	for _, rec := range b.order {
		for _, h := range rec.hooks {
			h.Through(egress)
		}
	}
}

// Close ends what the book holds open.
func (b *Book) Close() {
	if b == nil {
		return
	}
	for _, rec := range b.order {
		for _, h := range rec.hooks {
			h.Close()
		}
	}
}

// record finds an entry; nil where there is none, or no registry.
func (b *Book) record(uri string) *record {
	if b == nil {
		return nil
	}
	return b.entries[uri]
}

// Entry finds an extension. Callers must not change it.
func (b *Book) Entry(uri string) (*Entry, bool) {
	if rec := b.record(uri); rec != nil {
		return &rec.Entry, true
	}
	return nil, false
}

// Owner says whose a metadata key is: the URI of a registered extension, or "". Of
// several it is the first.
func (b *Book) Owner(key string) string {
	if uris := b.Owners(key); len(uris) > 0 {
		return uris[0]
	}
	return ""
}

// Owners are all whose a metadata key is: versions of one extension, for instance,
// that have kept their keys. Callers must not change them.
func (b *Book) Owners(key string) []string {
	if b == nil {
		return nil
	}
	return b.owners.of(key)
}

// Hooks are the services that see calls with an extension.
func (b *Book) Hooks(uri string) []*hook.Hook {
	if rec := b.record(uri); rec != nil {
		return rec.hooks
	}
	return nil
}

// Machine is an extension's, nil for none.
func (b *Book) Machine(uri string) *Machine {
	if rec := b.record(uri); rec != nil {
		return rec.machine
	}
	return nil
}

// Check reports what an agent's configuration asks for and the registry blocks: one of
// the two lines is a mistake, and guessing which would be worse. What a sunset blocks
// is no error, so that no day comes on which the gateway does not start.
func (b *Book) Check(c *Config) error {
	var errs []error
	for _, list := range []struct {
		key  string
		uris []string
	}{{"require", c.Require}, {"allow", c.Allow}, {"inject", c.Inject}, {"provide", c.Provide}} {
		for i, uri := range list.uris {
			if e, ok := b.Entry(uri); ok && e.Status == Blocked {
				errs = append(errs, keypath.At(keypath.Point(fmt.Errorf("extension %q is blocked by the registry", uri), i), list.key))
			}
		}
	}
	return errors.Join(errs...)
}

// blocked reports whether the registry forbids an extension.
func (b *Book) blocked(uri string, now time.Time) bool {
	rec := b.record(uri)
	return rec != nil && (rec.Status == Blocked || !rec.ends.IsZero() && !now.Before(rec.ends))
}

// needs are the extensions that one builds on, directly or not.
func (b *Book) needs(uri string) []string {
	if rec := b.record(uri); rec != nil {
		return rec.needs
	}
	return nil
}

// Compiled are an entry's Schemas; each may be nil.
// They are made once and hold what they have seen before (schema.Schema).
type Compiled struct {
	Params, Request, Message, Artifact, Status, Part *schema.Schema

	Metadata map[string]*schema.Schema
}

// Schemas are an extension's schemas, nil for none.
func (b *Book) Schemas(uri string) *Compiled {
	if rec := b.record(uri); rec != nil {
		return rec.compiled
	}
	return nil
}

// compile returns nil where there is no schema at all.
func (s *Schemas) compile() (*Compiled, []error) {
	var (
		c    Compiled
		errs []error
		any  bool
	)
	// put says at which key an error is.
	one := func(src schema.Source, put func(error) error) *schema.Schema {
		if src.IsZero() {
			return nil
		}
		any = true
		compiled, err := schema.Compile(src)
		if err != nil {
			errs = append(errs, put(err))
		}
		return compiled
	}
	under := func(key string) func(error) error {
		return func(err error) error { return keypath.At(err, "schemas", key) }
	}
	c.Params = one(s.Params, under("params"))
	c.Request = one(s.Request, under("request"))
	c.Message = one(s.Message, under("message"))
	c.Artifact = one(s.Artifact, under("artifact"))
	c.Status = one(s.Status, under("status"))
	c.Part = one(s.Part, under("part"))
	for _, key := range sortedKeys(s.Metadata) {
		if compiled := one(s.Metadata[key], func(err error) error {
			return keypath.At(fmt.Errorf("%q: %w", clip(key), err), "schemas", "metadata")
		}); compiled != nil {
			if c.Metadata == nil {
				c.Metadata = make(map[string]*schema.Schema, len(s.Metadata))
			}
			c.Metadata[key] = compiled
		}
	}
	if !any {
		return nil, errs
	}
	return &c, errs
}
