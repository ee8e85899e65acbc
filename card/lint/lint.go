// Package lint finds what the texts of an agent's card should not hold: secrets, internal
// addresses, what readers do not see, and words that are meant for the model that reads
// the card rather than for people (prompt injection).
//
// It owns the patterns and the list of findings, and the functions that the writer of
// served cards takes texts apart with. It does not own what is done about a finding. It
// finds what is on its lists: a card without findings is not a harmless card. It imports
// nothing of ours.
//
// One card, for example, has this finding:
//
//	{"kind":"secret","pointer":"/skills/0/description","action":"removed","text":"what looks like a key or a token"}
//
// Who uses what: the judge of cards calls [Check] when a card was fetched, and keeps findings and
// score with it; the writer of served cards calls [Clean], [SecretIn] and their like on each text,
// so that what is reported as removed is what is removed; the redaction of captured content shares
// the forms of credentials.
package lint

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Kind says what was found.
type Kind string

// The kinds.
const (
	kindSecret      Kind = "secret"      // a key, a token, a password in a URL, credentials of 0.1's authentication
	kindInternal    Kind = "internal"    // an address for inside use, where no interface is named
	kindInvisible   Kind = "invisible"   // characters, comments or scripts that a reader does not see
	kindInstruction Kind = "instruction" // words for the model that reads the card
	kindLookalike   Kind = "lookalike"   // a word of Latin letters and others that look like them
	kindMarkup      Kind = "markup"      // HTML that shows
	kindBlob        Kind = "blob"        // a long run of base64 or hexadecimal
	Long            Kind = "long"        // a text that is longer than texts of its place are
)

// Action says what becomes of what was found.
type Action string

// The actions.
const (
	actionRemoved  Action = "removed"  // it is in no card that the gateway serves
	actionCut      Action = "cut"      // only the beginning is served
	actionReported Action = "reported" // it is served; the operator is told
)

// Finding is one thing found. It never holds what it is about: findings are logged.
type Finding struct {
	Kind    Kind   `json:"kind"`
	Pointer string `json:"pointer"` // JSON Pointer into the card, cleaned
	Action  Action `json:"action"`
	Text    string `json:"text"` // in words
}

// kinds has what is done about each, and how much each weighs in the score.
var kinds = map[Kind]struct {
	action Action
	weight int
}{
	kindSecret:      {actionRemoved, 40},
	kindInternal:    {actionRemoved, 10},
	kindInvisible:   {actionRemoved, 25},
	kindInstruction: {actionReported, 30},
	kindLookalike:   {actionReported, 20},
	kindMarkup:      {actionReported, 5},
	kindBlob:        {actionReported, 10},
	Long:            {actionReported, 5},
}

// maxFindings is how many findings of one card are listed.
const maxFindings = 100

// How much is looked through for words that are meant for a model, in bytes. What is
// longer is a finding by itself.
const (
	readText = 16 << 10
	readCard = 256 << 10
)

// Worst is the score of a card that could hardly be worse.
const Worst = 100

// Score sums up findings: 0 for none, at most Worst. A kind that is there more than once
// counts once, and a tenth of its weight more each time.
// The score is for sorting and for a threshold that an operator sets; it is no probability.
func Score(list []Finding) int {
	seen := map[Kind]int{}
	tenths := 0
	for _, f := range list {
		weight := kinds[f.Kind].weight
		if seen[f.Kind]++; seen[f.Kind] == 1 {
			// The sum is in tenths until the end.
			weight *= 10
		}
		tenths += weight
	}
	return min(Worst, tenths/10)
}

// Check looks at every text of a card, names of members included, but for the signatures.
// It lists at most maxFindings, in the order of the document. card is one JSON value, and
// l is what it is served with.
// An error means that the card is no JSON.
func Check(card []byte, l Limits) ([]Finding, error) {
	c := &check{decoder: jsontext.NewDecoder(bytes.NewBuffer(trimBOM(card))), limits: l.OrDefault()}
	for {
		token, err := c.decoder.ReadToken()
		if err != nil {
			return nil, fmt.Errorf("lint card: %w", err)
		}
		if token.Kind() == '"' {
			if err := c.text(token.String()); err != nil {
				return nil, fmt.Errorf("lint card: %w", err)
			}
		}
		if c.decoder.StackDepth() == 0 {
			return c.list, nil
		}
	}
}

// trimBOM drops what some servers that read the card from a file put before it.
func trimBOM(card []byte) []byte { return bytes.TrimPrefix(card, []byte("\xef\xbb\xbf")) }

// check is one run of Check.
type check struct {
	decoder *jsontext.Decoder
	limits  Limits
	read    int // bytes that were looked through for instructions
	list    []Finding
}

