package secret

import (
	"crypto/subtle"
	"fmt"
	"io"
	"log/slog"
)

// redacted is all that anyone but Reveal's caller ever sees.
const redacted = "[redacted]"

// Value is a credential: a password, a token, a private key. It prints as
// "[redacted]", or as "" when empty, in every form the standard library knows,
// so that a configuration can be logged, dumped or marshalled whole.
//
// The text is held behind a pointer on purpose: fmt prints the unexported
// fields of a struct, and the operand of a verb it does not know, without
// asking for methods, and of a pointer to a string it shows the address only.
//
// The zero Value is empty. Values are compared with Equal, not with ==.
type Value struct {
	text *string
}

// New makes a Value of text. New("") is the zero Value.
func New(text string) Value {
	if text == "" {
		return Value{}
	}
	return Value{text: &text}
}

// Reveal returns the text. It is the only way to it; every call is a place to
// look at in review.
func (v Value) Reveal() string {
	if v.text == nil {
		return ""
	}
	return *v.text
}

// IsZero tells whether there is no text. YAML's omitempty asks it as well.
func (v Value) IsZero() bool { return v.text == nil || *v.text == "" }

// Equal compares the texts in time that depends on their lengths only.
func (v Value) Equal(other Value) bool {
	return subtle.ConstantTimeCompare([]byte(v.Reveal()), []byte(other.Reveal())) == 1
}

// String is "[redacted]", or "" when empty.
func (v Value) String() string {
	if v.IsZero() {
		return ""
	}
	return redacted
}

// GoString is what %#v prints.
func (v Value) GoString() string { return fmt.Sprintf("secret.New(%q)", v.String()) }

// Format prints the redacted form for every verb: fmt would otherwise spell a
// verb that String does not serve, such as %d, with the value beside it.
func (v Value) Format(f fmt.State, verb rune) {
	switch {
	case verb == 'v' && f.Flag('#'):
		_, _ = io.WriteString(f, v.GoString())
	case verb == 'q':
		_, _ = fmt.Fprintf(f, "%q", v.String())
	default:
		_, _ = io.WriteString(f, v.String())
	}
}

// LogValue is what slog writes.
func (v Value) LogValue() slog.Value { return slog.StringValue(v.String()) }

// MarshalText is the redacted form; it serves XML, map keys and flags too.
func (v Value) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// MarshalJSON is the redacted form as a JSON string.
func (v Value) MarshalJSON() ([]byte, error) { return []byte(`"` + v.String() + `"`), nil }

// MarshalYAML is the redacted form.
func (v Value) MarshalYAML() (any, error) { return v.String(), nil }
