package trust

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// digestPrefix is how digests begin in configurations and in what is printed. It names the hash, so
// that another one could stand beside it some day.
const digestPrefix = "sha256:"

// Digest names what a card says, whoever signed it and however it is laid out: "sha256:"
// and the SHA-256, in lower-case hexadecimal, of the card without its member signatures in
// canonical form (RFC 8785).
// Two cards that differ in white space, order of members or signatures have one digest.
func Digest(card []byte) (string, error) {
	doc, err := canonical(card)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(doc)
	return digestPrefix + hex.EncodeToString(sum[:]), nil
}

// canonical is a card without its signatures in the form of RFC 8785.
// Signatures are left out, so that signing a card again does not make another card of it.
func canonical(card []byte) (jsontext.Value, error) {
	// Canonicalize works in place, and the caller keeps the card.
	v := jsontext.Value(bytes.Clone(bytes.TrimPrefix(card, []byte("\xef\xbb\xbf"))))
	if err := v.Canonicalize(); err != nil {
		return nil, fmt.Errorf("read card: %w", err)
	}
	if v.Kind() != '{' {
		return nil, fmt.Errorf("read card: %w", errNotObject)
	}
	out := []byte{'{'}
	d := jsontext.NewDecoder(bytes.NewBuffer(v))
	_, _ = d.ReadToken() // the brace
	for d.PeekKind() == '"' {
		name, err := d.ReadValue()
		if err != nil {
			return nil, fmt.Errorf("read card: %w", err)
		}
		name = bytes.Clone(name) // it is lent until the next is read
		value, err := d.ReadValue()
		if err != nil {
			return nil, fmt.Errorf("read card: %w", err)
		}
		if string(name) == `"signatures"` {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, name...), ':'), value...)
	}
	return append(out, '}'), nil
}

var errDigest = errors.New(`is not "sha256:" and 64 hexadecimal digits, as "card show" prints`)

// parseDigest reads a digest that somebody wrote. Hexadecimal in capitals is the same digest; anything
// that is missing is an error when the configuration is read, and not a card that never comes.
func parseDigest(s string) (string, error) {
	rest, ok := strings.CutPrefix(strings.ToLower(s), digestPrefix)
	if sum, err := hex.DecodeString(rest); !ok || err != nil || len(sum) != sha256.Size {
		return "", fmt.Errorf("%.100q %w", s, errDigest)
	}
	return digestPrefix + rest, nil
}
