package strict

import (
	"strconv"
	"strings"
	"testing"
)

// reference counts the requests that are complete and break no rule, up to the first
// that is not, in the plainest way there is, with all of the bytes at hand. It shares
// nothing with reader, so that the two do not err alike.
func reference(data string) (complete int) {
	for {
		data = strings.TrimPrefix(data, "\r\n")
		whole, rest, ok := strings.Cut(data, "\r\n\r\n")
		if !ok || len(whole)+4 > head {
			return complete
		}
		line, fields, _ := strings.Cut(whole, "\r\n")
		if !isRequestLine(line) {
			return complete
		}
		body, ok := bodyOf(strings.HasSuffix(line, "HTTP/1.0"), fields)
		if !ok {
			return complete
		}
		if body < 0 {
			body = chunkedLength(rest)
		}
		if body < 0 || body > len(rest) {
			return complete
		}
		data = rest[body:]
		complete++
	}
}

const (
	alphanumerics = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	tokens        = alphanumerics + "!#$%&'*+-.^_`|~"
)

// only tells whether all bytes are in a set, and there is one.
func only(s, set string) bool {
	for i := range len(s) {
		if strings.IndexByte(set, s[i]) < 0 {
			return false
		}
	}
	return s != ""
}

func isRequestLine(line string) bool {
	words := strings.Split(line, " ")
	if len(words) != 3 || !only(words[0], tokens) || len(words[0]) > 32 || words[1] == "" {
		return false
	}
	for i := range len(words[1]) {
		if c := words[1][i]; c <= ' ' || c >= 0x7f || c == '#' {
			return false
		}
	}
	minor, ok := strings.CutPrefix(words[2], "HTTP/1.")
	return ok && len(minor) == 1 && only(minor, "0123456789")
}

// bodyOf is how long the body is, -1 for chunks.
func bodyOf(old bool, fields string) (int, bool) {
	all, ok := parse(fields)
	lengths, codings := all["content-length"], all["transfer-encoding"]
	switch {
	case !ok, len(all["host"]) != 1, len(lengths)+len(codings) > 1:
		return 0, false
	case len(codings) == 1:
		return -1, !old && strings.Trim(codings[0], " ") == "chunked"
	case len(lengths) == 0:
		return 0, true
	}
	digits := strings.Trim(lengths[0], " ")
	n, err := strconv.Atoi(digits)
	return n, err == nil && len(digits) <= 10 && strconv.Itoa(n) == digits && n >= 0 && digits != "-0"
}

// parse takes field lines apart.
func parse(fields string) (map[string][]string, bool) {
	all := make(map[string][]string)
	for line := range strings.SplitSeq(fields, "\r\n") {
		if fields == "" {
			break
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok || !only(name, tokens) {
			return nil, false
		}
		for i := range len(value) {
			if c := value[i]; c < ' ' && c != '\t' || c == 0x7f {
				return nil, false
			}
		}
		name = strings.ToLower(name)
		all[name] = append(all[name], value)
	}
	return all, true
}

// chunkedLength is how much a body of chunks takes, -1 if it is broken or cut off.
func chunkedLength(data string) int {
	for rest := data; ; {
		size, after, ok := strings.Cut(rest, "\r\n")
		if !ok || len(size) > 8 || !only(size, "0123456789abcdefABCDEF") {
			return -1
		}
		n, err := strconv.ParseUint(size, 16, 32)
		if err != nil {
			return -1
		}
		if n == 0 {
			return endOfTrailers(data, after)
		}
		if uint64(len(after)) < n+2 || after[n:n+2] != "\r\n" {
			return -1
		}
		rest = after[n+2:]
	}
}

// endOfTrailers is where in data the trailers end, with which after begins.
func endOfTrailers(data, after string) int {
	begin := len(data) - len(after)
	if strings.HasPrefix(after, "\r\n") {
		return begin + 2
	}
	whole, _, ok := strings.Cut(after, "\r\n\r\n")
	if !ok || len(whole)+4 > head {
		return -1
	}
	all, ok := parse(whole)
	if !ok || len(all["host"])+len(all["content-length"])+len(all["transfer-encoding"]) > 0 {
		return -1
	}
	return begin + len(whole) + 4
}

// completed is what reader says, told of one byte after the other.
func completed(data string) (n int) {
	r := reader{limit: head}
	for i := range len(data) {
		before := r.state
		if _, broken := r.read([]byte{data[i]}); broken != kept {
			break
		}
		if r.state == atStart && before != inEmptyLineEnd {
			n++
		}
	}
	return n
}

// TestReference keeps the reference from counting nothing.
func TestReference(t *testing.T) {
	t.Parallel()
	sent := "\r\n" + another + post + "Content-Length: 3\r\n\r\nabc" + chunks + "3\r\nabc\r\n0\r\n\r\n" + chunks + "0\r\nX: a\r\n\r\n"
	if a, b := reference(sent), completed(sent); a != 4 || b != 4 {
		t.Errorf("the reference counts %d requests, the reader %d", a, b)
	}
}
