package policy

import (
	"errors"
	"fmt"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// methods is a set of operations, one bit per row of the method table and per
// method of an extension.
type methods uint64

// otherMethods is the bit that all methods share that the set was not compiled
// with. Only a rule without a methods condition has it.
const (
	otherMethods methods = 1 << 63
	allMethods   methods = 1<<64 - 1
)

// maxExtra is how many methods of extensions there may be: with A2A's own they have
// to fit below otherMethods.
const maxExtra = 50

// operations are the methods that a set was compiled with, A2A's own and those of extensions,
// each with its bit.
type operations map[*wire.Method]methods

// bit is that of a method. All that the set was not compiled with share one.
func (o operations) bit(m *wire.Method) methods {
	if b, ok := o[m]; ok {
		return b
	}
	return otherMethods
}

// number gives every operation its bit and lists it under each name it has
// had. An extension's method must not have a name of another one: a rule for the
// one would be a rule for the other.
func (o operations) number(extra []*wire.Method) (map[string]methods, error) {
	names := map[string]methods{}
	table := wire.Methods()
	for i := range table {
		m, bit := &table[i], methods(1)<<i
		o[m] = bit
		for _, name := range []string{m.Name, m.V03, m.V01} {
			if name != "" {
				names[name] |= bit
			}
		}
	}
	if len(extra) > maxExtra {
		return names, fmt.Errorf("extensions bring %d methods; rules can tell apart %d", len(extra), maxExtra)
	}
	var errs []error
	// Theirs come behind those of A2A, in the order of the registry.
	for i, m := range extra {
		bit := methods(1) << (len(table) + i)
		if names[m.Name] != 0 {
			errs = append(errs, fmt.Errorf("method %q of extension %q: another method has the same name",
				m.Name, m.Extension))
			continue
		}
		o[m], names[m.Name] = bit, bit
	}
	return names, errors.Join(errs...)
}

// sending is the set of the two methods that start work.
func (o operations) sending() methods {
	var set methods
	for m, bit := range o {
		if m.Subject == wire.OfMessage && m.Extension == "" {
			set |= bit
		}
	}
	return set
}

// surelyWide are the methods that are about no skill for certain. Those that
// extensions bring may need one.
func (o operations) surelyWide() methods {
	var set methods
	for m, bit := range o {
		if wide(m) && m.Extension == "" {
			set |= bit
		}
	}
	return set
}

// mayBeWide are the methods that are about no skill unless somebody says one.
func (o operations) mayBeWide() methods {
	var set methods
	for m, bit := range o {
		if wide(m) {
			set |= bit
		}
	}
	return set
}

// messaging are the methods whose calls can have parts: A2A's own bring a message only where
// they start work, and of those of extensions nothing is known.
func (o operations) messaging() methods {
	may := o.sending() | otherMethods
	for m, bit := range o {
		if m.Extension != "" {
			may |= bit
		}
	}
	return may
}

// callable reports whether some method of a set can be called over one of some bindings:
// extensions offer theirs where they say.
func (o operations) callable(set methods, over bindings) bool {
	if set&otherMethods != 0 {
		return true
	}
	for m, bit := range o {
		if set&bit != 0 && over&offered(m) != 0 {
			return true
		}
	}
	return false
}

// own is the bit of one of A2A's own methods, by its 1.0 name; 0 where there is none.
func (o operations) own(name string) methods {
	for m, bit := range o {
		if m.Name == name && m.Extension == "" {
			return bit
		}
	}
	return 0
}
