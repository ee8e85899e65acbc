package guard

// Content is what a document says: that of one message or of many, and of artifacts.
type Content struct {
	Phase Phase
	Who   string // whose call it is, to share services out among callers
	Texts []Text
	Data  []Data
	Parts map[int]int // how many parts each message and artifact has, by the same numbers as Text.Of
}

// Text is one text of a document: that of a part, a string of its data, the name or the URL of a file,
// or a string of metadata.
type Text struct {
	Value string
	Of    int  // which message or artifact it is of
	Part  int  // index of its part there; -1 for metadata of the whole
	Chunk bool // it is a piece of an artifact that streams, which a Window looks at as it grows
	Old   bool // it stands in a task's history, and was said before: nothing is refused for it
}

// Data is the data of one part, as JSON.
type Data struct {
	Value []byte
	Part  int
}
