package catalog

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// About is what a catalog says of an agent to one reader, and an element of agents in
// GET /agents.
type About struct {
	ID            string      `json:"id"`
	Name          string      `json:"name"`
	Description   string      `json:"description"`
	Version       string      `json:"version,omitzero"` // the agent's own, not the protocol's
	URL           string      `json:"url"`              // of the agent at the gateway
	Card          string      `json:"card"`
	Documentation string      `json:"documentationUrl,omitzero"`
	Streaming     bool        `json:"streaming"`
	Push          bool        `json:"pushNotifications"`
	Extensions    []Extension `json:"extensions"`
	Skills        []Skill     `json:"skills"`
}

// Skill is a skill that the reader may use.
type Skill struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
	Card        string   `json:"card,omitzero"` // of the agent with this skill alone
}

// Extension is one that the agent's card offers to the reader.
type Extension struct {
	URI      string `json:"uri"`
	Required bool   `json:"required"`
}

// Entry is an agent in the form of every document. It is immutable.
type Entry struct {
	about About
	tags  []string // of its skills, in lower case
	text  string   // all that is said, in lower case

	own     jsontext.Value // in GET /agents
	item    jsontext.Value // in the linkset, as one of the catalog's items
	context jsontext.Value // in the linkset, with the links that begin at the agent
	ai      jsontext.Value // in the AI catalog
}

// link is a target of a linkset (RFC 9264 §4.2.3).
type link struct {
	Href  string `json:"href"`
	Type  string `json:"type,omitzero"`
	Title string `json:"title,omitzero"`
}

// anchored are links that begin at an agent (RFC 8631).
type anchored struct {
	Anchor string `json:"anchor"`
	Desc   []link `json:"service-desc"`
	Doc    []link `json:"service-doc,omitempty"`
}

// aiEntry is an entry of an AI catalog. Name, description and version are left to the
// card, which has them, as the specification wants it. The gateway does not publish the
// agents, so that what identifies them is its own URL, not a urn:air.
type aiEntry struct {
	Identifier string   `json:"identifier"`
	Type       string   `json:"type"`
	URL        string   `json:"url"`
	Tags       []string `json:"tags,omitempty"`
}

// Media types of what entries lead to.
const (
	typeCard    = "application/json"
	typeAICard  = "application/a2a-agent-card+json"
	typeCatalog = "application/ai-catalog+json"
)

// NewEntry writes an agent down.
//
// The search text has all that is said in lower case, joined by line breaks, so that no word
// spans two of them. An error is one of encoding/json and does not occur with texts of cards,
// whose invalid UTF-8 is replaced.
func NewEntry(a About) (*Entry, error) {
	e := &Entry{about: a}
	var said, tags []string
	said = append(said, a.ID, a.Name, a.Description)
	for i := range a.Skills {
		s := &a.Skills[i]
		said = append(append(said, s.ID, s.Name, s.Description), s.Tags...)
		for _, tag := range s.Tags {
			e.tags = append(e.tags, strings.ToLower(tag))
			if !slices.Contains(tags, tag) {
				tags = append(tags, tag)
			}
		}
	}
	e.text = strings.ToLower(strings.Join(said, "\n"))
	links := anchored{Anchor: a.URL, Desc: []link{{Href: a.Card, Type: typeCard, Title: a.Name}}}
	if a.Documentation != "" {
		links.Doc = []link{{Href: a.Documentation}}
	}
	for _, form := range []struct {
		into *jsontext.Value
		of   any
	}{
		{&e.own, &a},
		{&e.item, link{Href: a.URL, Title: a.Name}},
		{&e.context, links},
		{&e.ai, aiEntry{Identifier: a.URL, Type: typeAICard, URL: a.Card, Tags: tags}},
	} {
		text, err := json.Marshal(form.of, jsontext.AllowInvalidUTF8(true))
		if err != nil {
			return nil, err
		}
		*form.into = text
	}
	return e, nil
}
