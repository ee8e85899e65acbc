package catalog

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Query is what of a catalog is asked for: agents that have everything named.
//
// The zero Query asks for all agents.
type Query struct {
	Skills     []string // ids
	Tags       []string // of skills, in lower case
	Extensions []string // URIs
	Words      []string // in lower case; anywhere in what is said of the agent and its skills
	Limit      int      // of agents; 0 for what the document has by itself
	After      string   // the id behind which the page begins
}

// Error says what is wrong with a query, in words for who asked.
type Error string

// Error implements error.
func (e Error) Error() string { return string(e) }

// The parameters of a query.
const (
	paramSkill     = "skill"
	paramTag       = "tag"
	paramExtension = "extension"
	paramText      = "q"
	paramLimit     = "limit"
	paramAfter     = "after"
)

// Parse reads the query of a URL. What is misspelt, doubled or empty is an Error: it must
// not become a wider question than was meant.
//
// The number of terms is bounded, since each is looked for in each agent.
func Parse(raw string, c Config) (Query, error) {
	var q Query
	if raw == "" {
		return q, nil
	}
	values, err := url.ParseQuery(raw)
	if err != nil {
		return q, Error("the query is malformed")
	}
	for name, list := range values {
		if err := q.take(name, list, c); err != nil {
			return Query{}, err
		}
	}
	if n := len(q.Skills) + len(q.Tags) + len(q.Extensions) + len(q.Words); n > c.Terms {
		return Query{}, Error(fmt.Sprintf("a query searches for at most %d things (catalog.terms)", c.Terms))
	}
	return q, nil
}

// take reads one parameter, of which those that search may come again.
func (q *Query) take(name string, list []string, c Config) error {
	for _, value := range list {
		if strings.TrimSpace(value) == "" {
			return Error(name + " is empty")
		}
	}
	switch name {
	case paramSkill:
		q.Skills = list
	case paramTag:
		q.Tags = lower(list)
	case paramExtension:
		q.Extensions = list
	case paramText:
		for _, text := range list {
			q.Words = append(q.Words, strings.Fields(strings.ToLower(text))...)
		}
	case paramLimit, paramAfter:
		if len(list) > 1 {
			return Error(name + " is there more than once")
		}
		if name == paramAfter {
			q.After = list[0]
			return nil
		}
		n, err := strconv.Atoi(list[0])
		if err != nil || n < 1 || n > c.LongestPage {
			return Error(fmt.Sprintf("limit must be a number from 1 to %d (catalog.longestPage)", c.LongestPage))
		}
		q.Limit = n
	default:
		return Error("skill, tag, extension, q, limit and after are all the parameters there are")
	}
	return nil
}

// lower gives the texts in lower case, in a list of its own.
func lower(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = strings.ToLower(s)
	}
	return out
}

// Encode is the query as the part of a URL behind the question mark.
//
// Parameters are sorted by name, so that the same question has the same URL for caches.
func (q Query) Encode() string {
	values := url.Values{}
	add := func(name string, list []string) {
		if len(list) > 0 {
			values[name] = list
		}
	}
	add(paramSkill, q.Skills)
	add(paramTag, q.Tags)
	add(paramExtension, q.Extensions)
	if len(q.Words) > 0 {
		values.Set(paramText, strings.Join(q.Words, " "))
	}
	if q.Limit > 0 {
		values.Set(paramLimit, strconv.Itoa(q.Limit))
	}
	if q.After != "" {
		values.Set(paramAfter, q.After)
	}
	return values.Encode()
}

// all reports whether nothing is searched for.
func (q *Query) all() bool {
	return len(q.Skills)+len(q.Tags)+len(q.Extensions)+len(q.Words) == 0
}

// fits reports whether an agent has everything that is asked for.
//
// Tags and words are in lower case on both sides.
func (q *Query) fits(e *Entry) bool {
	for _, id := range q.Skills {
		if !slices.ContainsFunc(e.about.Skills, func(s Skill) bool { return s.ID == id }) {
			return false
		}
	}
	for _, uri := range q.Extensions {
		if !slices.ContainsFunc(e.about.Extensions, func(x Extension) bool { return x.URI == uri }) {
			return false
		}
	}
	for _, tag := range q.Tags {
		if !slices.Contains(e.tags, tag) {
			return false
		}
	}
	for _, word := range q.Words {
		if !strings.Contains(e.text, word) {
			return false
		}
	}
	return true
}
