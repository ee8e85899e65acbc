package guard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/card/lint"
	"github.com/a2a-gateway/a2a-gateway/ext/schema"
	"github.com/a2a-gateway/a2a-gateway/internal/detect"
	"github.com/a2a-gateway/a2a-gateway/internal/egress"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/spelling"
)

// makeDetector makes guards that look for kinds of a group.
func makeDetector(group string) func(*Guard, *Options) (finder, []error) {
	return func(g *Guard, _ *Options) (finder, []error) {
		var known []string
		for _, k := range detect.Kinds(group) {
			known = append(known, k.Name)
		}
		names := g.Kinds
		var errs []error
		switch {
		case names == nil:
			names = known
		case len(names) == 0:
			errs = append(errs, keypath.At(errors.New("the list is empty, so the guard finds nothing; leave it out for all kinds"), "kinds"))
		}
		for i, name := range names {
			if !slices.Contains(known, name) {
				errs = append(errs, keypath.At(keypath.Point(fmt.Errorf("%s has no kind %q%s", group, name, spelling.Hint(name, known)), i), "kinds"))
			}
		}
		if errs != nil {
			return nil, errs
		}
		set, err := detect.New(names...)
		if err != nil {
			return nil, []error{keypath.At(err, "kinds")}
		}
		return setFinder{set}, nil
	}
}

// kindInjection is what phrases are.
const kindInjection = "injection"

// makeInjection makes guards that look for the phrases that cards are held against. What is found is
// the whole text: nobody can tell where an order to a model ends.
func makeInjection(*Guard, *Options) (finder, []error) {
	return textFinder(func(text string) []detect.Finding {
		if !lint.Instructs(text) {
			return nil
		}
		return []detect.Finding{{Begin: 0, End: len(text), Kind: kindInjection}}
	}), nil
}

// kindLink is what URLs are that name a host which they may not.
const kindLink = "link"

