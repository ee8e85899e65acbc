package strict

// rule is what a client can break.
type rule uint8

const (
	kept rule = iota // none was broken
	lineEnd
	emptyLine
	method
	target
	version
	otherVersion
	foldedLine
	fieldName
	fieldValue
	host
	length
	coding
	otherCoding
	bothLengths
	headSize
	chunkSize
	chunkExtension
	chunkEnd
	trailer
)

// String is for logs and metrics.
func (r rule) String() string {
	return [...]string{
		"none", "line_end", "empty_line", "method", "target", "version", "other_version", "folded_line",
		"field_name", "field_value", "host", "content_length", "transfer_encoding", "other_encoding",
		"length_and_encoding", "head_size", "chunk_size", "chunk_extension", "chunk_end", "trailer",
	}[r]
}

// last is what net/http reads in the place of the byte that broke the rule, and answers
// 400 unless something else is said here. NUL is valid nowhere but in a body's data: not
// in a method, a target, a version, a name or a value, not as a chunk's size, not as its
// end. The line ends are for net/http not to wait for more.
func (r rule) last() string {
	switch r {
	case otherVersion: // after "HTTP/", and is answered 505
		return "3.0\r\nHost: refused\r\n\r\n"
	case otherCoding: // after "Transfer-Encoding: " and a part of a name, and is answered 501
		return "?\r\n\r\n"
	case headSize: // for as long as net/http reads a head, and is answered 431
		return "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	}
	return "\x00\r\n\r\n"
}
