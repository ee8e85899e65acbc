package catalog

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// List is what one reader may know of. It is immutable.
type List []*Entry

// NewList puts entries in the order of their agents' ids.
func NewList(entries []*Entry) List {
	list := slices.Clone(entries)
	slices.SortFunc(list, func(a, b *Entry) int { return strings.Compare(a.about.ID, b.about.ID) })
	return list
}

// find is the page that is asked for, how many agents fit on all pages together, and
// behind which id the next page begins, "" at the end.
//
// Where nothing is searched for the page is a slice of the list itself, without a look at each
// entry.
func (l List) find(q *Query, limit int) (page []*Entry, total int, after string) {
	from, found := slices.BinarySearchFunc(l, q.After, func(e *Entry, id string) int { return strings.Compare(e.about.ID, id) })
	if found {
		from++
	}
	if q.all() {
		page = l[from:]
		if total = len(l); len(page) > limit {
			page = page[:limit]
			after = page[limit-1].about.ID
		}
		return page, total, after
	}
	for i, e := range l {
		switch {
		case !q.fits(e):
			continue
		case i < from:
		case len(page) < limit:
			page = append(page, e)
		case after == "":
			after = page[limit-1].about.ID
		}
		total++
	}
	return page, total, after
}

// Form is one of the documents.
type Form struct {
	Path string // where it is
	Type string // its media type
	long bool   // pages are as long as they may be: its readers do not expect any
	body func(b *text, page []*Entry)
}

// Documents are written for a gateway.
type Documents struct {
	Config Config
	Base   string // server.publicURL, without a slash at the end
	Host   string // what the AI catalog says of its host
}

// text is a document in the making.
type text struct {
	*Documents
	out   []byte
	total int
	next  string // URL of the next page
}

const linksetPath = "/.well-known/api-catalog"

// The documents there are.
var (
	// Own is the gateway's own form.
	Own = Form{Path: "/agents", Type: "application/json", body: (*text).own}
	// Linkset is RFC 9727's API catalog.
	Linkset = Form{
		Path: linksetPath, long: true, body: (*text).linkset,
		Type: `application/linkset+json; profile="` + Profile + `"`,
	}
	// AI is an AI catalog.
	AI = Form{Path: "/.well-known/ai-catalog.json", Type: typeCatalog, long: true, body: (*text).ai}
)

// Profile is what an API catalog says of itself.
const Profile = "https://www.rfc-editor.org/info/rfc9727"

// Write is the document that lists what of l is asked for, and the URL of the next page.
//
// next is "" for the last page. It keeps the query, so that a client can follow it without
// knowing how it is made.
func (d *Documents) Write(f *Form, l List, q Query) (body []byte, next string) {
	usual := d.Config.Page
	if f.long {
		usual = d.Config.LongestPage
	}
	page, total, after := l.find(&q, cmp.Or(q.Limit, usual))
	b := &text{Documents: d, total: total}
	if after != "" {
		q.After = after
		b.next = d.Base + f.Path + "?" + q.Encode()
	}
	f.body(b, page)
	return b.out, b.next
}

// join writes a list, of the values of entries and then of further ones.
func (b *text) join(page []*Entry, value func(*Entry) jsontext.Value, further ...jsontext.Value) {
	size := 0
	for _, e := range page {
		size += len(value(e)) + 1
	}
	b.out = append(slices.Grow(b.out, size+256), '[')
	first := true
	put := func(v jsontext.Value) {
		if !first {
			b.out = append(b.out, ',')
		}
		first = false
		b.out = append(b.out, v...)
	}
	for _, e := range page {
		put(value(e))
	}
	for _, v := range further {
		put(v)
	}
	b.out = append(b.out, ']')
}

// put appends literal JSON.
func (b *text) put(s string) { b.out = append(b.out, s...) }

// own writes the gateway's own form.
func (b *text) own(page []*Entry) {
	b.put(`{"agents":`)
	b.join(page, func(e *Entry) jsontext.Value { return e.own })
	b.put(`,"total":` + strconv.Itoa(b.total))
	if b.next != "" {
		b.put(`,"next":`)
		b.out = append(b.out, encode(b.next)...)
	}
	b.put(`}`)
}

// linkset begins with the catalog itself, whose items are the agents. A relation without
// a target is left out.
func (b *text) linkset(page []*Entry) {
	b.put(`{"linkset":[{"anchor":`)
	b.out = append(b.out, encode(b.Base+linksetPath)...)
	if len(page) > 0 {
		b.put(`,"item":`)
		b.join(page, func(e *Entry) jsontext.Value { return e.item })
	}
	if b.next != "" {
		b.put(`,"next":`)
		b.out = append(b.out, encode([]link{{Href: b.next, Type: "application/linkset+json"}})...)
	}
	b.put(`}`)
	for _, e := range page {
		b.put(`,`)
		b.out = append(b.out, e.context...)
	}
	b.put(`]}`)
}

// ai has no pages, but catalogs in catalogs: the rest is one.
func (b *text) ai(page []*Entry) {
	b.put(`{"specVersion":"1.0","host":{"displayName":`)
	b.out = append(b.out, encode(b.Host)...)
	b.put(`},"entries":`)
	var rest []jsontext.Value
	if b.next != "" {
		rest = []jsontext.Value{encode(aiEntry{Identifier: b.next, Type: typeCatalog, URL: b.next})}
	}
	b.join(page, func(e *Entry) jsontext.Value { return e.ai }, rest...)
	b.put(`}`)
}

// encode writes what always has a form in JSON.
func encode(v any) jsontext.Value {
	text, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return jsontext.Value(`null`)
	}
	return text
}
