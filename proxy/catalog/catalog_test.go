package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// agent is one with a skill of its own beside one that all have.
func agent(t testing.TB, id string, change ...func(*About)) *Entry {
	t.Helper()
	a := About{
		ID: id, Name: strings.ToUpper(id), Description: "Says \"" + id + "\".", URL: "https://gw.example/agents/" + id,
		Card:       "https://gw.example/agents/" + id + "/card",
		Extensions: []Extension{{URI: "urn:all"}, {URI: "urn:" + id, Required: true}},
		Skills: []Skill{
			{ID: "talk", Name: "Talk", Description: "Talks.", Tags: []string{"Speech"}},
			{ID: id + "-only", Name: "Other", Description: "Something else.", Tags: []string{}},
		},
	}
	for _, f := range change {
		f(&a)
	}
	e, err := NewEntry(a)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func documents(change ...func(*Config)) *Documents {
	d := &Documents{Base: "https://gw.example", Host: "Example"}
	for _, f := range change {
		f(&d.Config)
	}
	d.Config.Defaults()
	return d
}

// indented is a document for people.
func indented(t *testing.T, body []byte) string {
	t.Helper()
	v := jsontext.Value(body)
	if err := v.Indent(jsontext.WithIndent("  ")); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return string(v)
}

func TestDocuments(t *testing.T) {
	t.Parallel()
	list := NewList([]*Entry{
		agent(t, "b", func(a *About) {
			a.Extensions, a.Skills, a.Documentation = []Extension{}, []Skill{}, "https://docs.example/b"
		}),
		agent(t, "a"), agent(t, "c"),
	})
	d := documents(func(c *Config) { c.Page, c.LongestPage = 1, 2 })
	for _, tt := range []struct {
		form       *Form
		want, next string
	}{
		{&Own, `{
  "agents": [
    {
      "id": "a",
      "name": "A",
      "description": "Says \"a\".",
      "url": "https://gw.example/agents/a",
      "card": "https://gw.example/agents/a/card",
      "streaming": false,
      "pushNotifications": false,
      "extensions": [
        {
          "uri": "urn:all",
          "required": false
        },
        {
          "uri": "urn:a",
          "required": true
        }
      ],
      "skills": [
        {
          "id": "talk",
          "name": "Talk",
          "description": "Talks.",
          "tags": [
            "Speech"
          ]
        },
        {
          "id": "a-only",
          "name": "Other",
          "description": "Something else.",
          "tags": []
        }
      ]
    }
  ],
  "total": 3,
  "next": "https://gw.example/agents?after=a"
}`, "https://gw.example/agents?after=a"},
		{&Linkset, `{
  "linkset": [
    {
      "anchor": "https://gw.example/.well-known/api-catalog",
      "item": [
        {
          "href": "https://gw.example/agents/a",
          "title": "A"
        },
        {
          "href": "https://gw.example/agents/b",
          "title": "B"
        }
      ],
      "next": [
        {
          "href": "https://gw.example/.well-known/api-catalog?after=b",
          "type": "application/linkset+json"
        }
      ]
    },
    {
      "anchor": "https://gw.example/agents/a",
      "service-desc": [
        {
          "href": "https://gw.example/agents/a/card",
          "type": "application/json",
          "title": "A"
        }
      ]
    },
    {
      "anchor": "https://gw.example/agents/b",
      "service-desc": [
        {
          "href": "https://gw.example/agents/b/card",
          "type": "application/json",
          "title": "B"
        }
      ],
      "service-doc": [
        {
          "href": "https://docs.example/b"
        }
      ]
    }
  ]
}`, "https://gw.example/.well-known/api-catalog?after=b"},
		{&AI, `{
  "specVersion": "1.0",
  "host": {
    "displayName": "Example"
  },
  "entries": [
    {
      "identifier": "https://gw.example/agents/a",
      "type": "application/a2a-agent-card+json",
      "url": "https://gw.example/agents/a/card",
      "tags": [
        "Speech"
      ]
    },
    {
      "identifier": "https://gw.example/agents/b",
      "type": "application/a2a-agent-card+json",
      "url": "https://gw.example/agents/b/card"
    },
    {
      "identifier": "https://gw.example/.well-known/ai-catalog.json?after=b",
      "type": "application/ai-catalog+json",
      "url": "https://gw.example/.well-known/ai-catalog.json?after=b"
    }
  ]
}`, "https://gw.example/.well-known/ai-catalog.json?after=b"},
	} {
		body, next := d.Write(tt.form, list, Query{})
		if diff := cmp.Diff(tt.want, indented(t, body)); diff != "" || next != tt.next {
			t.Errorf("%s: next %q (-want +got):\n%s", tt.form.Path, next, diff)
		}
	}
}

// Nothing to list is a document as well.
func TestEmpty(t *testing.T) {
	t.Parallel()
	for form, want := range map[*Form]string{
		&Own:     `{"agents":[],"total":0}`,
		&Linkset: `{"linkset":[{"anchor":"https://gw.example/.well-known/api-catalog"}]}`,
		&AI:      `{"specVersion":"1.0","host":{"displayName":"Example"},"entries":[]}`,
	} {
		if body, next := documents().Write(form, nil, Query{}); string(body) != want || next != "" {
			t.Errorf("%s: %s, next %q", form.Path, body, next)
		}
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	list := NewList([]*Entry{agent(t, "alpha"), agent(t, "beta"), agent(t, "gamma", func(a *About) { a.Skills = nil })})
	for query, want := range map[string]string{
		"":                                     "alpha beta gamma",
		"skill=talk":                           "alpha beta",
		"skill=Talk":                           "",
		"skill=talk&skill=beta-only":           "beta",
		"skill=beta-only&skill=alpha-only":     "",
		"tag=speech":                           "alpha beta",
		"tag=SPEECH":                           "alpha beta",
		"tag=spee":                             "",
		"extension=urn:all":                    "alpha beta gamma",
		"extension=urn:gamma":                  "gamma",
		"extension=urn:":                       "",
		"q=SAYS":                               "alpha beta gamma",
		"q=talks":                              "alpha beta",
		"q=something+amm":                      "",
		"q=something+alph":                     "alpha",
		"q=%20else%20%20BETA%20":               "beta",
		"skill=talk&extension=urn:beta&q=says": "beta",
		"after=alpha":                          "beta gamma",
		"after=alphabet":                       "beta gamma",
		"after=zeta":                           "",
		"limit=1&after=beta":                   "gamma",
		"limit=2":                              "alpha beta",
	} {
		d := documents()
		q, err := Parse(query, d.Config)
		if err != nil {
			t.Errorf("%q: %v", query, err)
			continue
		}
		if got := strings.Join(ids(t, d, list, q), " "); got != want {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
}

// ids are the agents on one page.
func ids(t testing.TB, d *Documents, l List, q Query) []string {
	t.Helper()
	body, _ := d.Write(&Own, l, q)
	var got struct {
		Agents []About `json:"agents"`
	}
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatal(err, string(body))
	}
	var list []string
	for i := range got.Agents {
		list = append(list, got.Agents[i].ID)
	}
	return list
}

func TestQueries(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"skil=talk":            "all the parameters there are",
		"Skill=talk":           "all the parameters there are",
		"skill=":               "skill is empty",
		"skill=a&skill=":       "skill is empty",
		"q=%20":                "q is empty",
		"tag":                  "tag is empty",
		"limit=0":              "limit must be a number from 1 to 50 (catalog.longestPage)",
		"limit=51":             "limit must be",
		"limit=-1":             "limit must be",
		"limit=1e1":            "limit must be",
		"limit=1&limit=2":      "limit is there more than once",
		"after=a&after=b":      "after is there more than once",
		"q=%zz":                "malformed",
		"q=a;b":                "malformed",
		"q=a+b+c":              "",
		"q=a+b+c+d":            "at most 3 things (catalog.terms)",
		"q=a+b&skill=c&tag=d":  "at most 3 things",
		"limit=50&after=a&q=b": "",
	} {
		q, err := Parse(query, documents(func(c *Config) { c.LongestPage, c.Terms = 50, 3 }).Config)
		switch {
		case want == "" && err != nil:
			t.Errorf("%q: %v", query, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !cmp.Equal(q, Query{})):
			t.Errorf("%q: %v with %v, want %s", query, err, q, want)
		}
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]Config{
		"":                             {},
		"access: \"all\" is none of":   {Access: "all"},
		"page: want 1 to longestPage":  {Page: 11, LongestPage: 10},
		"longestPage: want 1 to 10000": {LongestPage: 10_001},
		"terms: want 1 to 64":          {Terms: -1},
		"name: longer than":            {Name: strings.Repeat("x", 201)},
	} {
		c.Defaults()
		if err := c.Validate(); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%+v: %v, want %q", c, err, want)
		}
	}
	c := Config{Page: 5000}
	if c.Defaults(); c.Validate() != nil || c.LongestPage != 5000 {
		t.Errorf("%+v", c)
	}
}

// TestPages: whoever follows the pages is told of every agent that fits, once, in order,
// also where agents come and go between two pages.
func TestPages(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		var entries []*Entry
		var want []string
		for n := range rapid.IntRange(0, 30).Draw(r, "agents") {
			id := fmt.Sprintf("a%02d", n)
			entries = append(entries, agent(t, id, func(a *About) {
				if n%3 == 0 {
					a.Skills = nil
				}
			}))
			if n%3 != 0 {
				want = append(want, id)
			}
		}
		list := NewList(rapid.Permutation(entries).Draw(r, "order"))
		d := documents(func(c *Config) { c.LongestPage = 40 })
		q := Query{Skills: []string{"talk"}, Limit: rapid.IntRange(1, 40).Draw(r, "limit")}
		var got []string
		for {
			page, total, after := list.find(&q, q.Limit)
			if total != len(want) || len(page) > q.Limit {
				r.Fatalf("%d of %d on a page of %d", len(page), total, q.Limit)
			}
			got = append(got, ids(t, d, list, q)...)
			if q.After = after; after == "" {
				break
			}
			gone := rapid.IntRange(0, len(list)-1).Draw(r, "gone")
			if id := list[gone].about.ID; id <= after { // one that has been told of
				if i := slices.Index(want, id); i >= 0 {
					list = slices.Delete(slices.Clone(list), gone, gone+1)
					want = slices.Delete(want, i, i+1)
					got = slices.DeleteFunc(got, func(g string) bool { return g == id })
				}
			}
		}
		if !slices.Equal(got, want) {
			r.Fatalf("%v, want %v", got, want)
		}
	})
}

// FuzzParse: what is read can be written down, and read again as the same.
func FuzzParse(f *testing.F) {
	for _, query := range []string{
		"", "skill=a&tag=B&extension=urn:x&q=two+words&limit=7&after=billing", "q=%00%ff", "limit=9999", "q=İ", "skill=a&skill=b",
		"&&", "q=a;b", "after=%2e%2e", "x=1",
	} {
		f.Add(query)
	}
	c := documents().Config
	f.Fuzz(func(t *testing.T, raw string) {
		q, err := Parse(raw, c)
		if err != nil {
			return
		}
		again, err := Parse(q.Encode(), c)
		if err != nil || !cmp.Equal(q, again) {
			t.Errorf("%q is %+v, written %q, and read again %+v (%v)", raw, q, q.Encode(), again, err)
		}
		if n := len(q.Skills) + len(q.Tags) + len(q.Extensions) + len(q.Words); n > c.Terms || q.Limit > c.LongestPage {
			t.Errorf("%q is beyond the limits: %+v", raw, q)
		}
		body, _ := documents().Write(&Own, NewList([]*Entry{agent(t, "a")}), q)
		if !jsontext.Value(body).IsValid() {
			t.Errorf("%q: %s", raw, body)
		}
	})
}
