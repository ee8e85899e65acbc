package ext

import (
	"fmt"
	"slices"
)

// Lint says what is wrong with the extensions of an agent's card.
func (b *Book) Lint(declared []Declared) []string {
	var warnings []string
	warn := func(uri, format string, args ...any) {
		warnings = append(warnings, fmt.Sprintf("extension %q ", uri)+fmt.Sprintf(format, args...))
	}
	for i := range declared {
		d := &declared[i]
		rec := b.record(d.URI)
		if rec == nil {
			continue
		}
		if rec.Status == Blocked {
			warn(d.URI, "is blocked by the registry")
		}
		if rec.Status == Deprecated {
			warn(d.URI, "is on its way out:%s", rec.farewell())
		}
		if rec.Kind == Data && d.Required {
			warn(d.URI, "is only data, and yet marked as required")
		}
		for _, dep := range rec.Dependencies.Required {
			if !declares(declared, dep) {
				warn(d.URI, "needs %q, which the card does not declare", dep)
			}
		}
		if text := rec.mistaken(d); text != "" {
			warn(d.URI, "has params that break its schema: %s", text)
		}
	}
	return warnings
}

func declares(declared []Declared, uri string) bool {
	for i := range declared {
		if declared[i].URI == uri {
			return true
		}
	}
	return false
}

// mistaken says what is wrong with a card's params, "" for nothing. A card without
// params is one with none of them.
func (rec *record) mistaken(d *Declared) string {
	if rec.compiled == nil || rec.compiled.Params == nil || rec.Validation == Off {
		return ""
	}
	params := d.Params
	if params == nil {
		params = []byte("{}")
	}
	if err := rec.compiled.Params.Check(params); err != nil {
		return err.Error()
	}
	return ""
}

// Warnings says what is odd about the registry, though it works.
func (b *Book) Warnings() []string {
	if b == nil {
		return nil
	}
	var warnings []string
	for _, rec := range b.order {
		for _, text := range b.oddities(rec) {
			warnings = append(warnings, fmt.Sprintf("extension %q %s", rec.URI, text))
		}
	}
	return warnings
}

func (b *Book) oddities(rec *record) []string {
	var odd []string
	say := func(format string, args ...any) { odd = append(odd, fmt.Sprintf(format, args...)) }
	if rec.Status == Deprecated && rec.Replacement == "" {
		say("is deprecated, and nothing is named to use instead")
	}
	if e, ok := b.Entry(rec.Replacement); ok && e.Status == Blocked {
		say("is to be replaced by %q, which is blocked", rec.Replacement)
	}
	if rec.Status == Blocked {
		return odd
	}
	for _, dep := range rec.Dependencies.Required {
		switch e, ok := b.Entry(dep); {
		case !ok:
			say("needs %q, which is not registered", dep)
		case e.Status == Blocked:
			say("needs %q, which is blocked: it is never active", dep)
		}
	}
	if rec.Kind == Method && len(rec.Methods) == 0 {
		say("is of kind method and lists no methods: none will be forwarded")
	}
	if rec.Kind == States && rec.States == nil {
		say("is of kind state and lists no states: none will be followed")
	}
	for _, key := range sortedKeys(rec.Defaults) {
		if !slices.Contains(b.Owners(key), rec.URI) {
			say("has a default for %q, which is no key of its own: callers would see it in answers", key)
		}
		if err := rec.checkDefault(key); err != nil {
			say("has a default for %q that its own schema does not allow: %v", key, err)
		}
	}
	if rec.States != nil {
		if !slices.Contains(b.Owners(rec.States.Key), rec.URI) {
			say("says its states under %q, which is no key of its own", rec.States.Key)
		}
		for _, state := range rec.States.stranded() {
			say("has a state %q that no task comes to", state)
		}
	}
	return odd
}

// checkDefault holds a default against the schema for its key, if there is one. It
// would refuse every call that the default is put into.
func (rec *record) checkDefault(key string) error {
	if rec.compiled == nil || rec.compiled.Metadata[key] == nil {
		return nil
	}
	return rec.compiled.Metadata[key].Check(rec.Defaults[key])
}
