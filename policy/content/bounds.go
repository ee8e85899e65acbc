// Package content bounds the parts of A2A messages: their kinds (text, file, data), media
// types, the hosts of files by URL, and their number and sizes. Rules are limited to messages
// within such bounds by their key content.
//
// New compiles a Config (config.go), Bounds.Failed holds a message against the result, and
// host.go finds the host in a file's URL. The effect of a rule turns the question around: an
// allow rule asks whether every part is within the bounds, a deny rule whether some part is,
// as one attachment too many is reason enough to refuse a message. Where something cannot be
// told, as with a kind of part that no version of A2A knows or a URL that two programs may
// read differently, an allow rule does not hold and a deny rule does.
//
// Nothing is fetched and no data is looked into: package wire has measured the parts when it
// read the message.
package content

import (
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/pattern"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Bounds are a Config, compiled. They are immutable.
// denies says which question Failed answers: that of an allow rule or that of a deny rule.
type Bounds struct {
	kinds    []string      // nil: any
	types    []mediaRange  // nil: any
	hosts    *pattern.List // nil: any
	names    []string      // what hosts was made of
	maxParts int           // 0: no bound, as with the next two
	maxPart  int64
	maxBytes int64
	denies   bool
}

// What Failed returns, by the key that does not hold.
const (
	inContent  = "content" // the message is not known, or has no part for a deny rule to be about
	inParts    = "content.parts"
	inTypes    = "content.mediaTypes"
	inHosts    = "content.hosts"
	inMaxParts = "content.maxParts"
	inMaxPart  = "content.maxPart"
	inMaxBytes = "content.maxBytes"
)

// Unreadable stands for a message of which nothing can be told, as one of an extension's own
// protobuf messages.
var Unreadable = new(wire.Message)

// Failed names the first bound that a call's message is not within, "" when it is.
func (c *Bounds) Failed(m *wire.Message) string {
	switch {
	case m == Unreadable:
		return c.doubt(inContent)
	case m != nil:
	case c.denies:
		return inContent
	default:
		return ""
	}
	// Exactly one of the two walks is made over the parts, and ends at the first that decides.
	if c.denies {
		return c.anyPart(m.Parts)
	}
	return c.everyPart(m.Parts)
}

// doubt is the answer about what cannot be told: an allow rule does not hold where it
// might not, a deny rule does where it might.
func (c *Bounds) doubt(key string) string {
	if c.denies {
		return ""
	}
	return key
}

// everyPart holds a message against an allow rule.
func (c *Bounds) everyPart(parts []wire.Part) string {
	if c.maxParts > 0 && len(parts) > c.maxParts {
		return inMaxParts
	}
	var sum int64
	for i := range parts {
		p := &parts[i]
		if key := c.excludes(p); key != "" {
			return key
		}
		if c.maxPart > 0 && p.Bytes > c.maxPart {
			return inMaxPart
		}
		// Never more than the sum may be, so that no sum overflows.
		if c.maxBytes > 0 && p.Bytes > c.maxBytes-sum {
			return inMaxBytes
		}
		sum += p.Bytes
	}
	return ""
}

// anyPart looks for a part that a deny rule is about. Where there is none, the answer is
// the last bound that some part got to.
func (c *Bounds) anyPart(parts []wire.Part) string {
	farthest := inContent
	for i := range parts {
		switch key := c.excludes(&parts[i]); key {
		case "":
			return ""
		case inHosts:
			farthest = inHosts
		case inTypes:
			if farthest != inHosts {
				farthest = inTypes
			}
		default:
			if farthest == inContent {
				farthest = inParts
			}
		}
	}
	return farthest
}

// excludes names the first bound that one part is not within, "" when it is. A part
// that no version knows may be anything.
func (c *Bounds) excludes(p *wire.Part) string {
	switch {
	case p.Kind == "":
		return c.doubt(inParts)
	case c.kinds != nil && !slices.Contains(c.kinds, p.Kind):
		return inParts
	case c.types != nil && !c.typed(p):
		return inTypes
	case c.hosts != nil && !c.hosted(p):
		return inHosts
	}
	return ""
}

// typed reports whether a part's media type is one of the rule's.
func (c *Bounds) typed(p *wire.Part) bool {
	name := p.MediaType
	if name == "" {
		name = defaultTypes[p.Kind]
	}
	major, minor, ok := strings.Cut(name, "/")
	if !ok || !mediaWord(major) || !mediaWord(minor) {
		return c.denies
	}
	for _, t := range c.types {
		if (t.major == "*" || t.major == major) && (t.minor == "*" || t.minor == minor) {
			return true
		}
	}
	return false
}

// hosted reports whether a file by URL is at one of the hosts. A part that is no such
// file is nowhere else: an allow rule does not mind it, a deny rule is not about it.
func (c *Bounds) hosted(p *wire.Part) bool {
	if p.Kind != wire.PartFile || p.URL == "" {
		return !c.denies
	}
	name, plain, ok := hostOf(p.URL)
	if !ok || !plain && !c.denies {
		return c.denies
	}
	return c.hosts.Match(name)
}

// defaultTypes are the media types of parts that say none.
var defaultTypes = map[string]string{
	wire.PartText: "text/plain",
	wire.PartData: "application/json",
	wire.PartFile: "application/octet-stream",
}

// mediaRange is a media type in which both words, or the second, may be *.
// As in text/plain, image/* or */*; parameters are not compared.
type mediaRange struct{ major, minor string }

// covers reports whether every type in other is in m.
func (m mediaRange) covers(other mediaRange) bool {
	return (m.major == "*" || m.major == other.major) && (m.minor == "*" || m.minor == other.minor)
}

// Covers reports whether messages that are within other are within c. In deny rules it is
// parts.
func (c *Bounds) Covers(other *Bounds) bool {
	return pattern.Widens(c.kinds, other.kinds) && coversTypes(c.types, other.types) &&
		(c.hosts == nil || other.hosts != nil && c.hosts.Covers(other.names)) &&
		looser(int64(c.maxParts), int64(other.maxParts)) &&
		looser(c.maxPart, other.maxPart) && looser(c.maxBytes, other.maxBytes)
}

// coversTypes reports whether every media type of b is in one range of a; nil is any type.
func coversTypes(a, b []mediaRange) bool {
	return a == nil || b != nil && !slices.ContainsFunc(b, func(t mediaRange) bool {
		return !slices.ContainsFunc(a, func(wide mediaRange) bool { return wide.covers(t) })
	})
}

// mediaWord reports whether a word is one of a media type's (RFC 6838 §4.2), in lower
// case.
func mediaWord(s string) bool {
	if s == "" {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		case i > 0 && strings.IndexByte("!#$&-^_.+", c) >= 0:
		default:
			return false
		}
	}
	return true
}

// looser reports whether an upper bound is no lower than another; 0 is none.
func looser(a, b int64) bool { return a == 0 || b != 0 && b <= a }
