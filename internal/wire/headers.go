package wire

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/wire/mediatype"
)

// versionName is the header and the query parameter that name the version
// (A2A 1.0 §3.2.6, §3.6.1).
const versionName = "A2A-Version"

// versionHeader is the same as net/http writes it.
const versionHeader = "A2a-Version"

// RequestVersion reads the version a request says it is, from its header and
// its query. It is "" when neither says anything: then the method or path
// decides. A header and a query that differ are Malformed, whatever either
// says; a version that was never released is VersionUnsupported.
//
//	A2A-Version: 1.0                       "1.0"
//	?A2A-Version=0.3                       "0.3": for clients that cannot set headers (A2A 1.0 §3.6.1)
//	A2A-Version: 1.0, ?A2A-Version=0.3     MALFORMED_REQUEST
//	?a2a-version=1.0                       MALFORMED_REQUEST: another parameter to most servers
//	A2A-Version: 2.0                       VERSION_NOT_SUPPORTED
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
//
// Header names have no case (RFC 9110 §5.1), query parameters do (RFC 3986 §6.2.2.1), and this name is
// both.
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
//
//	A2A-Version: 1.0.1, ?A2A-Version=1.0   1.0
//	A2A-Version: 9.9, ?A2A-Version=9.9     VERSION_NOT_SUPPORTED, and not MALFORMED_REQUEST
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

// MediaType is the media type of a successful unary answer to the call:
// application/json, or application/a2a+json for a 1.0 HTTP+JSON client that names
// it (A2A 1.0.1 §11.1). a2a-go reads a body only if it is application/json, so */* is no reason
// to send the other.
func (c *Call) MediaType() string {
	if c.Binding == HTTPJSON && (c.Version == V10 || c.Version == "") && mediatype.Accepts(c.Accept, mediatype.A2A) {
		return mediatype.A2A
	}
	return mediatype.JSON
}

// Labelled is the media type under which the caller is given what an agent answered in its own
// words: the agent's, but application/json in place of application/a2a+json where the caller
// accepts the one by its name and the other in no way. The text is the same in both.
//
//	agent says             Accept              the caller is told
//	application/a2a+json   application/json    application/json
//	application/a2a+json   */*                 application/a2a+json
func (c *Call) Labelled(agents string) string {
	if c.Binding == HTTPJSON && strings.EqualFold(agents, mediatype.A2A) &&
		mediatype.Accepts(c.Accept, mediatype.JSON) && !mediatype.Accepts(c.Accept, mediatype.A2A) &&
		!strings.Contains(c.Accept, "*") {
		return mediatype.JSON
	}
	return agents
}
