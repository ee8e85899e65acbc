package card

import "github.com/go-json-experiment/json/jsontext"

// maxSchema bounds a schema of a skill, in bytes: what calls are checked against
// has to be small. Schemas in the field have a few hundred.
const maxSchema = 64 << 10

// Skill is an entry of the card's skills.
type Skill struct {
	ID          string // never empty
	Name        string // the id where the card has none
	Description string
	Tags        []string

	// Input and Output are JSON Schemas of the data that the skill takes and
	// returns, as the card has them; nil for none. No version of A2A defines where
	// a card keeps them. They are JSON objects of at most 64 KiB, but
	// whether they are schemas is for the reader to find out.
	Input  []byte
	Output []byte

	// InputModes and OutputModes are media types, in the agent's words; nil where the
	// card's own count.
	InputModes  []string
	OutputModes []string

	// Scopes are what the skill's own security requirements ask of an OAuth2 or OpenID
	// Connect token: alternatives, each a sorted list of scopes that go together. Nil for
	// none.
	Scopes [][]string
}

// readSkills leaves out what policy could not name: a skill without an id, and
// the second skill under one id, which could otherwise borrow the first one's
// permissions.
func (c *Card) readSkills() {
	seen := make(map[string]bool)
	schemes := readTokens(c.top)
	for _, v := range elements(c.top.find("skills")) {
		entry := members(v)
		id := entry.text("id")
		if id == "" || seen[id] {
			continue
		}
		seen[id] = true
		s := Skill{ID: id, Name: entry.text("name"), Description: entry.text("description")}
		if s.Name == "" {
			s.Name = id
		}
		s.Tags = texts(entry.find("tags"))
		s.Input = schema(entry, "inputSchema", "input")
		s.Output = schema(entry, "outputSchema", "output")
		s.InputModes = texts(entry.find("inputModes"))
		s.OutputModes = texts(entry.find("outputModes"))
		s.Scopes = schemes.scopes(entry)
		c.Skills = append(c.Skills, s)
		c.skills = append(c.skills, entry)
	}
}

// schema finds one of a skill's schemas. Agents took the name from MCP's tools
// and put it into the skill, or into a member schema of it, there also under the
// short name. A member schema that is itself a schema says of neither direction
// that it is meant, and is not read.
func schema(skill object, name, short string) jsontext.Value {
	inside := members(skill.find("schema"))
	for _, v := range [...]jsontext.Value{skill.find(name), inside.find(name), inside.find(short)} {
		if v.Kind() == '{' && len(v) <= maxSchema {
			return v
		}
	}
	return nil
}
