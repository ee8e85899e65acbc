// Package ssetest reads Server-Sent Events as the least forgiving clients of agents do, so
// that tests notice what one of them would take for an event.
//
// A browser dispatches an event at a blank line if there is data. Other parsers ask for
// less: for httpx-sse, which is in the Python SDKs, it is enough that there has ever been
// an id, or that the frame has a name or a retry. Its events without data then reach code
// that expects a JSON document.
package ssetest

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Event is what such a parser hands to its client.
type Event struct {
	Name, ID, Data string
	Retry          int // milliseconds; -1 for none
}

// IsDocument reports whether an event has a JSON document, as those of A2A all have.
func (e Event) IsDocument() bool {
	return jsontext.Value(e.Data).IsValid(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
}

// Parser reads a stream that is written to it. The zero value is at the start of one.
type Parser struct {
	// Got is called with every event; it may be nil.
	Got func(Event)

	part  []byte // of a line that has not ended
	cr    bool   // the last byte was a CR, whose LF may follow
	name  string
	id    string // of the newest event that has one: it stays
	data  []string
	retry string
}

// Write implements io.Writer. It does not fail.
func (p *Parser) Write(text []byte) (int, error) {
	rest := text
	if p.cr && len(rest) > 0 && rest[0] == '\n' { // the second half of a line's end
		rest = rest[1:]
	}
	for len(rest) > 0 {
		end := bytes.IndexAny(rest, "\r\n")
		if end < 0 {
			p.part = append(p.part, rest...)
			break
		}
		line := string(append(p.part, rest[:end]...))
		p.part = p.part[:0]
		if rest[end] == '\r' && end+1 < len(rest) && rest[end+1] == '\n' {
			end++
		}
		rest = rest[end+1:]
		p.line(line)
	}
	if len(text) > 0 {
		p.cr = text[len(text)-1] == '\r'
	}
	return len(text), nil
}

func (p *Parser) line(line string) {
	if line == "" {
		p.dispatch()
		return
	}
	field, value, _ := strings.Cut(line, ":")
	value = strings.TrimPrefix(value, " ")
	switch field {
	case "event":
		p.name = value
	case "id":
		if !strings.Contains(value, "\x00") {
			p.id = value
		}
	case "data":
		p.data = append(p.data, value)
	case "retry":
		if _, err := strconv.Atoi(value); err == nil {
			p.retry = value
		}
	}
}

// dispatch makes an event of the lines so far, where anything at all speaks for one.
func (p *Parser) dispatch() {
	if p.name == "" && p.id == "" && p.retry == "" && p.data == nil {
		return
	}
	e := Event{Name: p.name, ID: p.id, Data: strings.Join(p.data, "\n"), Retry: -1}
	if p.retry != "" {
		e.Retry, _ = strconv.Atoi(p.retry) // it was one
	}
	p.name, p.data, p.retry = "", nil, ""
	if p.Got != nil {
		p.Got(e)
	}
}

// Read gives the events of a stream that is there as a whole.
func Read(stream string) []Event {
	var all []Event
	p := Parser{Got: func(e Event) { all = append(all, e) }}
	_, _ = p.Write([]byte(stream)) // it does not fail
	return all
}
