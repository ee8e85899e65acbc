package dpop

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// requestAddress is the address of a request as proofs are compared with it. scheme
// stands in for that of the connection where something in front ends TLS.
// The error is about a request whose host or path is none that a proof could name.
func requestAddress(r *http.Request, scheme string) (string, error) {
	if scheme == "" {
		scheme = "http"
		if r.TLS != nil {
			scheme = "https"
		}
	}
	return normalAddress(scheme + "://" + r.Host + r.URL.EscapedPath())
}

// normalAddress spells an address in one way (RFC 3986 §6.2.2 and §6.2.3), without
// query and fragment (RFC 9449 §4.3 number 9). Dots in paths stay as they are: an
// address that needs them resolved is another one.
func normalAddress(raw string) (string, error) {
	for i := range len(raw) {
		if raw[i] <= ' ' || raw[i] >= 0x7f {
			return "", fmt.Errorf("byte %d does not belong in an address", i)
		}
	}
	// Clients differ in whether htu has the query; RFC 9449 has both sides leave it out.
	if end := strings.IndexAny(raw, "?#"); end >= 0 {
		raw = raw[:end]
	}
	scheme, rest, ok := strings.Cut(raw, "://")
	port := ""
	switch scheme = strings.ToLower(scheme); {
	case !ok:
		return "", errors.New("not an absolute address")
	case scheme == "https":
		port = "443"
	case scheme == "http":
		port = "80"
	default:
		return "", errors.New("neither http nor https")
	}
	host, path := rest, "/"
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		host, path = rest[:i], rest[i:]
	}
	host, err := normalHost(host, port)
	if err != nil {
		return "", err
	}
	path, err = normalPath(path)
	return scheme + "://" + host + path, err
}

// normalHost writes a host in small letters, with its port unless it is the usual one.
func normalHost(host, usual string) (string, error) {
	name, port := strings.ToLower(host), ""
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, ']') {
		name, port = name[:i], name[i+1:]
	}
	literal := strings.HasPrefix(name, "[") && strings.HasSuffix(name, "]")
	if name == "" || strings.ContainsAny(name, `@\`) || strings.Contains(name, ":") && !literal ||
		strings.Trim(port, "0123456789") != "" {
		return "", errors.New("no host, or something else in its place")
	}
	if port == "" || port == usual {
		return name, nil
	}
	return name + ":" + port, nil
}

// normalPath decodes what need not be encoded, and writes the rest in capitals.
// Only letters, digits and -._~ are decoded: %2F is no slash.
func normalPath(path string) (string, error) {
	if !strings.Contains(path, "%") {
		return path, nil
	}
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] != '%' {
			b.WriteByte(path[i])
			continue
		}
		if i+2 >= len(path) || !hexadecimal(path[i+1]) || !hexadecimal(path[i+2]) {
			return "", errors.New("a percent sign that encodes nothing")
		}
		if c := unhex(path[i+1])<<4 | unhex(path[i+2]); unreserved(c) {
			b.WriteByte(c)
		} else {
			b.WriteString(strings.ToUpper(path[i : i+3]))
		}
		i += 2
	}
	return b.String(), nil
}

// unreserved characters stand for themselves (RFC 3986 §2.3).
func unreserved(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

// hexadecimal reports a digit of a percent-encoded byte.
func hexadecimal(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }

// unhex is the value of a hexadecimal digit.
func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}
