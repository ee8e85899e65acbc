package content

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/pattern"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Config restricts the parts of a message. A key that is left out restricts nothing.
type Config struct {
	// Parts are the kinds of parts: text, file, data.
	Parts []string `yaml:"parts" jsonschema:"enum=text,enum=file,enum=data"`
	// MediaTypes of parts, such as text/plain, image/* or */*. Without a type, a text part counts as
	// text/plain, a data part as application/json, a file as application/octet-stream.
	MediaTypes []string `yaml:"mediaTypes"`
	// Hosts of files by URL: names, with * as in rules. Only http and https URLs have a host. For
	// other parts, hosts restricts nothing in an allow rule and matches nothing in a deny rule.
	Hosts []string `yaml:"hosts"`
	// MaxParts, MaxPart and MaxBytes are the largest number of parts, size of one, and size of all
	// together. The sizes do not count files by URL. Only with effect allow.
	MaxParts int           `yaml:"maxParts"`
	MaxPart  quantity.Size `yaml:"maxPart"`
	MaxBytes quantity.Size `yaml:"maxBytes"`
}

// New compiles bounds and describes what is wrong with them; nil for none.
// effect is that of the rule, as written: number and size of parts are for allow rules alone. The
// errors are at keys below content.
func New(src *Config, effect string) (*Bounds, []error) {
	if src == nil {
		return nil, nil
	}
	c := &Bounds{
		kinds: src.Parts, maxParts: src.MaxParts,
		maxPart: int64(src.MaxPart), maxBytes: int64(src.MaxBytes), denies: effect == "deny",
	}
	problems := src.check(effect)
	for i, text := range src.MediaTypes {
		major, minor, ok := strings.Cut(strings.ToLower(text), "/")
		if !ok || major == "*" && minor != "*" ||
			major != "*" && !mediaWord(major) || minor != "*" && !mediaWord(minor) {
			problems = append(problems, keypath.At(keypath.Point(fmt.Errorf("%q is no media type, such as text/plain, "+
				"image/* or */*", text), i), inContent, "mediaTypes"))
		}
		c.types = append(c.types, mediaRange{major, minor})
	}
	if src.Hosts == nil {
		return c, problems
	}
	// Hosts are compared in one spelling, to which the patterns are brought as well.
	list, wrong := hostPatterns(src.Hosts)
	hosts := pattern.Compile(list)
	c.hosts, c.names = &hosts, list
	return c, append(problems, wrong...)
}

// check returns what is wrong with the bounds, media types and hosts not looked at.
func (c *Config) check(effect string) []error {
	var problems []error
	if c.Parts == nil && c.MediaTypes == nil && c.Hosts == nil && c.MaxParts == 0 && c.MaxPart == 0 && c.MaxBytes == 0 {
		problems = append(problems, keypath.Point(errors.New("content has none of parts, mediaTypes, hosts, maxParts, maxPart and maxBytes"), inContent))
	}
	for _, l := range []struct {
		key  string
		list []string
	}{{"parts", c.Parts}, {"mediaTypes", c.MediaTypes}, {"hosts", c.Hosts}} {
		if l.list != nil && len(l.list) == 0 {
			problems = append(problems, keypath.Point(fmt.Errorf("content.%s is empty; leave it out to mean any", l.key), inContent, l.key))
		}
	}
	for i, kind := range c.Parts {
		if !slices.Contains([]string{wire.PartText, wire.PartFile, wire.PartData}, kind) {
			problems = append(problems, keypath.At(keypath.Point(fmt.Errorf("%q is none of text, file and data", kind), i), inContent, "parts"))
		}
	}
	if c.Hosts != nil && len(c.Parts) > 0 && !slices.Contains(c.Parts, wire.PartFile) {
		problems = append(problems, keypath.Point(errors.New("content.hosts is about files, which content.parts leaves out"), inContent, "hosts"))
	}
	for _, l := range []struct {
		key string
		n   int64
	}{{"maxParts", int64(c.MaxParts)}, {"maxPart", int64(c.MaxPart)}, {"maxBytes", int64(c.MaxBytes)}} {
		switch {
		case l.n < 0:
			problems = append(problems, keypath.At(fmt.Errorf("%d is below 0", l.n), inContent, l.key))
		case l.n > 0 && effect != "allow":
			problems = append(problems, keypath.Point(fmt.Errorf("content.%s is for rules with effect allow", l.key), inContent, l.key))
		}
	}
	return problems
}
