// Package redact takes out of JSON what is not to be kept: what stands at places that
// are named, and, in every string, what looks like personal data (PII) or a secret.
//
// It owns paths (path.go) and what becomes of a document, and is pure: it keeps nothing and asks
// nobody. What it looks for is internal/detect's. What of a document is encoded (the bytes of a
// file, say) is not looked into, and what is split over two strings is not found.
//
// A document is read token by token and written again as compact JSON, in one pass and in bounded
// memory:
//
//	{"user":"alice","card":"4111 1111 1111 1111","password":"x"}
//	{"user":"alice","card":"[card]"}          with the path $..password and all detectors
//
// Paths act on values as a whole; what no path acts on is looked through by the detectors, string
// by string, names of members included.
package redact

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/detect"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// Config says what the gateway removes.
type Config struct {
	// Paths are places in the content, and what the gateway does with the values there; the first
	// that matches decides. At most 64. Default none.
	Paths []Place `yaml:"paths"`
	// Detectors are what the gateway looks for in every string and number: email, card (payment
	// card numbers), token (bearer and basic credentials, JSON Web Tokens, passwords in URLs), key
	// (API keys) and privateKey; or none alone. Default all.
	Detectors []string `yaml:"detectors" jsonschema:"enum=email,enum=card,enum=token,enum=key,enum=privateKey,enum=none"`
}

// Place is an entry of Config.Paths.
type Place struct {
	// Path is a JSON path of names, indexes, * and .. from the params of a request or from an
	// answer: $.message.parts[*].text, $..password, $['a name'].
	Path string `yaml:"path"`
	// Action is remove, mask (put another string in the place) or hash (put a digest with a key
	// there, the same for the same value). Default remove.
	Action string `yaml:"action" jsonschema:"enum=remove,enum=mask,enum=hash"`
}

// Values of Place.Action.
const (
	actionRemove = "remove"
	actionMask   = "mask"
	actionHash   = "hash"
)

// mostPlaces bounds the paths: all of them are followed at every value of every document.
const mostPlaces = 64

// masked stands in the place of what is masked.
const masked = "[masked]"

// Redactor is a Config that is ready. It may be used by many goroutines.
// It is made once per rule when the log gets its keys.
type Redactor struct {
	paths   []Path
	actions []string
	detect  *detect.Set
	key     []byte
}

// New checks a configuration. key is for digests; without one hash masks.
// Errors carry the path of their key below redact. The key is 32 bytes in the gateway, derived from
// the keys of its ring, so that hashes of two gateways with different keys do not match.
func New(c Config, key []byte) (*Redactor, error) {
	r := &Redactor{key: key}
	var errs []error
	if len(c.Paths) > mostPlaces {
		errs = append(errs, keypath.At(fmt.Errorf("%d are more than %d", len(c.Paths), mostPlaces), "paths"))
	}
	for i, place := range c.Paths {
		path, err := ParsePath(place.Path)
		if err != nil {
			errs = append(errs, keypath.At(err, "paths", i, "path"))
		}
		switch place.Action {
		case "":
			place.Action = actionRemove
		case actionRemove, actionMask, actionHash:
		default:
			errs = append(errs, keypath.At(fmt.Errorf("%q is none of remove, mask and hash", place.Action), "paths", i, "action"))
		}
		r.paths, r.actions = append(r.paths, path), append(r.actions, place.Action)
	}
	found, err := detectors(c.Detectors)
	r.detect = found
	return r, errors.Join(append(errs, err)...)
}

// result is what is left of a document.
type result struct {
	Text  []byte // JSON, or the beginning of such when it was cut
	Count int    // how much was taken out of it
	Cut   bool   // there was more than the limit
}

// errFull ends a walk whose result is as long as it may be. It is no error to who asked.
var errFull = errors.New("limit reached")

