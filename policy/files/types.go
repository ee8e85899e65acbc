package files

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/wire/message"
)

// unsaid is the type of a file that says none.
const unsaid = "application/octet-stream"

// mediaRange is a media type in which both words, or the second, may be *.
type mediaRange struct{ major, minor string }

// rangeOf reads one.
func rangeOf(name string) (mediaRange, bool) {
	major, minor, ok := strings.Cut(strings.ToLower(name), "/")
	if !ok || major == "*" && minor != "*" || major != "*" && !isToken(major) || minor != "*" && !isToken(minor) {
		return mediaRange{}, false
	}
	return mediaRange{major, minor}, true
}

// isToken reports a word of RFC 6838 §4.2.
func isToken(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789!#$&-^_.+") == ""
}

// untyped finds a type that is not among those that are allowed: a part that says several
// needs all of them to be.
func (r *Rules) untyped(types []string) (what string, bad bool) {
	if r.types == nil {
		return "", false
	}
	if len(types) == 0 {
		types = []string{unsaid}
	}
	for _, name := range types {
		if name == "" {
			name = unsaid
		}
		major, minor, _ := strings.Cut(name, "/")
		if !isToken(major) || !isToken(minor) || !slices.ContainsFunc(r.types, func(m mediaRange) bool {
			return (m.major == "*" || m.major == major) && (m.minor == "*" || m.minor == minor)
		}) {
			return name, true
		}
	}
	return "", false
}

// run are types that browsers run, beside those that end in +xml: a style sheet or an
// element of XHTML in any XML is enough.
var run = []string{
	"text/html", "text/xml", "application/xml", "text/xsl", "multipart/x-mixed-replace",
	"text/javascript", "application/javascript", "application/x-javascript", "text/ecmascript",
	"application/ecmascript", "application/x-ecmascript", "text/jscript", "text/livescript", "text/vbscript",
}

// runEndings are the ends of names that browsers, and those who look for the type of a
// file that says none, take for one of these.
var runEndings = []string{".html", ".htm", ".shtml", ".xhtml", ".xht", ".svg", ".svgz", ".xml", ".xsl", ".xslt", ".js", ".mjs", ".cjs"}

// active finds a type that browsers run; "" for none.
func (r *Rules) active(types []string, f *message.File) string {
	said := false
	for _, name := range types {
		said = said || name != "" && name != unsaid
		if (strings.HasSuffix(name, "+xml") || slices.Contains(run, name) || strings.Contains(name, "javascript")) && !r.wanted[name] {
			return name
		}
	}
	if said {
		return ""
	}
	for _, name := range slices.Concat(f.Names, f.URLs) {
		if u, err := url.Parse(name); err == nil && u.Scheme != "" {
			name = u.Path
		}
		if end := strings.ToLower(path.Ext(strings.TrimRight(name, ". "))); slices.Contains(runEndings, end) {
			return end
		}
	}
	return ""
}

// data reads a data: URI (RFC 2397), where these are allowed: its media type, and about
// how many bytes it has.
func (r *Rules) data(link string) (what string, n int64, ok bool) {
	if !r.inline || !strings.HasPrefix(strings.ToLower(link[:min(len(link), len("data:"))]), "data:") {
		return "", 0, false
	}
	head, body, _ := strings.Cut(link[len("data:"):], ",")
	head = strings.ToLower(head)
	what, _, _ = strings.Cut(head, ";")
	if what = strings.TrimSpace(what); what == "" {
		what = "text/plain"
	}
	if strings.HasSuffix(strings.TrimSpace(head), ";base64") {
		return what, int64(len(body)) * 3 / 4, true
	}
	return what, int64(len(body)), true
}

func listsData(schemes []string) bool {
	return slices.ContainsFunc(schemes, func(s string) bool { return strings.EqualFold(s, "data") })
}
