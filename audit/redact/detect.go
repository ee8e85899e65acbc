package redact

import (
	"fmt"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/internal/detect"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// shown says what was there, in the place of what is found, so that a reader of the log can tell a
// redaction from the caller's text.
var shown = map[string]string{
	"privateKey": "[private key]", "key": "[key]", "token": "[token]", "card": "[card]", "email": "[email]",
}

// detectors are those of a configuration: all that records have unless it names some, or says none.
// nil is "not configured", and is all; an empty list is not nil and is none of them.
func detectors(names []string) (*detect.Set, error) {
	if names == nil {
		return detect.New("email", "card", "token", "key", "privateKey")
	}
	if slices.Equal(names, []string{"none"}) {
		return detect.New()
	}
	for i, name := range names {
		if shown[name] == "" {
			return nil, keypath.At(keypath.Point(fmt.Errorf("%q is none of email, card, token, key and privateKey, or none alone", name), i), "detectors")
		}
	}
	return detect.New(names...)
}

// Text is a text without what the detectors find, and how much that was.
func (r *Redactor) Text(s string) (clean string, count int) {
	found := r.detect.Find(nil, s)
	if len(found) == 0 {
		return s, 0
	}
	return detect.Replace(s, found, func(kind string) string { return shown[kind] }), len(found)
}
