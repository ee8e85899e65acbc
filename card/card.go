package card

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// MaxSize is the largest card that is read, in bytes.
const MaxSize = 1 << 20

// maxEntries bounds a card's interfaces, and its extensions: both are compared
// with each other and on every call. Cards in the field have a handful.
const maxEntries = 256

// defaultMode is what 0.1 means where a card lists no media types.
const defaultMode = "text/plain"

// Errors that Parse and Fetch wrap.
var (
	ErrNotCard  = errors.New("not an agent card")    // not JSON, not an object, or without a name
	ErrTooLarge = errors.New("agent card too large") // in bytes, or in interfaces or extensions
)

// Card is what an agent says about itself. It is immutable: neither the fields
// nor what they point to may be changed.
type Card struct {
	Name        string
	Description string
	Version     string // the agent's own version, not the protocol's

	// Protocol is the protocolVersion at the top of the card, as precise as it is
	// written there ("0.2.4"), "" if it is absent or unknown. See Predates.
	Protocol string

	Versions   []wire.Version // protocol versions of Interfaces, newest first
	Interfaces []Interface    // in the agent's order of preference, without repeats
	Skills     []Skill        // in the agent's order; those without an id, and repeats of one, are left out
	Extensions []ext.Declared // well-formed URIs only

	// DefaultInputModes and DefaultOutputModes are media types, in the agent's words. They
	// are never empty: where the card has none, capabilities.interactionModes stand in,
	// which cards of before 0.2 have for both, else text/plain, as 0.1 has it.
	DefaultInputModes  []string
	DefaultOutputModes []string

	Streaming bool // capabilities.streaming
	Push      bool // capabilities.pushNotifications
	Extended  bool // an extended card exists, in whichever version's words

	Raw    []byte // the document as received
	Digest string // SHA-256 of Raw, lower-case hex

	top        object   // members of the document
	caps       object   // members of capabilities
	skills     []object // parallel to Skills
	extensions map[string]object
	source     string // URL it was fetched from, "" when parsed from a file

	rendered renderings
}

// Interface is one way to reach the agent.
type Interface struct {
	URL     string // as the card has it; Endpoints tells whether it may be used
	Binding wire.Binding
	Version wire.Version
	Tenant  string // to be put into every request on this interface (1.0 only)
}

// Parse reads a card of any version, and the mixtures and near-misses of them
// that agents serve: Protobuf and OpenAPI forms of security objects in any
// combination, nulls, empty strings, snake_case names, unknown members. Members
// of an unexpected type count as absent. The error wraps ErrTooLarge or
// ErrNotCard and says what the document is instead.
func Parse(raw []byte) (*Card, error) {
	if len(raw) > MaxSize {
		return nil, fmt.Errorf("parse card: %w: %d bytes, at most %d", ErrTooLarge, len(raw), MaxSize)
	}
	doc := bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")) // some servers read the card from a file with a BOM
	if err := recognise(doc); err != nil {
		return nil, fmt.Errorf("parse card: %w: %w", ErrNotCard, err)
	}
	c := &Card{Raw: raw, top: members(doc)}
	c.Name = c.top.text("name")
	if c.Name == "" {
		return nil, fmt.Errorf("parse card: %w: it has no name", ErrNotCard)
	}
	if err := c.bounded(); err != nil {
		return nil, fmt.Errorf("parse card: %w", err)
	}
	sum := sha256.Sum256(raw)
	c.Digest = hex.EncodeToString(sum[:])
	c.Description = c.top.text("description")
	c.Version = c.top.text("version")
	if _, ok := wire.ParseVersion(c.top.text("protocolVersion")); ok {
		c.Protocol = strings.TrimSpace(c.top.text("protocolVersion"))
	}
	c.readCapabilities()
	c.DefaultInputModes = c.defaultModes("defaultInputModes")
	c.DefaultOutputModes = c.defaultModes("defaultOutputModes")
	c.readSkills()
	c.Interfaces = readInterfaces(c.top)
	c.Versions = versions(c.Interfaces)
	return c, nil
}

// recognise tells a card from what servers send in its place.
func recognise(doc []byte) error {
	trimmed := bytes.TrimLeft(doc, " \t\r\n")
	switch {
	case len(trimmed) == 0:
		return errors.New("the document is empty")
	case trimmed[0] == '<':
		return errors.New("it looks like HTML or XML")
	case trimmed[0] == '[':
		return errors.New("it is a JSON array, not an object")
	case trimmed[0] != '{':
		return errors.New("it is not a JSON object")
	}
	return check(doc)
}

// bounded refuses what would make every later look at the card expensive.
func (c *Card) bounded() error {
	for _, list := range []struct {
		name  string
		count int
	}{
		{"interfaces", len(elements(c.top.find("supportedInterfaces"))) +
			len(elements(c.top.find("additionalInterfaces")))},
		{"extensions", len(elements(members(c.top.find("capabilities")).find("extensions")))},
	} {
		if list.count > maxEntries {
			return fmt.Errorf("%w: %d %s, at most %d", ErrTooLarge, list.count, list.name, maxEntries)
		}
	}
	return nil
}

// readCapabilities reads capabilities and the places where older versions kept
// the extended card's flag. Appendix A of the 0.3 text names a fourth spelling.
func (c *Card) readCapabilities() {
	c.caps = members(c.top.find("capabilities"))
	c.Streaming = c.caps.flag("streaming")
	c.Push = c.caps.flag("pushNotifications")
	c.Extended = c.caps.flag("extendedAgentCard") ||
		c.top.flag("supportsAuthenticatedExtendedCard") || c.top.flag("supportsExtendedAgentCard")
	c.extensions = make(map[string]object)
	for _, v := range elements(c.caps.find("extensions")) {
		entry := members(v)
		uri := entry.text("uri")
		if ext.CheckURI(uri) != nil || c.extensions[uri] != nil {
			continue // no client could activate it, or it is a repeat
		}
		c.extensions[uri] = entry
		c.Extensions = append(c.Extensions, ext.Declared{
			URI:         uri,
			Required:    entry.flag("required"),
			Params:      entry.find("params"),
			Description: entry.text("description"),
		})
	}
}

// defaultModes reads one of the card's lists of media types.
func (c *Card) defaultModes(name string) []string {
	if list := texts(c.top.find(name)); list != nil {
		return list
	}
	if list := texts(c.caps.find("interactionModes")); list != nil {
		return list
	}
	return []string{defaultMode}
}

// versions lists the versions that occur, newest first.
func versions(list []Interface) []wire.Version {
	var out []wire.Version
	for _, v := range [...]wire.Version{wire.V10, wire.V03, wire.V01} {
		if slices.ContainsFunc(list, func(i Interface) bool { return i.Version == v }) {
			out = append(out, v)
		}
	}
	return out
}
