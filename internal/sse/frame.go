package sse

import "bytes"

// frame collects the fields of the event that is being read. Data of one line,
// which is nearly every event, stays where it is in the Reader's buffer; further
// lines are moved up behind it, over the field names between them.
type frame struct {
	reader *Reader
	id     string
	name   string
	start  int // data is reader.buf[frame+start : frame+end]
	end    int
	size   int  // bytes counted against the limit
	fields bool // an id, event or data line
	data   bool // a data line
}

// add takes one line, which is not empty. It must lie in the reader's buffer.
func (f *frame) add(line []byte) {
	f.size += len(line) + 1
	name, value, _ := bytes.Cut(line, []byte{':'})
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:] // exactly one space belongs to the colon
	}
	switch string(name) {
	case "data":
		f.fields = true
		f.addData(value)
	case "event":
		f.fields = true
		f.setName(value)
	case "id":
		f.fields = true
		if bytes.IndexByte(value, 0) < 0 {
			f.id = f.reader.intern(value)
		}
	}
	// A comment has the empty name. retry is between the agent and its client,
	// which is us; a client of ours is told by us. Anything else is ignored, as
	// the standard wants it.
}

// addData adds the value of a data field; several are lines of one datum (HTML, "event stream
// interpretation").
func (f *frame) addData(value []byte) {
	buf := f.reader.buf[f.reader.frame:]
	if !f.data {
		f.data = true
		// The value's place is the line's end minus its length: the reader's line
		// is already behind the line end.
		f.end = f.reader.line - 1 - f.reader.frame
		f.start = f.end - len(value)
		return
	}
	buf[f.end] = '\n' // the byte behind a data line's value is its line end
	f.end += 1 + copy(buf[f.end+1:], value)
}

// setName makes the name a string, the last one again where it is the same.
func (f *frame) setName(value []byte) {
	if string(value) != f.reader.name {
		f.reader.name = string(value)
	}
	f.name = f.reader.name
}

// event is what the frame has come to at its blank line.
func (f *frame) event() Event {
	e := Event{ID: f.id, Name: f.name, HasData: f.data}
	if f.data {
		e.Data = f.reader.buf[f.reader.frame:][f.start:f.end:f.end]
	}
	return e
}
