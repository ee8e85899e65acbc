package strict

import "net/http"

// rule is what a client can break.
type rule uint8

const (
	kept rule = iota // none was broken
	lineEnd
	emptyLine
	method
	target
	targetSize
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
	rules // how many there are
)

// about is a rule: its name in logs and metrics, and what a client that broke it is
// answered, where nothing else was. Texts never repeat what was sent.
var about = [rules]struct {
	name   string
	status int
	text   string
}{
	kept:         {"none", http.StatusBadRequest, ""},
	lineEnd:      {"line_end", http.StatusBadRequest, "a line does not end with CR LF"},
	emptyLine:    {"empty_line", http.StatusBadRequest, "there is more than one empty line before a request"},
	method:       {"method", http.StatusBadRequest, "the method is not a token of 32 characters at most, with a space behind it"},
	target:       {"target", http.StatusBadRequest, "the request target holds a character that it must not hold, or no space is behind it"},
	targetSize:   {"target_size", http.StatusRequestURITooLong, "the request target is too long (server.limits.target, server.limits.header)"},
	version:      {"version", http.StatusBadRequest, "the request line does not end with an HTTP version, such as HTTP/1.1"},
	otherVersion: {"other_version", http.StatusHTTPVersionNotSupported, "only HTTP/1 is spoken in this form"},
	foldedLine:   {"folded_line", http.StatusBadRequest, "a field is folded over two lines"},
	fieldName:    {"field_name", http.StatusBadRequest, "a field name is not a token with a colon right behind it"},
	fieldValue:   {"field_value", http.StatusBadRequest, "a field value holds a control character"},
	host:         {"host", http.StatusBadRequest, "there is not exactly one Host field"},
	length:       {"content_length", http.StatusBadRequest, "Content-Length is not one number of ten digits at most"},
	coding: {"transfer_encoding", http.StatusBadRequest,
		"Transfer-Encoding is not chunked, once, so that the end of the body cannot be known"}, // RFC 9112 §6.3
	otherCoding: {"other_encoding", http.StatusNotImplemented, "transfer codings beside chunked are not supported"}, // RFC 9112 §6.1
	bothLengths: {"length_and_encoding", http.StatusBadRequest, "there are both Content-Length and Transfer-Encoding"},
	headSize: {"head_size", http.StatusRequestHeaderFieldsTooLarge,
		"request line and header fields are larger than server.limits.header"},
	chunkSize:      {"chunk_size", http.StatusBadRequest, "the size of a chunk is not a hexadecimal number of eight digits at most"},
	chunkExtension: {"chunk_extension", http.StatusBadRequest, "a chunk has an extension"},
	chunkEnd:       {"chunk_end", http.StatusBadRequest, "a chunk is not as long as it says"},
	trailer:        {"trailer", http.StatusBadRequest, "the trailers are too large, or hold what is about framing"},
}

// String is for logs and metrics.
func (r rule) String() string { return about[r].name }

// error is what readers of the connection are told.
func (r rule) error() error {
	return &Broken{Rule: about[r].name, Status: about[r].status, Text: about[r].text}
}