// JSON is what is left of a document, at most limit bytes. What is no JSON is an error,
// and nothing of it is left: nobody could say what is in it.
// Text that was cut ends somewhere in the middle of the JSON; it is for people to read, and no
// parser.
func (r *Redactor) JSON(doc []byte, limit int) (result, error) {
	w := walk{Redactor: r, limit: limit, in: jsontext.NewDecoder(bytes.NewReader(doc),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	// Every path begins at the root of the document.
	err := w.value(starts(len(r.paths)))
	if err == nil {
		// Only the end of input may follow: a second value would have been looked through by
		// nobody.
		_, err = w.in.ReadToken()
	}
	switch {
	// What was written so far is kept even where the rest is no JSON: it was looked through.
	case errors.Is(err, errFull), len(w.out) > limit && errors.Is(err, io.EOF):
		return result{Text: cut(w.out, limit), Count: w.count, Cut: true}, nil
	case errors.Is(err, io.EOF) && len(w.out) > 0:
		return result{Text: w.out, Count: w.count}, nil
	case err == nil:
		return result{}, errors.New("redact: something follows the document")
	}
	return result{}, fmt.Errorf("redact: %w", withoutContent(err))
}

// withoutContent is an error that quotes nothing of the document: the library's have the text around
// a mistake, which is what this package is to keep out of logs.
func withoutContent(err error) error {
	var wrong *jsontext.SyntacticError
	if errors.As(err, &wrong) {
		return fmt.Errorf("it is no JSON at byte %d", wrong.ByteOffset)
	}
	return errors.New("it is no JSON")
}

// cut leaves at most limit bytes, and no half of a character, so that what is kept is UTF-8.
func cut(text []byte, limit int) []byte {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// walk is one document on its way. It counts every finding, whether a path or a detector made it,
// as a record says how much was taken out and not what.
type walk struct {
	*Redactor
	in    *jsontext.Decoder
	out   []byte
	limit int
	count int
}

// value writes a value that no path acts on as a whole; what is in it may be acted on. Numbers keep
// the text that they have, as large ones would not survive being read.
// The limit is looked at once per value, so that the output is at most one string too long before
// it is cut.
func (w *walk) value(at []states) error {
	if len(w.out) > w.limit {
		return errFull
	}
	switch w.in.PeekKind() {
	case '{':
		return w.object(at)
	case '[':
		return w.array(at)
	}
	token, err := w.in.ReadToken()
	if err != nil {
		return err
	}
	switch token.Kind() {
	case '"':
		w.text(token.String())
	case '0':
		w.number(token.String())
	default:
		w.out = append(w.out, token.String()...)
	}
	return nil
}

// object writes an object without the members that are to be removed.
// Duplicate names are kept (RFC 8259 section 4 only discourages them): a parser that reads the
// first of two must not see what was not looked through.
func (w *walk) object(at []states) error {
	if _, err := w.in.ReadToken(); err != nil {
		return err
	}
	w.out = append(w.out, '{')
	for first := true; w.in.PeekKind() != '}'; {
		token, err := w.in.ReadToken()
		if err != nil {
			return err
		}
		name := token.String()
		inner, action := w.step(at, name, -1)
		if action == actionRemove {
			if err := w.drop(); err != nil {
				return err
			}
			continue
		}
		if !first {
			w.out = append(w.out, ',')
		}
		first = false
		w.text(name)
		w.out = append(w.out, ':')
		if err := w.member(inner, action); err != nil {
			return err
		}
	}
	w.out = append(w.out, '}')
	_, err := w.in.ReadToken()
	return err
}

// array writes a list likewise. Elements keep their places for paths, whatever was removed before
// them: $.parts[2] is the third that the caller sent.
func (w *walk) array(at []states) error {
	if _, err := w.in.ReadToken(); err != nil {
		return err
	}
	w.out = append(w.out, '[')
	first := true
	for i := 0; w.in.PeekKind() != ']'; i++ {
		inner, action := w.step(at, "", i)
		if action == actionRemove {
			if err := w.drop(); err != nil {
				return err
			}
			continue
		}
		if !first {
			w.out = append(w.out, ',')
		}
		first = false
		if err := w.member(inner, action); err != nil {
			return err
		}
	}
	w.out = append(w.out, ']')
	_, err := w.in.ReadToken()
	return err
}

// step goes to a member or an element, and says what is to become of it.
// The first path in the order of the configuration decides. All paths are followed at once, since
// the document is read once and cannot be gone back in.
func (w *walk) step(at []states, name string, index int) (inner []states, action string) {
	if len(w.paths) == 0 {
		return nil, ""
	}
	inner = make([]states, len(w.paths))
	for i, p := range w.paths {
		inner[i] = p.step(at[i], name, index)
		if action == "" && p.ends(inner[i]) {
			action = w.actions[i]
		}
	}
	return inner, action
}

// drop passes over a value, and counts it as one, however much was in it.
func (w *walk) drop() error {
	w.count++
	return w.in.SkipValue()
}

// member writes what an action makes of a value: a mask, or a hash by which equal values can be
// told to be equal and no value can be found out without the key.
func (w *walk) member(at []states, action string) error {
	if action == "" {
		return w.value(at)
	}
	// The value is read whole, which only the caller's bound on the document limits.
	value, err := w.in.ReadValue()
	if err != nil {
		return err
	}
	w.count++
	text := masked
	if action == actionHash && len(w.key) > 0 {
		if err := value.Compact(); err != nil {
			return err
		}
		mac := hmac.New(sha256.New, w.key)
		_, _ = mac.Write(value) // it cannot fail
		// Sixteen bytes of the digest are enough to compare by.
		text = "hmac:" + hex.EncodeToString(mac.Sum(nil)[:16])
	}
	w.out = append(append(append(w.out, '"'), text...), '"')
	return nil
}

// text appends a string without what the detectors find. Names of members go through it as well: a
// map by e-mail address is an ordinary thing to send.
func (w *walk) text(s string) {
	clean, n := w.Text(s)
	w.count += n
	quoted, _ := jsontext.AppendQuote(w.out, clean) // of invalid UTF-8 too
	w.out = quoted
}

// number appends a number as it is written, or a string when it is not to be kept.
// A payment card number may stand in JSON as a number. What takes its place is a string.
func (w *walk) number(s string) {
	clean, n := w.Text(s)
	if n == 0 {
		w.out = append(w.out, s...)
		return
	}
	w.count += n
	w.out = append(append(append(w.out, '"'), clean...), '"')
}