// text looks at one string, a member's name or a value.
// The order of questions is from what is removed to what is reported, as findings are listed in
// order.
func (c *check) text(s string) error {
	pointer := string(c.decoder.StackPointer())
	kind, length := c.decoder.StackIndex(c.decoder.StackDepth())
	isName := kind == '{' && length%2 == 1
	// Signatures are base64 throughout, and would be findings without exception.
	if isName && pointer == "/signatures" {
		return c.decoder.SkipValue()
	}
	// Lists that are cut when the card is served are told of once, at the first entry that goes.
	if kind == '[' && length == int64(c.limits.Entries)+1 && isList(strings.Split(pointer, "/")[1:]) {
		list := pointer[:strings.LastIndexByte(pointer, '/')]
		c.done(Long, actionCut, list, fmt.Sprintf("more than %d entries", c.limits.Entries))
	}
	if s == "" || len(c.list) >= maxFindings {
		return nil
	}
	if isWord(s) && pointer != credentials {
		c.read += len(s)
		c.length(s, pointer, isName)
		return nil
	}
	// Patterns are looked for in what is left: an invisible character in the middle of a key hides
	// it from no one.
	clean := Clean(s)
	low := ASCIILower(clean)
	switch {
	case SecretIn(clean) >= 0:
		c.found(kindSecret, pointer, "what looks like a key or a token")
	case hasUserinfo(low):
		c.found(kindSecret, pointer, "a URL with a user or a password")
	case pointer == credentials && !isName:
		c.found(kindSecret, pointer, "credentials, which cards of 0.1 can carry")
	}
	if !isInterface(pointer) && (PrivateURL(low) >= 0 && !hasUserinfo(low) || PrivateHostPort(low) >= 0) {
		c.found(kindInternal, pointer, "an address for inside use")
	}
	if clean != s {
		c.found(kindInvisible, pointer, fmt.Sprintf("%d bytes that a reader does not see", max(1, len(s)-len(clean))))
	}
	if c.instructs(s) {
		c.found(kindInstruction, pointer, "words for the model that reads the card")
	}
	if lookalike(clean) != "" {
		c.found(kindLookalike, pointer, "a word that mixes alphabets which look alike")
	}
	if markup.MatchString(clean) {
		c.found(kindMarkup, pointer, "HTML")
	}
	if n := blob(clean); n > 0 && pointer != "/iconUrl" {
		c.found(kindBlob, pointer, fmt.Sprintf("%d characters of base64 or hexadecimal", n))
	}
	c.length(clean, pointer, isName)
	return nil
}

// credentials is where cards of 0.1 can carry some.
const credentials = "/authentication/credentials"

// longestWord is shorter than any key is that has a form of its own.
const longestWord = 16

// isWord tells what most texts of a card are, the names of its members above all, and none of the lists
// has: one short word of ASCII letters and digits. Orders take several words or punctuation, URLs and markup
// punctuation, and everything that hides or looks alike other characters.
func isWord(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return len(s) <= longestWord
}

// length holds a text to what is served of it.
func (c *check) length(s, pointer string, isName bool) {
	limit, action := c.limits.at(pointer, isName)
	switch {
	case len(s) > limit:
		c.done(Long, action, pointer, fmt.Sprintf("%d bytes, where at most %d are served", len(s), limit))
	case c.read > readCard:
		c.found(Long, pointer, "a text behind the first 256 KiB of the card, which nobody reads for words to a model")
	}
}

// instructs looks through a text as far as it goes.
func (c *check) instructs(s string) bool {
	s = s[:min(len(s), readText)]
	if c.read += len(s); c.read > readCard {
		return false
	}
	return instruction(s)
}

func (c *check) found(kind Kind, pointer, text string) {
	c.done(kind, kinds[kind].action, pointer, text)
}

// done is found where more than the kind decides what becomes of it.
// The same thing found twice in one text, as by two patterns, is listed once.
func (c *check) done(kind Kind, action Action, pointer, text string) {
	if len(c.list) >= maxFindings {
		return
	}
	f := Finding{kind, shown(pointer), action, text}
	if !slices.Contains(c.list[max(0, len(c.list)-len(kinds)):], f) {
		c.list = append(c.list, f)
	}
}

// longestPointer is how much is shown of where something was found.
const longestPointer = 200

// shown is a pointer without what its names should not have held.
// Names of members are the agent's to choose: one could hold a key, or be a megabyte long.
func shown(pointer string) string {
	clean := Clean(pointer)
	for SecretIn(clean) >= 0 || len(clean) > longestPointer {
		clean = clean[:strings.LastIndexByte(clean, '/')]
	}
	return clean
}

// hasUserinfo reports whether a URL in a text names a user. low is lower case.
func hasUserinfo(low string) bool {
	for _, rest := range strings.Split(low, "//")[1:] {
		if strings.Contains(rest[:authorityEnd(rest)], "@") {
			return true
		}
	}
	return false
}

// isInterface reports whether a place names where the agent is: that is inside more often
// than not, and the gateway's own URL stands there in what it serves.
func isInterface(pointer string) bool {
	if pointer == "/url" {
		return true
	}
	list, ok := strings.CutSuffix(pointer, "/url")
	return ok && (strings.HasPrefix(list, "/supportedInterfaces/") || strings.HasPrefix(list, "/additionalInterfaces/") ||
		strings.HasPrefix(list, "/supported_interfaces/") || strings.HasPrefix(list, "/additional_interfaces/"))
}
