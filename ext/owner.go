package ext

import "strings"

// owners says whose a metadata key is. The longest match decides, so that an extension
// and another one below its URI keep their keys apart. Versions of one extension, which
// are extensions by themselves, may list the same key: it is all of theirs.
type owners struct {
	roots    map[string][]string // a URI with and without its scheme, to the URI
	keys     map[string][]string // Entry.Metadata without a star, to the URIs
	prefixes []prefix            // Entry.Metadata with a star
	longest  int                 // root, in bytes
}

// The star is left out of its text.
type prefix struct {
	text string
	uris []string
}

// ownersOf is made once for a registry; keys are looked up for every metadata member of a call.
func ownersOf(r Registry) owners {
	o := owners{roots: make(map[string][]string), keys: make(map[string][]string)}
	for i := range r {
		e := &r[i]
		o.root(e.URI)
		for _, key := range e.Metadata {
			if text, ok := strings.CutSuffix(key, "*"); ok {
				o.lay(text, e.URI)
			} else {
				o.keys[key] = append(o.keys[key], e.URI)
			}
		}
	}
	return o
}

// root gives a URI the keys that are its by convention.
func (o *owners) root(uri string) {
	o.roots[uri] = []string{uri}
	o.longest = max(o.longest, len(uri))
	if _, bare, ok := strings.Cut(uri, "://"); ok && bare != "" {
		// Of two URIs that differ by scheme only, the first keeps the bare keys.
		if _, taken := o.roots[bare]; !taken {
			o.roots[bare] = []string{uri}
		}
	}
}

// lay gives a prefix to one more extension.
func (o *owners) lay(text, uri string) {
	for i := range o.prefixes {
		if p := &o.prefixes[i]; p.text == text {
			p.uris = append(p.uris, uri)
			return
		}
	}
	o.prefixes = append(o.prefixes, prefix{text, []string{uri}})
}

// of finds the owners of a key, in the registry's order.
func (o *owners) of(key string) []string {
	if uris, ok := o.keys[key]; ok {
		return uris
	}
	best, uris := o.below(key)
	for _, p := range o.prefixes {
		if len(p.text) > best && strings.HasPrefix(key, p.text) {
			best, uris = len(p.text), p.uris
		}
	}
	return uris
}

// separators part a URI from the name of a member below it: a path, as is the custom, or what
// else may follow one.
const separators = "/#?:"

// Below reports whether a metadata key is a URI, or a name below it.
func Below(uri, key string) bool {
	rest, ok := strings.CutPrefix(key, uri)
	return ok && uri != "" && (rest == "" || strings.IndexByte(separators, rest[0]) >= 0)
}

// below finds the longest root that key is, or is below of, and its length.
func (o *owners) below(key string) (length int, uris []string) {
	if len(o.roots) == 0 {
		return 0, nil
	}
	end := len(key)
	if end > o.longest { // a key of slashes only would be looked up in every length
		end = strings.LastIndexAny(key[:o.longest+1], separators)
	}
	for ; end > 0; end = strings.LastIndexAny(key[:end], separators) {
		// A URI that ends in a slash needs no second one before the name.
		if end < len(key) {
			if uris, ok := o.roots[key[:end+1]]; ok {
				return end + 1, uris
			}
		}
		if uris, ok := o.roots[key[:end]]; ok {
			return end, uris
		}
	}
	return 0, nil
}

// Roots says whose metadata keys are by convention alone: of extensions that are not
// in the registry. The nil Roots knows none.
type Roots struct{ owners owners }

// NewRoots makes the Roots of a card, or of whoever names extensions.
func NewRoots(declared []Declared) *Roots {
	r := &Roots{owners{roots: make(map[string][]string, 2*len(declared))}}
	for i := range declared {
		r.owners.root(declared[i].URI)
	}
	return r
}

// Owner is the URI whose key this is, "" for nobody's, and how many bytes of the key
// say so: of nested URIs the longest is meant.
func (r *Roots) Owner(key string) (uri string, length int) {
	if r == nil {
		return "", 0
	}
	length, uris := r.owners.below(key)
	if length == 0 {
		return "", 0
	}
	return uris[0], length
}
