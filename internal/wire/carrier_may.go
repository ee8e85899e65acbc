package wire

// mayMark reports whether a name is that of a member that holds Marks, or one that some
// parsers take for it. It is asked about every name of every document.
func mayMark(name []byte) bool {
	const shortest = len("metadata")
	return len(name) >= shortest && (resembles(name, "metadata") || resembles(name, "extensions"))
}

// resembles reports whether fold makes word of name. Mostly the first letter tells.
func resembles(name []byte, word string) bool {
	n := 0
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case 'A' <= c && c <= 'Z':
			c |= 0x20
		case c <= ' ', c == '_', c == '-':
			continue
		case c == "ſ"[0] && i+1 < len(name) && name[i+1] == "ſ"[1]:
			c = 's'
			i++
		}
		if n == len(word) || c != word[n] {
			return false
		}
		n++
	}
	return n == len(word)
}
