package guard

import (
	"context"
	"errors"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/internal/detect"
	"github.com/a2a-gateway/a2a-gateway/policy/guard/service"
)

// use describes what a guard can be for: a row of uses is all that there is to add.
type use struct {
	name  string // Guard.Use
	what  string // for docs/guards.md
	key   string // the key of Guard that configures it, "" for none; that of another use is an error
	whole bool   // what it finds has no place in a text: it cannot be redacted

	// make compiles a guard. Errors have the path of their key within the guard.
	make func(g *Guard, o *Options) (finder, []error)
}

// finder finds something in a document. Any number of goroutines may use it.
type finder interface {
	find(ctx context.Context, c *Content) ([]place, error)
}

// streamer is a finder that can be asked about one text again and again as it grows: it has a place
// for all that it finds, and asks nobody.
type streamer interface {
	finder
	within(text string) []detect.Finding
}

// place is where something was found: what stands from Begin to End of a text; text is -1 for what
// is no text's.
type place struct {
	detect.Finding
	text, part int
	of         int  // which message or artifact it is in
	old        bool // which was said before
}

// inText is a place in a text of a document.
func inText(f detect.Finding, c *Content, i int) place {
	t := &c.Texts[i]
	return place{f, i, t.Part, t.Of, t.Old}
}

// uses are all there are, in the order of the documentation.
func uses() []use {
	list := []use{
		{"secrets", "credentials by their form: API keys, tokens, private keys", "kinds", false, makeDetector(detect.Secrets)},
		{"pii", "personal data that has a form: e-mail addresses, numbers with check digits", "kinds", false, makeDetector(detect.PII)},
		{"injection", "phrases that give orders to a model; whoever words them differently is not found", "", false, makeInjection},
		{"links", "URLs that name a host which they may not", "links", false, makeLinks},
		{"size", "messages and artifacts that are too large", "size", true, makeSize},
		{"schema", "data that breaks a JSON Schema", "schema", true, makeSchema},
	}
	for _, u := range service.Uses() {
		list = append(list, use{u.Name, u.What, "service", u.Whole, makeService(u.Name)})
	}
	return list
}

// useOf finds one by its name.
func useOf(name string) (use, bool) {
	list := uses()
	i := slices.IndexFunc(list, func(u use) bool { return u.name == name })
	if i < 0 {
		return use{}, false
	}
	return list[i], true
}

// setFinder is a streamer that looks for kinds of internal/detect.
type setFinder struct{ *detect.Set }

func (f setFinder) within(text string) []detect.Finding { return f.Find(nil, text) }

func (f setFinder) find(_ context.Context, c *Content) (list []place, _ error) {
	for i := range c.Texts {
		t := &c.Texts[i]
		if t.Chunk {
			continue
		}
		for _, found := range f.FindIn(nil, t.Value, t.traitsOf()) {
			list = append(list, inText(found, c, i))
		}
	}
	return list, nil
}

// textFinder is a streamer that looks at each text by itself.
type textFinder func(text string) []detect.Finding

func (f textFinder) within(text string) []detect.Finding { return f(text) }

func (f textFinder) find(_ context.Context, c *Content) (list []place, _ error) {
	for i := range c.Texts {
		if c.Texts[i].Chunk {
			continue
		}
		for _, found := range f(c.Texts[i].Value) {
			list = append(list, inText(found, c, i))
		}
	}
	return list, nil
}

// valueFinder is a textFinder that leaves the names of members out.
type valueFinder struct{ textFinder }

func (f valueFinder) find(ctx context.Context, c *Content) (list []place, _ error) {
	list, err := f.textFinder.find(ctx, c)
	return slices.DeleteFunc(list, func(p place) bool { return c.Texts[p.text].Name }), err
}

// errNone is of a key that a use needs.
var errNone = errors.New("missing")
