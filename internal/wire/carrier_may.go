package wire

import "github.com/a2a-gateway/a2a-gateway/internal/jsonscan"

// mayMark reports whether a name is that of a member that holds Marks, or one that some
// parsers take for it. It is asked about every name of every document.
func mayMark(name []byte) bool {
	const shortest = len("metadata")
	return len(name) >= shortest && (jsonscan.Resembles(name, "metadata") || jsonscan.Resembles(name, "extensions"))
}
