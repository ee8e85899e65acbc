package card

import (
	"errors"
	"fmt"

	"github.com/a2a-gateway/a2a-gateway/card/lint"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// Limits is a card's `limits:` section: how much of the agent's own texts gets into the cards
// that callers, and their models, read. 0 is the default, everywhere.
type Limits struct {
	// Longest name: of the agent, its version and its provider, of skills, tags and members that
	// A2A does not define, and longest id and media type. The gateway cuts what people read, with
	// … at its end, and leaves out what programs use. Default: 200 bytes.
	Name quantity.Size `yaml:"name"`

	// Longest other text: descriptions and examples, URLs, strings in members that A2A does not
	// define. The gateway cuts it or leaves it out likewise. Default: 4KiB.
	Text quantity.Size `yaml:"text"`

	// Most tags, examples or media types in one list; the gateway leaves the rest out. Default:
	// 100.
	Entries int `yaml:"entries"`

	// Most skills. A card with more does not come into force, because the gateway evaluates rules
	// for each of them. Default: 1000.
	Skills int `yaml:"skills"`
}

const (
	defaultSkills = 1000

	// shortest leaves room for a word and the mark behind it.
	shortest = 16
)

// Texts are the limits of texts, for lint.
func (l Limits) Texts() lint.Limits {
	return lint.Limits{Name: int(l.Name), Text: int(l.Text), Entries: l.Entries}
}

// admit refuses a card with more skills than are looked at.
func (l Limits) admit(c *Card) error {
	most := l.Skills
	if most == 0 {
		most = defaultSkills
	}
	if n := len(elements(c.top.find("skills"))); n > most {
		return fmt.Errorf("%w: %d skills, at most %d (card.limits.skills)", ErrTooLarge, n, most)
	}
	return nil
}

// ParseWithin is Parse for a card that is held to l.
func ParseWithin(raw []byte, l Limits) (*Card, error) {
	c, err := Parse(raw)
	if err != nil {
		return nil, err
	}
	if err := l.admit(c); err != nil {
		return nil, fmt.Errorf("parse card: %w", err)
	}
	return c, nil
}

// validate reports every limit that could not be kept, all of them at once.
func (l Limits) validate() error {
	var errs []error
	for _, size := range []struct {
		name  string
		bytes quantity.Size
	}{{"name", l.Name}, {"text", l.Text}} {
		if size.bytes != 0 && (size.bytes < shortest || size.bytes > MaxSize) {
			errs = append(errs, keypath.At(fmt.Errorf("%v is not between %d bytes and %v", size.bytes, shortest, quantity.Size(MaxSize)), "card", "limits", size.name))
		}
	}
	for _, count := range []struct {
		name string
		n    int
	}{{"entries", l.Entries}, {"skills", l.Skills}} {
		if count.n < 0 {
			errs = append(errs, keypath.At(fmt.Errorf("%d is negative", count.n), "card", "limits", count.name))
		}
	}
	return errors.Join(errs...)
}