// makeLinks makes guards that look for URLs.
func makeLinks(g *Guard, _ *Options) (finder, []error) {
	l := &g.Links
	if l.Allow == nil && l.Deny == nil {
		return nil, []error{keypath.At(errors.New("allow or deny is missing: any host would do"), "links")}
	}
	schemes := []string{"http", "https"}
	allow, err := egress.NewURIs(schemes, l.Allow, true)
	deny, errDeny := egress.NewURIs(schemes, l.Deny, true)
	var errs []error
	for key, list := range map[string][]string{"allow": l.Allow, "deny": l.Deny} {
		if list != nil && len(list) == 0 {
			errs = append(errs, keypath.At(errors.New("the list is empty; leave it out"), "links", key))
		}
	}
	if err != nil || errDeny != nil {
		errs = append(errs, keypath.At(badHosts(l.Allow), "links", "allow"), keypath.At(badHosts(l.Deny), "links", "deny"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, []error{err}
	}
	any, err := egress.NewURIs(schemes, []string{"*"}, true) // what only some clients can read may lead them anywhere
	if err != nil {
		return nil, []error{keypath.At(err, "links")}
	}
	bad := func(link string) bool {
		if l.Deny != nil {
			if _, why := deny.Judge(link); why == "" {
				return true
			}
		}
		judge := allow
		if l.Allow == nil {
			judge = any
		}
		_, why := judge.Judge(link)
		return why != ""
	}
	// URIs of extensions are the names of their metadata, and lead nobody anywhere.
	return valueFinder{func(text string) (found []detect.Finding) {
		for at := 0; ; {
			begin, end, link := nextLink(text, at)
			if begin < 0 {
				return found
			}
			if bad(link) {
				found = append(found, detect.Finding{Begin: begin, End: end, Kind: kindLink})
			}
			at = end
		}
	}}, nil
}

// badHosts says which of some hosts is none.
func badHosts(hosts []string) error {
	for i, host := range hosts {
		if _, err := egress.NewURIs([]string{"https"}, []string{host}, true); err != nil {
			return keypath.Point(fmt.Errorf("%q is neither a host, nor *. and a domain, nor an address", host), i)
		}
	}
	return nil
}

// nextLink finds the next http or https URL of a text from a place on, and how a browser reads it; begin is
// -1 for none. To browsers "https:/host" and "https:\\host" are URLs of the host (WHATWG URL, special authority
// slashes state), and where Markdown or HTML has a link, "//host" and "https:host" as well.
func nextLink(text string, at int) (begin, end int, link string) {
	for {
		i := strings.IndexAny(text[at:], ":/\\")
		if i < 0 {
			return -1, -1, ""
		}
		begin = at + i
		rest := strings.TrimLeft(text[begin+1:], "/\\\t")
		host := len(text) - len(rest)
		scheme, slashes := "https", strings.ContainsAny(text[begin+1:host], "/\\")
		if text[begin] == ':' {
			scheme = schemeBefore(text[at:begin])
			begin -= len(scheme)
		}
		if scheme == "" || text[at+i] != ':' && !slashes || (text[at+i] != ':' || !slashes) && !inLink(text[:begin]) {
			at += i + 1
			continue
		}
		end = host
		for end < len(text) && !strings.ContainsRune(" \t\r\n\"<>`{}|^", rune(text[end])) {
			end++
		}
		if end = host + len(strings.TrimRight(text[host:end], ".,;:!?)]'*_")); end > host {
			return begin, end, scheme + "://" + text[host:end]
		}
		at = max(host, at+i+1)
	}
}

// inLink reports whether what follows a text is where Markdown or HTML has the URL of a link or an image.
func inLink(before string) bool {
	before = strings.TrimRight(before, " \t\r\n<\"'")
	if strings.HasSuffix(before, "](") || strings.HasSuffix(before, "]:") {
		return true
	}
	name, ok := strings.CutSuffix(before, "=")
	name = strings.TrimRight(name, " \t\r\n")
	for _, attribute := range []string{"href", "src"} {
		if n := len(name) - len(attribute); ok && n >= 0 && strings.EqualFold(name[n:], attribute) {
			return true
		}
	}
	return false
}

// schemeBefore is the scheme that a text ends with, as it is written; "" for another.
func schemeBefore(text string) string {
	for _, scheme := range []string{"https", "http"} {
		if n := len(text) - len(scheme); n >= 0 && strings.EqualFold(text[n:], scheme) {
			return text[n:]
		}
	}
	return ""
}

// What a document that is too large is of.
const (
	kindText  = "text"
	kindParts = "parts"
)

// sizes is the finder of use size.
type sizes struct{ Size }

// makeSize makes guards that bound messages and artifacts.
func makeSize(g *Guard, _ *Options) (finder, []error) {
	switch {
	case g.Size == Size{}:
		return nil, []error{keypath.At(errors.New("text or parts is missing: any size would do"), "size")}
	case g.Size.Text < 0 || g.Size.Parts < 0:
		return nil, []error{keypath.At(errors.New("a bound is negative"), "size")}
	}
	return sizes{g.Size}, nil
}

// find counts by message and artifact.
func (s sizes) find(_ context.Context, c *Content) (list []place, _ error) {
	bytes := map[int]int64{}
	for _, t := range c.Texts {
		bytes[t.Of] += int64(len(t.Value))
	}
	for _, p := range c.Parts {
		if s.Text > 0 && bytes[p.Of] > int64(s.Text) {
			list = append(list, place{detect.Finding{Kind: kindText}, -1, -1, p.Of, p.Old})
		}
		if s.Parts > 0 && p.Count > s.Parts {
			list = append(list, place{detect.Finding{Kind: kindParts}, -1, -1, p.Of, p.Old})
		}
	}
	return list, nil
}

// kindSchema is what data is that breaks a schema.
const kindSchema = "schema"

// shapes is the finder of use schema.
type shapes struct{ schema *schema.Schema }

// makeSchema makes guards that hold data to a schema.
func makeSchema(g *Guard, _ *Options) (finder, []error) {
	if g.Schema.IsZero() {
		return nil, []error{keypath.At(errNone, "schema")}
	}
	compiled, err := schema.Compile(g.Schema)
	if err != nil {
		return nil, []error{keypath.At(err, "schema")}
	}
	return shapes{compiled}, nil
}

// find holds the data of each part to the schema.
func (s shapes) find(_ context.Context, c *Content) (list []place, _ error) {
	for _, d := range c.Data {
		if s.schema.Check(d.Value) != nil {
			list = append(list, place{detect.Finding{Kind: kindSchema}, -1, d.Part, d.Of, d.Old})
		}
	}
	return list, nil
}
