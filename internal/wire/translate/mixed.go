package translate

import "github.com/a2a-gateway/a2a-gateway/internal/wire"

// Mixed reports whether a send by one of 0.3's names has a message of 1.0: none of its parts
// says its kind, nor does the message. 0.3 wants all of them to, and its SDKs write them.
func Mixed(c *wire.Call) bool {
	message := lookup(c.Params, "message")
	parts := lookup(message, "parts")
	if lookup(message, "kind") != nil || !isArray(parts) {
		return false
	}
	n := 0
	for part := range elements(parts) {
		if !isObject(part) || lookup(part, "kind", "type", "file") != nil {
			return false
		}
		n++
	}
	return n > 0
}

// Renamed gives the document of a call by one of 0.3's names with 1.0's.
func Renamed(c *wire.Call) []byte {
	doc := c.Body
	w := buffer{out: make([]byte, 0, len(doc)+len(c.Method.Name))}
	w.literal("{")
	for name, value := range members(doc) {
		w.name(string(name))
		if string(unescaped(name)) == "method" {
			w.word(c.Method.Name)
			continue
		}
		w.raw(value)
	}
	w.literal("}")
	return w.out
}
