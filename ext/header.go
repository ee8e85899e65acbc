package ext

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// The header's two names, in the canonical form under which net/http keeps
// them, so that they can index an http.Header directly.
const (
	HeaderV10 = "A2a-Extensions"   // A2A 1.0 §3.2.6
	HeaderV03 = "X-A2a-Extensions" // 0.2.4 to 0.3; still sent by clients that speak 1.0
)

// ErrHeader is wrapped by every error of Requested.
var ErrHeader = errors.New("extensions header")

// Names says under which of the two names a client asked, since it will look
// for the answer under the same. The zero value means that it used neither.
type Names uint8

// The names; a client may use both at once.
const (
	NameV10 Names = 1 << iota
	NameV03
)

// Or returns n, or, when the client used no name, the name that belongs to v.
func (n Names) Or(v wire.Version) Names {
	switch {
	case n != 0:
		return n
	case v == wire.V10:
		return NameV10
	}
	return NameV03
}

// Limits bound what a client may ask for. Zero fields mean the defaults.
type Limits struct {
	URIs   int // distinct URIs in one request, default 32
	Length int // bytes of one URI, default 512
}

const (
	defaultURIs   = 32
	defaultLength = 512
)

// orDefaults puts the defaults in the place of zeros.
func (l Limits) orDefaults() Limits {
	if l.URIs <= 0 {
		l.URIs = defaultURIs
	}
	if l.Length <= 0 {
		l.Length = defaultLength
	}
	return l
}

// Requested reads what a client asks for: both header names, in any casing, any
// number of lines, comma lists, repeats dropped, order of first mention kept
// (those under the 1.0 name first). Empty list elements are skipped, as RFC 9110
// §5.6.1 wants. An entry that is no absolute URI, or more and longer ones than
// lim allows, is an error wrapping ErrHeader whose text may be shown to the
// client. A request without the header costs no allocation.
func Requested(h http.Header, lim Limits) (Set, Names, error) {
	lim = lim.orDefaults()
	keys, n := spellings(h)
	if n == 0 {
		return nil, 0, nil
	}
	var (
		set   Set
		names Names
	)
	for _, key := range keys[:n] {
		names |= nameOf(key)
		for _, line := range h[key] {
			for element := range strings.SplitSeq(line, ",") {
				uri := strings.Trim(element, " \t")
				if uri == "" || set.Has(uri) {
					continue
				}
				if err := admit(set, uri, lim); err != nil {
					return nil, names, err
				}
				if set == nil {
					set = make(Set, 0, min(1+strings.Count(line, ","), lim.URIs))
				}
				set = append(set, uri)
			}
		}
	}
	return set, names, nil
}

// admit checks one more URI against the limits and the grammar. Length comes
// first, so that a megabyte is not scanned to be refused.
func admit(set Set, uri string, lim Limits) error {
	if len(uri) > lim.Length {
		return fmt.Errorf("%w: URI of %d bytes, at most %d allowed", ErrHeader, len(uri), lim.Length)
	}
	if len(set) == lim.URIs {
		return fmt.Errorf("%w: more than %d extensions", ErrHeader, lim.URIs)
	}
	if err := CheckURI(uri); err != nil {
		return fmt.Errorf("%w: %w", ErrHeader, err)
	}
	return nil
}

// Activated reads which extensions an agent says it activated, kept to those it
// was asked for: an agent cannot switch on what nobody requested. The order is
// that of asked. Agents are read leniently; entries that are no URI match
// nothing. An answer without the header gives nil.
func Activated(h http.Header, asked Set) Set {
	if len(asked) == 0 {
		return nil
	}
	keys, n := spellings(h)
	if n == 0 {
		return nil
	}
	return asked.Only(func(uri string) bool { return lists(h, keys[:n], uri) })
}

// lists reports whether one of the lines names a URI.
func lists(h http.Header, keys []string, uri string) bool {
	for _, key := range keys {
		for _, line := range h[key] {
			for element := range strings.SplitSeq(line, ",") {
				if strings.Trim(element, " \t") == uri {
					return true
				}
			}
		}
	}
	return false
}

// Apply makes h carry exactly s, for an agent that speaks v. Every spelling the
// client may have used is deleted first, so that nothing reaches the agent that
// was not negotiated. Each URI gets a line of its own: the Go SDK's server does
// not split commas.
func (s Set) Apply(h http.Header, v wire.Version) {
	strip(h)
	if len(s) == 0 {
		return
	}
	name := HeaderV10
	if v != wire.V10 {
		name = HeaderV03
	}
	// The slice is shared, not copied: neither side may write to it afterwards,
	// and three-index slicing makes an Add on the header copy it.
	h[name] = s[:len(s):len(s)]
}

// Respond makes the client's answer list s under the names that the client used
// and removes what the agent wrote there. The form is one comma-separated line,
// which A2A 1.0 §3.2.6 prefers. With no names the 1.0 name is used.
func (s Set) Respond(h http.Header, n Names) {
	strip(h)
	if len(s) == 0 {
		return
	}
	line := []string(s[:len(s):len(s)]) // shared, as in Apply
	if len(s) > 1 {
		line = []string{strings.Join(s, ",")}
	}
	if n&NameV03 != 0 {
		h[HeaderV03] = line
	}
	if n&NameV10 != 0 || n == 0 {
		h[HeaderV10] = slices.Clip(line)
	}
}

// strip deletes the header under every name and spelling.
func strip(h http.Header) {
	for key := range h {
		if Spells(key) {
			delete(h, key)
		}
	}
}

// Spells reports whether a field of this name is one that Apply and Respond delete. They
// look at all there are: whoever makes a header of names that are known beforehand asks
// once, and calls them while it is short.
func Spells(name string) bool { return nameOf(name) != 0 || isUnderscored(name) }

// nameOf says which of the two names key spells, in whatever casing. The length
// is looked at first: this runs over every header of every request.
func nameOf(key string) Names {
	switch {
	case len(key) == len(HeaderV10) && strings.EqualFold(key, HeaderV10):
		return NameV10
	case len(key) == len(HeaderV03) && strings.EqualFold(key, HeaderV03):
		return NameV03
	}
	return 0
}

// isUnderscored recognises a2a_extensions and the like, which WSGI and CGI
// servers cannot tell from the real name once it is in their environment.
func isUnderscored(key string) bool {
	if len(key) != len(HeaderV10) && len(key) != len(HeaderV03) || !strings.ContainsAny(key, "_.") {
		return false
	}
	return nameOf(strings.ReplaceAll(strings.ReplaceAll(key, "_", "-"), ".", "-")) != 0
}

// maxSpellings bounds how many spellings of the names are read. net/http has
// canonicalised what came over a connection, so that more than two can only be
// the work of code in this process.
const maxSpellings = 8

// spellings finds the keys of h that spell one of the names: the 1.0 name's
// first, sorted, since the order of a map must not decide anything.
func spellings(h http.Header) (keys [maxSpellings]string, n int) {
	for key := range h {
		if nameOf(key) != 0 && n < maxSpellings {
			keys[n] = key
			n++
		}
	}
	if n > 1 {
		slices.SortFunc(keys[:n], func(a, b string) int {
			if d := int(nameOf(a)) - int(nameOf(b)); d != 0 {
				return d
			}
			return strings.Compare(a, b)
		})
	}
	return keys, n
}
