package policy

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/pattern"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// newContent compiles bounds and describes what is wrong with them; nil for none.
func newContent(src *Content, effect string) (*content, []error) {
	if src == nil {
		return nil, nil
	}
	c := &content{
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
	list, wrong := hostPatterns(src.Hosts)
	hosts := pattern.Compile(list)
	c.hosts, c.names = &hosts, list
	return c, append(problems, wrong...)
}

// check returns what is wrong with the bounds, media types and hosts not looked at.
func (c *Content) check(effect string) []error {
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

// hostPatterns brings patterns of hosts to the spelling that hostOf gives hosts.
func hostPatterns(list []string) (out []string, problems []error) {
	for i, text := range list {
		pattern := strings.TrimSuffix(strings.ToLower(text), ".")
		if a, err := netip.ParseAddr(strings.Trim(pattern, "[]")); err == nil && a.Zone() == "" {
			out = append(out, a.Unmap().String())
			continue
		}
		if pattern == "" || strings.Trim(pattern, "abcdefghijklmnopqrstuvwxyz0123456789-_.*") != "" {
			problems = append(problems, keypath.At(keypath.Point(fmt.Errorf("%q is no name of a host, such as files.example.com "+
				"or *.example.com: it has no scheme, port or path, and other alphabets are written as xn--", text), i), inContent, "hosts"))
		}
		out = append(out, pattern)
	}
	return out, problems
}
