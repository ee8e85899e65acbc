package telemetry

import (
	"bytes"
	"strconv"
	"strings"
	"time"
)

// maxItems bounds a list in a line; the rest is counted, not shown.
const maxItems = 64

// maxFew bounds a list that others can make long, each entry by being somebody else:
// what is worth reading of it stands first.
const maxFew = 8

// Line is one record being appended: a JSON object, or key=value pairs for a
// terminal. It does not reflect and does not allocate once its buffer has grown.
// Keys are constants of the caller and are not escaped; every string value goes
// through the sanitiser (see Clean). The zero Line is a JSON object without
// members.
type Line struct {
	buf  []byte
	text bool // key=value instead of JSON

	// The last time up to its second, as the times of a line, and of those after it, hardly
	// ever are of different ones.
	second int64
	upTo   [len("2006-01-02T15:04:05.")]byte // all zero: none yet
}

// Reset empties the line and keeps its buffer.
func (l *Line) Reset() { l.buf = l.buf[:0] }

// Bytes returns the members appended so far, each with a comma before it and
// without braces around them. They are valid until the next append.
func (l *Line) Bytes() []byte { return l.buf }

// key begins a member. Keys need no escaping; cleaning them would cost more than what they name.
func (l *Line) key(name string) {
	if l.text {
		l.buf = append(append(append(l.buf, ' '), name...), '=')
		return
	}
	l.buf = append(append(append(l.buf, ',', '"'), name...), '"', ':')
}

// Str appends a string; an empty one is left out.
func (l *Line) Str(key, value string) {
	switch {
	case value == "":
	case !l.text && len(value) <= MaxText && isPlain(value):
		l.member(key, value)
	default:
		l.key(key)
		l.value(value, MaxText)
	}
}

// member appends a plain string to an object. Most of what is in a line comes this way: the
// constants are stored without a call, and the line gets its buffer back once.
func (l *Line) member(key, value string) {
	b := append(l.buf, `,"`...)
	b = append(b, key...)
	b = append(b, `":"`...)
	b = append(b, value...)
	l.buf = append(b, '"')
}

// Cause appends the text of an error, which may be longer than one id.
func (l *Line) Cause(key, value string) {
	if value != "" {
		l.key(key)
		l.value(value, maxCause)
	}
}

// value appends a cleaned text, in quotes unless it is for a terminal and is one word.
func (l *Line) value(s string, limit int) {
	switch {
	case l.text && !strings.ContainsAny(s, " =\"[],"):
		l.buf = appendText(l.buf, s, limit, false)
	case len(s) <= limit && isPlain(s):
		l.buf = append(append(append(l.buf, '"'), s...), '"')
	default:
		l.buf = append(appendText(append(l.buf, '"'), s, limit, true), '"')
	}
}

// maxName is how long names that the gateway gives, or has checked, are at most: a record has to fit into a
// message of Kafka, for one.
const maxName = 64

// name appends such a name; an empty one is left out.
func (l *Line) name(key, value string) {
	if value != "" {
		l.key(key)
		l.value(value, maxName)
	}
}

// Strs appends a list of strings; an empty one is left out.
func (l *Line) Strs(key string, values []string) { l.list(key, values, maxItems) }

// Few appends a list of which the first 8 are shown; an empty one is left out.
func (l *Line) Few(key string, values []string) { l.list(key, values, maxFew) }

// list appends a list. What is not shown is counted in the place of a last entry, in a form that
// no entry can have (see cutMark).
func (l *Line) list(key string, values []string, most int) {
	if len(values) == 0 {
		return
	}
	l.key(key)
	shown := values[:min(len(values), most)]
	open := byte('[')
	for _, v := range shown {
		l.buf = append(l.buf, open)
		l.value(v, MaxText)
		open = ','
	}
	if more := len(values) - len(shown); more > 0 {
		l.buf = append(l.buf, `,"\\`+cutMark...)
		l.buf = strconv.AppendInt(l.buf, int64(more), 10)
		l.buf = append(l.buf, '"')
	}
	l.buf = append(l.buf, ']')
}

// Int appends a number, zero included.
func (l *Line) Int(key string, n int64) {
	l.key(key)
	l.buf = strconv.AppendInt(l.buf, n, 10)
}

// Count appends a number; zero is left out.
func (l *Line) Count(key string, n int64) {
	if n != 0 {
		l.Int(key, n)
	}
}

// Flag appends true; false is left out.
func (l *Line) Flag(key string, on bool) {
	if on {
		l.key(key)
		l.buf = append(l.buf, "true"...)
	}
}

// Millis appends a duration in milliseconds with three decimals.
func (l *Line) Millis(key string, d time.Duration) {
	l.key(key)
	us := max(d.Microseconds(), 0)
	l.buf = strconv.AppendInt(l.buf, us/1000, 10)
	l.buf = appendDigits(append(l.buf, '.'), int(us%1000), 3)
}

// Time appends a point in time: RFC 3339 with nanoseconds, UTC, always nine
// decimals, so that lines sort as text.
func (l *Line) Time(key string, t time.Time) {
	l.key(key)
	if l.text {
		l.appendTime(t)
		return
	}
	l.buf = append(l.buf, '"')
	l.appendTime(t)
	l.buf = append(l.buf, '"')
}

// appendTime appends a time. The part up to the second is kept from the line before.
func (l *Line) appendTime(t time.Time) {
	if second := t.Unix(); second != l.second || l.upTo[0] == 0 {
		l.second = second
		appendSecond(l.upTo[:0], t)
	}
	l.buf = append(appendDigits(append(l.buf, l.upTo[:]...), t.Nanosecond(), 9), 'Z')
}

// appendSecond does by hand what AppendFormat takes five times as long for. Years
// that do not have four digits are not told apart: no clock is that wrong.
func appendSecond(b []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	b = appendDigits(b, year%10_000, 4)
	b = appendDigits(append(b, '-'), int(month), 2)
	b = appendDigits(append(b, '-'), day, 2)
	b = appendDigits(append(b, 'T'), hour, 2)
	b = appendDigits(append(b, ':'), minute, 2)
	b = appendDigits(append(b, ':'), second, 2)
	return append(b, '.')
}

// appendDigits appends the last width digits of n, which is not negative.
func appendDigits(b []byte, n, width int) []byte {
	const zeros = "000000000"
	b = append(b, zeros[:width]...)
	for i := len(b) - 1; n > 0 && width > 0; i, width = i-1, width-1 {
		b[i] = byte('0' + n%10)
		n /= 10
	}
	return b
}

// Object appends an object with the members of another line, which must be JSON.
func (l *Line) Object(key string, members *Line) {
	l.key(key)
	l.buf = append(l.buf, '{')
	if len(members.buf) > 0 {
		l.buf = append(l.buf, members.buf[1:]...)
	}
	l.buf = append(l.buf, '}')
}

// appendTo appends the finished line to dst, with the newline. What comes before
// the first member goes.
func (l *Line) appendTo(dst *bytes.Buffer) {
	if len(l.buf) == 0 {
		return
	}
	if !l.text {
		dst.WriteByte('{')
	}
	dst.Write(l.buf[1:])
	if !l.text {
		dst.WriteByte('}')
	}
	dst.WriteByte('\n')
}
