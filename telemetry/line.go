package telemetry

import (
	"bytes"
	"strconv"
	"strings"
	"time"
)

// maxItems bounds a list in a line; the rest is counted, not shown.
const maxItems = 64

// Line is one record being appended: a JSON object, or key=value pairs for a
// terminal. It does not reflect and does not allocate once its buffer has grown.
// Keys are constants of the caller and are not escaped; every string value goes
// through the sanitiser (see Clean). The zero Line is an empty JSON object in
// the making.
type Line struct {
	buf  []byte
	text bool // key=value instead of JSON
}

// Reset empties the line and keeps its buffer.
func (l *Line) Reset() { l.buf = l.buf[:0] }

// Bytes returns the members appended so far, separated but without the braces
// around them. They are valid until the next append.
func (l *Line) Bytes() []byte { return l.buf }

func (l *Line) key(name string) {
	if l.text {
		if len(l.buf) > 0 {
			l.buf = append(l.buf, ' ')
		}
		l.buf = append(append(l.buf, name...), '=')
		return
	}
	if n := len(l.buf); n > 0 && l.buf[n-1] != '{' {
		l.buf = append(l.buf, ',')
	}
	l.buf = append(l.buf, '"')
	l.buf = append(l.buf, name...)
	l.buf = append(l.buf, '"', ':')
}

// Str appends a string; an empty one is left out.
func (l *Line) Str(key, value string) {
	if value != "" {
		l.key(key)
		l.value(value, MaxText)
	}
}

// Cause appends the text of an error, which may be longer than one id.
func (l *Line) Cause(key, value string) {
	if value != "" {
		l.key(key)
		l.value(value, maxCause)
	}
}

func (l *Line) value(s string, limit int) {
	if l.text && !strings.ContainsAny(s, " =\"[],") {
		l.buf = appendText(l.buf, s, limit, false)
		return
	}
	l.buf = append(l.buf, '"')
	l.buf = appendText(l.buf, s, limit, true)
	l.buf = append(l.buf, '"')
}

// Strs appends a list of strings; an empty one is left out.
func (l *Line) Strs(key string, values []string) {
	if len(values) == 0 {
		return
	}
	l.key(key)
	shown := values[:min(len(values), maxItems)]
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
	us := d.Microseconds()
	if us < 0 {
		us = 0
	}
	l.buf = strconv.AppendInt(l.buf, us/1000, 10)
	frac := us % 1000
	l.buf = append(l.buf, '.', byte('0'+frac/100), byte('0'+frac/10%10), byte('0'+frac%10))
}

// Time appends a point in time: RFC 3339 with nanoseconds, UTC, always nine
// decimals, so that lines sort as text.
func (l *Line) Time(key string, t time.Time) {
	l.key(key)
	quote := !l.text
	if quote {
		l.buf = append(l.buf, '"')
	}
	l.buf = t.UTC().AppendFormat(l.buf, "2006-01-02T15:04:05.000000000Z")
	if quote {
		l.buf = append(l.buf, '"')
	}
}

// Open begins an object inside the line, in JSON only; Shut ends it.
func (l *Line) Open(key string) {
	l.key(key)
	l.buf = append(l.buf, '{')
}

// Shut ends the object that Open began.
func (l *Line) Shut() { l.buf = append(l.buf, '}') }

// appendTo appends the finished line to dst, with the newline.
func (l *Line) appendTo(dst *bytes.Buffer) {
	if !l.text {
		dst.WriteByte('{')
	}
	dst.Write(l.buf)
	if !l.text {
		dst.WriteByte('}')
	}
	dst.WriteByte('\n')
}
