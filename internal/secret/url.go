package secret

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// URL is an address that the configuration names. What may be a secret in it, who asks and
// what the query and the fragment hold, is in no form that the standard library prints it in;
// Reveal has it whole, for whoever connects to it.
//
// It is a string, so that URLs can be compared and left out, and unexported fields of this
// type print whole: keep them out of what is printed.
type URL string

// omitted stands where something was taken out of a URL or of a text.
const omitted = "…"

var (
	errURL  = errors.New("not a URL")
	errPort = errors.New("the port of the URL is not between 0 and 65535")
)

// NotAbsolute is what to say of a URL where an absolute one of http or https is needed: the error of Parse where
// that knows what is wrong, which is the port, and else that it is none. err may be nil.
func NotAbsolute(err error) error {
	if errors.Is(err, errPort) {
		return errPort
	}
	return errors.New("not an absolute http or https URL")
}

// Reveal is the URL as it was written.
func (u URL) Reveal() string { return string(u) }

// Parse is url.Parse with an error that quotes nothing: the library's own quotes what it
// could not read, and that is where a password stands that was not escaped. A port that no
// address has is an error too.
func (u URL) Parse() (*url.URL, error) {
	parsed, err := url.Parse(string(u))
	if err != nil {
		return nil, errURL
	}
	if port := parsed.Port(); port != "" {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return nil, errPort
		}
	}
	return parsed, nil
}

// String is the URL without userinfo and fragment, and with "…" for its query. Of what has
// a part that could be either, and is no URL with a host, it says only that it is there.
func (u URL) String() string {
	if !strings.ContainsAny(string(u), "@?#") {
		return string(u) // host:port as well
	}
	parsed, err := u.Parse()
	if err != nil || parsed.Host == "" {
		return redacted
	}
	parsed.User, parsed.Fragment, parsed.RawFragment = nil, "", ""
	if parsed.RawQuery != "" {
		parsed.RawQuery = omitted
	}
	return parsed.String()
}

// GoString is what %#v prints.
func (u URL) GoString() string { return fmt.Sprintf("secret.URL(%q)", u.String()) }

// Format prints the shown form for every verb, as Value's does.
func (u URL) Format(f fmt.State, verb rune) {
	switch {
	case verb == 'v' && f.Flag('#'):
		_, _ = io.WriteString(f, u.GoString())
	case verb == 'q':
		_, _ = fmt.Fprintf(f, "%q", u.String())
	default:
		_, _ = io.WriteString(f, u.String())
	}
}

// LogValue is what slog writes.
func (u URL) LogValue() slog.Value { return slog.StringValue(u.String()) }

// MarshalText is the shown form; it serves JSON and XML too.
func (u URL) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// MarshalYAML is the shown form.
func (u URL) MarshalYAML() (any, error) { return u.String(), nil }

// Hide is err with a text that holds no secret of any URL, and none of this one's even where
// it stands alone, as in what a server says of the request that it got. What err wraps can
// still be looked for. A nil err stays nil.
func (u URL) Hide(err error) error {
	if err == nil {
		return nil
	}
	return &hidden{err: err, url: u}
}

type hidden struct {
	err error
	url URL
}

// Unwrap is for errors.Is; whoever prints what it returns prints the URL.
func (h *hidden) Unwrap() error { return h.err }

func (h *hidden) Error() string {
	text := h.err.Error()
	if read, ok := errors.AsType[*url.Error](h.err); ok && read.Op == "parse" {
		text = strings.ReplaceAll(text, read.Err.Error(), errURL.Error()) // it quotes the part it could not read
	}
	text = HideURLs(text)
	for _, part := range h.url.secrets() {
		text = strings.ReplaceAll(text, part, omitted)
	}
	return text
}

// leastSecret is the length from which a part of a URL is looked for outside of URLs:
// without it, "?v=1" would take every 1 out of a text.
const leastSecret = 4

// secrets are the parts of u that no text shows, as they were written and as they are meant,
// the longest first.
func (u URL) secrets() []string {
	parsed, err := u.Parse()
	if err != nil {
		return nil
	}
	var list []string
	add := func(parts ...string) {
		for _, p := range parts {
			if len(p) >= leastSecret {
				list = append(list, p)
			}
		}
	}
	add(parsed.RawQuery, parsed.EscapedFragment(), parsed.Fragment)
	for pair := range strings.SplitSeq(parsed.RawQuery, "&") {
		_, value, _ := strings.Cut(pair, "=")
		plain, _ := url.QueryUnescape(value)
		add(value, plain)
	}
	if parsed.User != nil {
		password, _ := parsed.User.Password()
		add(parsed.User.String(), password, parsed.User.Username())
	}
	return list
}

// inText finds URLs in a text: in quotes as %q writes them, which may hold anything, or
// up to where a text would go on.
var inText = regexp.MustCompile(`"[A-Za-z][A-Za-z0-9+.-]*://(?:[^"\\]|\\.)*"|[A-Za-z][A-Za-z0-9+.-]*://[^\s"<>]+`)

// HideURLs is a text with every URL in it as URL.String has it.
func HideURLs(text string) string {
	if !strings.Contains(text, "://") {
		return text
	}
	return inText.ReplaceAllStringFunc(text, func(found string) string {
		if !strings.ContainsAny(found, "?@") {
			return found
		}
		if inner, quoted := strings.CutPrefix(found, `"`); quoted {
			return `"` + URL(strings.TrimSuffix(inner, `"`)).String() + `"`
		}
		bare := strings.TrimRight(found, `.,:;)]}'\`)
		return URL(bare).String() + found[len(bare):]
	})
}
