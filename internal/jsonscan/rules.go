package jsonscan

// Rules are what a format adds to what holds for all JSON. A format has one value of this
// type, which every Scanner of its documents points to; the functions are asked about names
// only, and keep nothing.
type Rules struct {
	// Mark is shown every name and returns which of up to eight things the names so far
	// stand for; before is what it returned last, 0 at first. A reader that knows that
	// nothing in a document stands for a thing need not look for it a second time. nil
	// marks nothing.
	Mark func(before uint8, name []byte) uint8

	// Content reports whether anything may stand below a member of that name, so that
	// nothing there is held to Identity: in {"data":{"id":"\ud83d"}} the id is somebody
	// else's. nil is for no name.
	Content func(name []byte) bool

	// Identity reports whether strings in a member of that name tell things apart, so that
	// half a surrogate pair in one is a failure: parsers replace it, and two ids would
	// become one. nil is for no name.
	Identity func(name []byte) bool

	// DepthKey and MembersKey are the configuration keys of the two limits, which an
	// Error names.
	DepthKey, MembersKey string
}
