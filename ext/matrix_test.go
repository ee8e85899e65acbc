package ext_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/a2a-gateway/a2a-gateway/ext"
)

// cell is what holds for one extension in a cell of the matrix.
type cell struct {
	requested, declared, marked, allowed, denied, required, injected, provided bool
}

// cells are all that there are.
func cells() []cell {
	var all []cell
	for bits := range 1 << 8 {
		is := func(i int) bool { return bits>>i&1 == 1 }
		c := cell{is(0), is(1), is(2), is(3), is(4), is(5), is(6), is(7)}
		if c.marked && !c.declared {
			continue
		}
		all = append(all, c)
	}
	return all
}

// variants are the ways in which the first extension may depend on the second.
var variants = []struct{ name, dependencies string }{
	{"independent", ""}, {"dependent, refused", "refuse"}, {"dependent, closed", "close"},
}

// TestNegotiateMatrix runs every combination of requested, declared, marked as
// required, allowed, denied, required by the operator, injected and provided for two
// extensions, and compares with the rules written out one by one.
func TestNegotiateMatrix(t *testing.T) {
	t.Parallel()
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			var book *ext.Book
			if v.dependencies != "" {
				book = compiled(t, ext.Registry{{
					URI: uriA, Dependencies: ext.Dependencies{Required: []string{uriB}},
				}})
			}
			for _, a := range cells() {
				for _, b := range cells() {
					q := question(a, b)
					q.Config.Dependencies = v.dependencies
					want, missing := expected(v.dependencies, a, b)
					got, err := book.Negotiate(q)
					if diff := diffOutcome(want, missing, got, err); diff != "" {
						t.Fatalf("%+v\n%+v\n%s", a, b, diff)
					}
					if diff := cardDiffers(book, q); diff != "" {
						t.Fatalf("%+v\n%+v\n%s", a, b, diff)
					}
				}
			}
		})
	}
}

func question(a, b cell) *ext.Question {
	q := &ext.Question{Config: &ext.Config{}}
	for i, c := range []cell{a, b} {
		uri := []string{uriA, uriB}[i]
		add := func(list *[]string, yes bool) {
			if yes {
				*list = append(*list, uri)
			}
		}
		add((*[]string)(&q.Requested), c.requested)
		add(&q.Config.Allow, c.allowed)
		add(&q.Config.Deny, c.denied)
		add(&q.Config.Require, c.required)
		add(&q.Config.Inject, c.injected)
		add(&q.Config.Provide, c.provided)
		if c.declared {
			q.Declared = append(q.Declared, ext.Declared{URI: uri, Required: c.marked})
		}
	}
	return q
}

// expected is the outcome by the book of rules: a may depend on b.
func expected(dependencies string, a, b cell) (ext.Outcome, []string) {
	depends, refuse := dependencies != "", dependencies == "refuse"
	listed := a.allowed || b.allowed
	permitted := func(c cell) bool {
		return !c.denied && (!listed || c.allowed || c.required || c.injected || c.provided)
	}
	possible := func(c cell) bool {
		return permitted(c) && (c.declared || c.required || c.injected || c.provided)
	}
	must := func(c cell) bool { return permitted(c) && (c.required || c.marked) }
	okB := possible(b)
	okA := possible(a) && (!depends || must(a) || okB)
	freeA := okA && a.injected
	freeB := okB && (b.injected || depends && freeA)
	calledFor := depends && refuse && okB && !freeA

	var missing []string
	if must(a) && !freeA && !a.requested {
		missing = append(missing, uriA)
	}
	if !freeB && !b.requested && (must(b) || calledFor && (must(a) || okA && a.requested)) {
		missing = append(missing, uriB)
	}
	if missing != nil {
		return ext.Outcome{}, missing
	}
	onA := okA && (a.requested || freeA)
	onB := okB && (b.requested || freeB || depends && !refuse && onA)
	var out ext.Outcome
	settle := func(uri string, c cell, on, required, known bool) {
		switch {
		case on && c.provided && !c.declared && !c.injected:
			out.Provided = append(out.Provided, uri)
		case on:
			out.Send = append(out.Send, uri)
			if c.requested {
				out.Visible = append(out.Visible, uri)
			} else {
				out.Injected = append(out.Injected, uri)
			}
			if required {
				out.Required = append(out.Required, uri)
			}
		case c.requested && !permitted(c) && (c.declared || known):
			out.Refused = append(out.Refused, uri)
		}
	}
	settle(uriA, a, onA, must(a), depends)
	settle(uriB, b, onB, must(b) || calledFor && must(a), false)
	return out, nil
}

var unordered = []cmp.Option{
	cmpopts.SortSlices(func(a, b string) bool { return a < b }), cmpopts.EquateEmpty(),
}

func diffOutcome(want ext.Outcome, missing []string, got ext.Outcome, err error) string {
	if slices.Equal(missing, missingOf(err)) && alike(want, got) {
		return "" // cmp would make the matrix slow
	}
	if diff := cmp.Diff(missing, missingOf(err), cmpopts.EquateEmpty()); diff != "" {
		return "missing (-want +got):\n" + diff
	}
	return cmp.Diff(want, got, unordered...)
}

func alike(a, b ext.Outcome) bool {
	return slices.Equal(a.Send, b.Send) && slices.Equal(a.Visible, b.Visible) &&
		slices.Equal(a.Injected, b.Injected) && slices.Equal(a.Provided, b.Provided) &&
		slices.Equal(a.Required, b.Required) && slices.Equal(a.Refused, b.Refused) &&
		slices.Equal(a.Shadow, b.Shadow)
}

// missingOf are the URIs of a *MissingError, nil for no error.
func missingOf(err error) []string {
	var missing *ext.MissingError
	if errors.As(err, &missing) {
		return missing.URIs
	}
	if err != nil {
		return []string{err.Error()}
	}
	return nil
}

// cardDiffers says how the served card tells something else than what is enforced: who
// activates everything listed gets all of it, who activates nothing is refused for
// exactly the entries marked as required, and what is not listed cannot be had.
func cardDiffers(book *ext.Book, q *ext.Question) string {
	var all, required ext.Set
	for _, d := range book.Effective(q) {
		if all.Has(d.URI) {
			return "listed twice: " + d.URI
		}
		all = append(all, d.URI)
		if d.Required {
			required = append(required, d.URI)
		}
	}
	ask := *q
	ask.Requested = nil
	_, err := book.Negotiate(&ask)
	slices.Sort(required)
	if !slices.Equal(required, missingOf(err)) {
		return fmt.Sprintf("the card requires %q, calls %q", required, missingOf(err))
	}
	ask.Requested = all
	out, err := book.Negotiate(&ask)
	if err != nil || len(out.Refused) > 0 || len(out.Send)+len(out.Provided) != len(all) {
		return fmt.Sprintf("all of the card %q gives %+v, %v", all, out, err)
	}
	for _, uri := range []string{uriA, uriB, uriC, "urn:d"} {
		if !all.Has(uri) {
			ask.Requested = append(slices.Clone(all), uri)
			out, err = book.Negotiate(&ask)
			if err != nil || out.Send.Has(uri) || out.Provided.Has(uri) {
				return fmt.Sprintf("%q is not on the card; asking for it gives %+v, %v", uri, out, err)
			}
		}
	}
	return ""
}

func compiled(t testing.TB, r ext.Registry) *ext.Book {
	t.Helper()
	book, err := r.Compile()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(book.Close)
	return book
}
