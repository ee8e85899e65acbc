package jws

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// Limits of the parts of a JWS. How long it may be as a whole is for its readers to say.
const (
	maxHead    = 8 << 10 // of the JOSE header, encoded: it has no groups
	maxNesting = 32
)

// Split cuts a compact serialization into its three parts.
//
//	eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln     three parts: a JWS (RFC 7515 §7.1)
//	four dots                                      five parts: a JWE (RFC 7516 §7.1), refused by name
//	eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.           an empty signature, as "alg":"none" has it: refused
func Split(raw string) (header, payload, signature string, err error) {
	switch {
	case strings.Count(raw, ".") == 4:
		return "", "", "", errors.New("token is encrypted")
	case strings.Count(raw, ".") != 2:
		return "", "", "", errors.New("token has not three parts")
	}
	header, rest, _ := strings.Cut(raw, ".")
	payload, signature, _ = strings.Cut(rest, ".")
	switch {
	case header == "" || payload == "" || signature == "":
		return "", "", "", errors.New("token has an empty part")
	case len(header) > maxHead:
		return "", "", "", fmt.Errorf("token header of %d bytes, more than %d", len(header), maxHead)
	}
	return header, payload, signature, nil
}

// Object reads a JSON object strictly: UTF-8, no name twice at any depth, nothing
// after it, no absurd nesting.
//
// The JSON library refuses two members of one name by default (RFC 8259 §4 leaves to parsers which of
// them counts). The nesting is bounded before it is parsed, since claims come from outside.
func Object[V any](doc []byte) (map[string]V, error) {
	if brackets(doc) > maxNesting && nesting(doc) > maxNesting {
		return nil, fmt.Errorf("nested deeper than %d", maxNesting)
	}
	var m map[string]V
	if err := json.Unmarshal(doc, &m); err != nil {
		return nil, err
	}
	if m == nil {
		return nil, errors.New("not an object")
	}
	return m, nil
}

// brackets is how many open, anywhere: nothing nests deeper, most documents have few, and
// counting them spares the slower look at each byte.
//
// A document with no more brackets than the limit cannot nest deeper than it.
func brackets(doc []byte) int {
	return bytes.Count(doc, []byte{'{'}) + bytes.Count(doc, []byte{'['})
}

// nesting is how deep brackets nest outside of strings.
//
// Brackets within strings do not count, and an escaped quote does not end a string:
//
//	{"a":"[[[","b":[1]}   2
func nesting(doc []byte) (deepest int) {
	depth, quoted, escaped := 0, false, false
	for _, c := range doc {
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}

// NumericDate reads seconds since 1970 (RFC 7519 §2). Fractions are cut off.
//
// Years beyond 9999 are refused because RFC 3339, in which times are printed, has four digits for a
// year.
func NumericDate(v any) (time.Time, bool) {
	const year9999 = 253402300799
	f, ok := v.(float64)
	if !ok || math.IsNaN(f) || f < 0 || f > year9999 {
		return time.Time{}, false
	}
	return time.Unix(int64(f), 0), true
}
