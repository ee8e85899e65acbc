package wire

import (
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
)

// MediaType reports whether a request's Content-Type is one that A2A bodies
// have: application/json, or application/a2a+json (A2A 1.0 §11.1), with no
// parameter but a charset of UTF-8. Anything else is a chance for two parsers to
// read the body in two ways.
func MediaType(contentType string) bool {
	switch contentType {
	case "application/json", "application/a2a+json":
		return true
	}
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil || kind != "application/json" && kind != "application/a2a+json" {
		return false
	}
	charset, ok := params["charset"]
	if ok && !strings.EqualFold(charset, "utf-8") || strings.ContainsRune(contentType, '*') {
		return false // an asterisk is RFC 2231's second way to write a parameter
	}
	return len(params) == 0 || ok && len(params) == 1
}

// versionName is the header and the query parameter that name the version
// (A2A 1.0 §3.6.1).
const versionName = "A2A-Version"

// versionHeader is the same as net/http writes it.
const versionHeader = "A2a-Version"

// RequestVersion reads the version a request says it is, from its header and
// its query. It is "" when neither says anything: then the method or path
// decides. A header and a query that differ are Malformed, whatever either
// says; a version that was never released is VersionUnsupported.
func RequestVersion(h http.Header, q url.Values) (Version, *Error) {
	inHeader := h[versionHeader]
	inQuery, e := queryVersion(q)
	switch {
	case e != nil:
		return "", e
	case len(inHeader)+len(inQuery) == 0:
		return "", nil
	case len(inHeader) > 1:
		return "", Errorf(Malformed, "more than one %s header", versionName)
	case len(inQuery) > 1:
		return "", Errorf(Malformed, "more than one %s query parameter", versionName)
	case len(inQuery) == 0:
		return oneVersion(inHeader[0])
	case len(inHeader) == 0:
		return oneVersion(inQuery[0])
	}
	return sameVersion(inHeader[0], inQuery[0])
}

// SpelledVersion is what RequestVersion has read, as it is written: one version has many
// spellings, and a refusal tells the caller's.
func SpelledVersion(h http.Header, q url.Values) string {
	for _, said := range [...][]string{h[versionHeader], q[versionName]} {
		if len(said) > 0 && strings.TrimSpace(said[0]) != "" {
			return strings.TrimSpace(said[0])
		}
	}
	return ""
}

// spelled is the version of a request as its sender writes it.
func (c *Call) spelled(v Version) string {
	if c.Spelled != "" {
		return c.Spelled
	}
	return string(v)
}

// queryVersion finds the parameter and refuses other spellings of its name:
// header names have no case, so some servers may think that of this one.
func queryVersion(q url.Values) ([]string, *Error) {
	for name := range q {
		if name != versionName && strings.EqualFold(name, versionName) {
			return nil, Errorf(Malformed, "the query parameter is spelled %s", versionName)
		}
	}
	return q[versionName], nil
}

// oneVersion reads the only place that names a version. An empty header says as little as none: the
// method or the path decides, which for most calls comes to 0.3 (A2A 1.0 §3.6.2).
func oneVersion(s string) (Version, *Error) {
	if strings.TrimSpace(s) == "" {
		return "", nil
	}
	v, ok := ParseVersion(s)
	if !ok {
		return "", unknownVersion(s)
	}
	return v, nil
}

// sameVersion compares what the two mean: "1.0.1" is "1.0", and empty is 0.3.
func sameVersion(header, query string) (Version, *Error) {
	v, known := ParseVersion(header)
	w, ok := ParseVersion(query)
	switch {
	case v != w || !known && header != query:
		return "", Errorf(Malformed, "the %s header and query parameter differ", versionName)
	case !known || !ok:
		return "", unknownVersion(header)
	}
	return v, nil
}

// unknownVersion refuses a version that A2A does not have, and tells those that it has, in words and
// as metadata for programs. What is quoted of the caller's is cut to a length that suffices to see
// the mistake.
func unknownVersion(s string) *Error {
	if len(s) > 32 {
		s = s[:32]
	}
	e := Errorf(VersionUnsupported,
		"A2A version %q is not supported; supported are %s, %s and %s", s, V10, V03, V01)
	e.Meta = map[string]string{"supportedVersions": fmt.Sprint(V10, ",", V03, ",", V01)}
	return e
}
