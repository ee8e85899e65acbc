package translate

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// buffer is JSON text that is being written from its beginning to its end: members and elements,
// with the commas between them. It knows nothing of A2A, and does not look at what is put into it.
type buffer struct{ out []byte }

// name begins a member. A value never ends in an opening brace, so the last byte
// tells whether it is the first of its object.
func (b *buffer) name(s string) {
	b.comma()
	b.out = append(b.out, '"')
	b.out = append(b.out, s...)
	b.out = append(b.out, '"', ':')
}

// comma writes the comma before a member or element that is not the first.
func (b *buffer) comma() {
	if c := b.out[len(b.out)-1]; c != '{' && c != '[' {
		b.out = append(b.out, ',')
	}
}

// raw writes JSON as it stands: a value of the source.
func (b *buffer) raw(text []byte) { b.out = append(b.out, text...) }

// literal writes JSON that stands in this program.
func (b *buffer) literal(s string) { b.out = append(b.out, s...) }

// text writes a string, which is valid UTF-8 as all that package wire reads.
func (b *buffer) text(s string) {
	b.out, _ = jsontext.AppendQuote(b.out, s)
}

// word writes a string that needs no escapes.
func (b *buffer) word(s string) {
	b.out = append(b.out, '"')
	b.out = append(b.out, s...)
	b.out = append(b.out, '"')
}

// number writes an integer.
func (b *buffer) number(n int) { b.out = strconv.AppendInt(b.out, int64(n), 10) }

// verbatim writes a member as it stands, if there is one.
func (b *buffer) verbatim(name string, raw []byte) {
	if raw != nil {
		b.name(name)
		b.raw(raw)
	}
}

// string writes a member that is left out when it is empty.
func (b *buffer) string(name, value string) {
	if value != "" {
		b.name(name)
		b.text(value)
	}
}

// base64 writes a file's bytes in the alphabet that every version reads, with the
// padding that goes with it. Most are in it already, and are copied.
//
// ProtoJSON readers take both alphabets (ProtoJSON, "bytes"), pydantic and JavaScript's atob only the
// one of RFC 4648 §4:
//
//	"_-8"   "/+8="
func (b *buffer) base64(raw []byte) {
	if bytes.IndexByte(raw, '-') < 0 && bytes.IndexByte(raw, '_') < 0 {
		b.raw(raw)
		return
	}
	b.literal(`"`)
	body := inside(raw)
	for _, c := range body {
		switch c {
		case '-':
			c = '+'
		case '_':
			c = '/'
		}
		b.out = append(b.out, c)
	}
	for n := len(body); n%4 != 0; n++ {
		b.literal("=")
	}
	b.literal(`"`)
}
