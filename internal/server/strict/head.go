package strict

// start begins a request. One empty line before it is ignored, as RFC 9112 §2.2 asks
// for, and does not pass.
func (r *reader) start(c byte) (int, rule) {
	switch {
	// Some old clients send one behind a body.
	case c == '\r' && !r.empty:
		r.empty, r.state = true, inEmptyLine
	case c == '\r', c == '\n':
		return 0, emptyLine
	default:
		*r = reader{state: inMethod, limit: r.limit}
	}
	return 0, kept
}

// longestMethod bounds a method: the longest that is registered has 17 letters, and what
// is longer is none that anybody serves (RFC 9110 §16.1.1, RFC 9112 §3).
const longestMethod = 32

// method is a token. Which ones there are is for others to say.
func (r *reader) method(p []byte) (int, rule) {
	// One byte more than may be, to see that the space does not come in time.
	n, broken := r.word(p[:min(len(p), longestMethod+1-r.prefix)], ofToken, inTarget, method)
	if r.prefix > longestMethod {
		return n - 1, method
	}
	return n, broken
}

// target has the characters that need no encoding somewhere in a URI, and others that
// are refused by who reads URIs; no fragment, which is nobody's business but a client's.
func (r *reader) target(p []byte) (int, rule) {
	return r.word(p, ofTarget, inVersion, target)
}

// word passes characters of a class, one at least, and the single space after them.
func (r *reader) word(p []byte, of class, next state, otherwise rule) (int, rule) {
	// prefix counts what has come of the word, which may be in several pieces.
	n := span(p, of)
	r.prefix += n
	switch {
	case n == len(p):
		return n, kept
	case p[n] != ' ' || r.prefix == 0:
		return n, otherwise
	}
	r.state, r.prefix = next, 0
	return n + 1, kept
}

// A version is a name and two digits with a dot between them (RFC 9112 §2.3).
const (
	versionName = "HTTP/"
	atMajor     = len(versionName)
	atMinor     = atMajor + len("1.")
)

// version takes HTTP/1.1, HTTP/1.0, which proxies and probes still speak, and the minor
// versions that nobody has defined, which are served as 1.1 (RFC 9110 §2.5). What has the
// form of a version and another major one is refused as that.
func (r *reader) version(p []byte) (int, rule) {
	for i, c := range p {
		digit := c >= '0' && c <= '9'
		switch at := r.prefix; {
		case at < atMajor && c == versionName[at]:
		case at == atMajor && digit:
			r.foreign = c != '1'
		case at == atMajor+1 && c == '.':
		// 1.2 to 1.9 do not exist, and whoever sends them means 1.1.
		case at == atMinor && digit:
			r.old = c == '0'
		case at == atMinor+1 && c == '\r' && r.foreign:
			return i, otherVersion
		case at == atMinor+1 && c == '\r':
			r.state = inRequestLineEnd
			return i + 1, kept
		default:
			return i, version
		}
		r.prefix++
	}
	return len(p), kept
}

// field begins a field, or ends the head.
func (r *reader) field(p []byte) (int, rule) {
	switch p[0] {
	case '\r':
		r.state = inHeadEnd
		return 1, kept
	case '\n':
		return 0, lineEnd
	// obs-fold (RFC 9112 §5.2): a line that continues the one before to some and is a field to others.
	case ' ', '\t':
		return 0, foldedLine
	}
	r.state, r.named = inName, 0
	return 0, kept
}

// fieldName is a token with a colon right behind it. Names come in one piece nearly
// always; of others the beginning is kept.
func (r *reader) fieldName(p []byte) (int, rule) {
	n := span(p, ofToken)
	name := p[:n]
	if n == len(p) || r.named > 0 {
		r.remember(name)
		name = r.name[:min(r.named, longestName)]
	}
	switch {
	case n == len(p):
		return n, kept
	case p[n] != ':' || len(name) == 0:
		return n, fieldName
	case r.named > longestName:
		name = nil // none that is looked for
	}
	r.state, r.prefix = inValue, 0
	if broken := r.meaning(name); broken != kept {
		return n, broken
	}
	return n + 1, kept
}

// remember keeps the beginning of a name that comes in pieces, as far as it is looked at.
func (r *reader) remember(name []byte) {
	copy(r.name[min(r.named, longestName):], name)
	r.named += len(name)
}

const longestName = len("transfer-encoding")

// meaning is what a field's name says about framing. Of these fields there is one; and
// none is in trailers, where they would be about a body that has been read.
func (r *reader) meaning(name []byte) rule {
	switch {
	case same(name, "host"):
		if r.hosts++; r.hosts > 1 {
			return host
		}
	case same(name, "content-length"):
		// Two lengths, even the same: parsers differ in which they take (RFC 9112 §6.3).
		if r.sized {
			return length
		}
		r.sized, r.state, r.left = true, inLength, 0
	case same(name, "transfer-encoding"):
		if r.chunked || r.old { // HTTP/1.0 has no codings (RFC 9112 §6.1)
			return coding
		}
		r.chunked, r.state = true, inCoding
	default:
		return kept
	}
	switch {
	case r.trailers:
		return trailer
	// The classic of request smuggling: CL.TE and TE.CL (RFC 9112 §6.1).
	case r.sized && r.chunked:
		return bothLengths
	}
	return kept
}

// value has no control characters but tabs.
func (r *reader) value(p []byte) (int, rule) {
	n := span(p, ofValue)
	switch {
	case n == len(p):
		return n, kept
	case p[n] == '\n':
		return n, lineEnd
	case p[n] != '\r':
		return n, fieldValue
	}
	r.state = inFieldEnd
	return n + 1, kept
}

// headEnd settles how the body is framed.
func (r *reader) headEnd(c byte) (int, rule) {
	switch {
	case c != '\n':
		return 0, lineEnd
	case r.trailers:
		r.trailers, r.state = false, atStart
	// RFC 9112 §3.2.
	case r.hosts != 1:
		return 0, host
	case r.chunked:
		r.state = atChunk
	case r.sized && r.left > 0:
		r.state = inBody
	default:
		r.state = atStart
	}
	return 1, kept
}
