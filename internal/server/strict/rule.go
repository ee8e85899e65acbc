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
