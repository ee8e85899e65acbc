package api

import (
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
)

// TestQueries: each parameter is known, there once, and as its row says.
func TestQueries(t *testing.T) {
	t.Parallel()
	op := Operation{Pages: true, Params: []Param{
		{Name: "state", Text: "which", Required: true, Values: []string{"dead", "waiting"}}, {Name: "top", Text: "how many", Least: 1, Most: 5},
	}}
	for query, want := range map[string]string{
		"state=dead&top=5&limit=1000&cursor=x": "",
		"":                                     "state is missing: it says which",
		"state=":                               "state is missing: it says which",
		"state=dead&state=dead":                "state is there more than once",
		"state=gone":                           "state must be dead or waiting",
		"state=dead&top=6":                     "top must be a number from 1 to 5",
		"state=dead&limit=1001":                "limit must be a number from 1 to 1000",
		"state=dead&stat=dead":                 `the query holds an unknown parameter, did you mean "state"?`,
		"state=dead&secret=1":                  "the query holds an unknown parameter; this operation takes state, top, cursor, limit",
		"state=dead;top=1":                     "the query is malformed",
	} {
		c := &Call{Request: httptest.NewRequest("GET", "/?"+query, nil), Operation: &op}
		err := c.Read()
		if err != nil && err.Error() != want || err == nil && want != "" {
			t.Errorf("%s: %v, want %q", query, err, want)
		}
	}
}

// TestCursors: a page begins behind the item that the one before ended with.
func TestCursors(t *testing.T) {
	t.Parallel()
	op := Operation{Pages: true}
	page := func(query string) (string, int, error) {
		c := &Call{Request: httptest.NewRequest("GET", "/?"+query, nil), Operation: &op}
		if err := c.Read(); err != nil {
			t.Fatal(err)
		}
		return c.Page()
	}
	if after, limit, err := page("limit=7&cursor=" + new(Call).Cursor("a b")); after != "a b" || limit != 7 || err != nil {
		t.Errorf("%q, %d, %v", after, limit, err)
	}
	if after, limit, err := page(""); after != "" || limit != 100 || err != nil {
		t.Errorf("%q, %d, %v", after, limit, err)
	}
	if _, _, err := page("cursor=x"); err == nil || !strings.HasPrefix(err.Error(), "cursor is none") {
		t.Error(err)
	}
}

// TestCodes: an operation says how it may be refused, by what it takes and does.
func TestCodes(t *testing.T) {
	t.Parallel()
	op := Operation{Writes: true, In: reflect.TypeFor[string](), Errors: []Code{NoAgent}}
	if want := []Code{invalidParameter, Unrecorded, contentType, tooLarge, NoAgent}; !reflect.DeepEqual(op.Codes(), want) {
		t.Errorf("%v, want %v", op.Codes(), want)
	}
}

// TestRolesOfScreens: a screen is for whoever may do the least of it.
func TestRolesOfScreens(t *testing.T) {
	t.Parallel()
	for want, roles := range map[Role][]Role{Operator: {Admin, Operator}, Viewer: {Viewer, Admin}, "": {Viewer, ""}, Admin: {Admin}} {
		var s Screen
		for _, r := range roles {
			s.Operations = append(s.Operations, Operation{Role: r})
		}
		if got := s.Role(); got != want {
			t.Errorf("%q of %q", got, roles)
		}
	}
}
