package jwstest

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Base is a good signature of one use, which a Vector changes.
type Base struct {
	Now    time.Time
	Header map[string]any
	Claims map[string]any // nil where Payload is
	// Payload is what is signed instead of claims, as it is.
	Payload []byte
	Words   map[string]any // that vectors may use as values
}

var encode = base64.RawURLEncoding.EncodeToString

// Compact makes the signature: "header.payload.signature", unless it is made another way.
func (v *Vector) Compact(b Base) (string, error) {
	header, err := v.members(b, b.Header, v.Header)
	if err != nil {
		return "", err
	}
	payload := b.Payload
	if payload == nil {
		if payload, err = v.members(b, b.Claims, v.Claims); err != nil {
			return "", err
		}
		payload = around(v.FrontClaims, payload, "")
	}
	token := spoilt{vector: v, header: around(v.Front, header, v.Back), payload: payload}
	return token.compact()
}

// around puts members before and behind those of an object.
func around(front string, object []byte, back string) []byte {
	members := bytes.TrimSuffix(bytes.TrimPrefix(object, []byte("{")), []byte("}"))
	parts := slices.DeleteFunc([]string{front, string(members), back}, func(s string) bool { return s == "" })
	return []byte("{" + strings.Join(parts, ",") + "}")
}

// members are those of an object with some changed.
func (v *Vector) members(b Base, good map[string]any, change map[string]jsontext.Value) ([]byte, error) {
	all := maps.Clone(good)
	for name, value := range change {
		if value.Kind() == 'n' {
			delete(all, name)
			continue
		}
		all[name] = value
		var text string
		if value.Kind() == '"' && json.Unmarshal(value, &text) == nil && strings.HasPrefix(text, "@") {
			meant, err := b.word(text[1:])
			if err != nil {
				return nil, err
			}
			all[name] = meant
		}
	}
	for name, value := range all {
		if w, ok := value.(string); ok && w == "@jwk" {
			all[name] = publicKey(v.Key)
		}
	}
	return json.Marshal(all, json.Deterministic(true))
}

// word is what a word of a vector's stands for.
func (b Base) word(w string) (any, error) {
	if w == "null" {
		return nil, nil
	}
	if value, ok := b.Words[w]; ok {
		return value, nil
	}
	if name, ok := strings.CutPrefix(w, "jwk:"); ok {
		return publicKey(name), nil
	}
	for prefix, make := range map[string]func(int) any{
		"now":    func(n int) any { return b.Now.Unix() + int64(n) },
		"long:":  func(n int) any { return strings.Repeat("x", n) },
		"deep:":  func(n int) any { return jsontext.Value(strings.Repeat("[", n) + strings.Repeat("]", n)) },
		"list1:": func(n int) any { return []any{b.Words["aud"], n} },
	} {
		if rest, ok := strings.CutPrefix(w, prefix); ok {
			n, err := strconv.Atoi(rest)
			if err != nil {
				return nil, fmt.Errorf("word %q: %w", w, err)
			}
			return make(n), nil
		}
	}
	return nil, fmt.Errorf("no word %q", w)
}
