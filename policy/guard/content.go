package guard

import "github.com/a2a-gateway/a2a-gateway/internal/detect"

// Content is what a document says: that of one message or of many, and of artifacts.
type Content struct {
	Phase Phase
	Who   string // whose call it is, to share services out among callers
	Texts []Text
	Data  []Data
	Parts []Parts
}

// Parts is how many parts a message or artifact has.
type Parts struct {
	Of, Count int
	Old       bool // as of a Text
}

// Text is one text of a document: that of a part, a string of its data, the name or the URL of a file,
// or a string of metadata.
type Text struct {
	Value  string
	traits detect.Traits
	read   bool // so that traits are those of Value

	Of    int  // which message or artifact it is of
	Part  int  // index of its part there; -1 for metadata of the whole
	Name  bool // it is the name of a member of data or metadata, such as the URI of an extension
	Chunk bool // it is a piece of an artifact that streams, which a Window looks at as it grows
	Old   bool // it stands in a task's history, and was said before: nothing is refused for it
}

// traitsOf reads a text once for all guards.
func (t *Text) traitsOf() detect.Traits {
	if !t.read {
		t.traits, t.read = detect.Read(t.Value), true
	}
	return t.traits
}

// Data is the data of one part, as JSON.
type Data struct {
	Value []byte
	Of    int // which message or artifact it is of
	Part  int
	Old   bool // as of a Text
}
