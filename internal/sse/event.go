package sse

// Event is one frame, the lines up to a blank line; or, where Comment is set, a line in
// front of one.
type Event struct {
	ID   string // the frame's own id field; "" when absent, empty or holding a NUL (ignored by the standard)
	Name string // the event field; "" means "message"

	// Data is the data fields' values joined by LF. It is a part of the Reader's
	// buffer: valid until the next call of Next.
	Data []byte

	// HasData tells a data field with an empty value from none. A browser
	// dispatches only frames that have one.
	HasData bool

	// Comment is set for a line in front of a frame's first id, event or data field: a
	// comment, a retry or a field nobody knows. It carries nothing but a sign of life.
	Comment bool
}
