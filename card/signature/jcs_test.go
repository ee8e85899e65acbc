package signature

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestCanonical has RFC 8785's rules one by one: numbers as ECMAScript prints them (§3.2.2.3),
// the shortest escapes (§3.2.2.2), names in the order of UTF-16 units (§3.2.3), no space.
func TestCanonical(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{ "b" : 1 , "a" : [ true , false , null ] }`:                   `{"a":[true,false,null],"b":1}`,
		`{"n":[0,-0,0.0,-0.0,1,1.0,1e0,10e-1,-1]}`:                      `{"n":[0,0,0,0,1,1,1,1,-1]}`,
		`{"n":[1e20,1e21,123456789012345680000,1e-6,1e-7,0.1e-6]}`:      `{"n":[100000000000000000000,1e+21,123456789012345680000,0.000001,1e-7,1e-7]}`,
		`{"n":[333333333.33333329,4.50,2e-3,1E30,0.30000000000000004]}`: `{"n":[333333333.3333333,4.5,0.002,1e+30,0.30000000000000004]}`,
		`{"n":[5e-324,1.7976931348623157e308,9007199254740992]}`:        `{"n":[5e-324,1.7976931348623157e+308,9007199254740992]}`,
		`{"s":"\u0061\/\u20ac\u000f\n\u0009\u007f\u2028\ud83d\ude00"}`:  "{\"s\":\"a/€\\u000f\\n\\t\u007f\u2028😀\"}",
		`{"s":"\"\\\b\f\r\u0000"}`:                                      `{"s":"\"\\\b\f\r\u0000"}`,
		// 😀 begins with U+D83D, which sorts before U+FB33 though its code point is larger.
		`{"\ufb33":7,"\ud83d\ude00":6,"\u20ac":5,"\u00f6":4,"\u0080":3,"1":2,"\r":1,"":0,"aa":9,"a":8}`: "{\"\":0,\"\\r\":1,\"1\":2,\"a\":8,\"aa\":9,\"\u0080\":3,\"ö\":4,\"€\":5,\"😀\":6,\"\ufb33\":7}",
		`{"o":{"z":{"b":1,"a":2},"y":[{"d":1,"c":2}]}}`:                                                 `{"o":{"y":[{"c":2,"d":1}],"z":{"a":2,"b":1}}}`,
	} {
		doc, err := read([]byte(in))
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		got, err := jcs(doc)
		if diff := cmp.Diff(want, string(got)); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", in, err, diff)
		}
	}
}

// TestOneReading: what two readers could understand in two ways is not a card, or has no
// canonical form.
func TestOneReading(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"empty": "", "no object": `[]`, "text": `"a"`, "two": `{}{}`, "name twice": `{"a":1,"a":1}`,
		"name twice, escaped": `{"a":1,"\u0061":1}`, "name twice, deep": `{"a":[{"b":1,"b":2}]}`,
		"not UTF-8": "{\"a\":\"\xff\"}", "half a pair": `{"a":"\ud83d"}`, "comment": `{/**/}`, "not a number": `{"a":NaN}`,
		"too deep": strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65), "too large": `{"a":"` + strings.Repeat("x", 1<<20) + `"}`,
	} {
		if _, err := read([]byte(in)); err == nil {
			t.Errorf("%s is read", name)
		}
	}
	for _, number := range []string{"9007199254740993", "-9007199254740993", "123456789012345678", "1e999", "-1e999"} {
		doc, err := read([]byte(`{"a":[{"n":` + number + `}]}`))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := jcs(doc); err == nil {
			t.Errorf("%s becomes %s", number, got)
		}
	}
}

// TestCanonicalOnce: canonical form is JSON that means the same, and its own canonical form.
func TestCanonicalOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		doc := map[string]any{"card": anyValue().Draw(t, "value"), rapid.String().Draw(t, "name"): anyValue().Draw(t, "other")}
		in, err := json.Marshal(doc)
		if err != nil {
			t.Skip()
		}
		v, err := read(in)
		if err != nil {
			t.Fatalf("%s: %v", in, err)
		}
		once, err := jcs(v)
		if err != nil {
			t.Fatalf("%s: %v", in, err)
		}
		var a, b any
		if json.Unmarshal(in, &a) != nil || json.Unmarshal(once, &b) != nil || !cmp.Equal(a, b) {
			t.Fatalf("%s means something else: %s", in, once)
		}
		again, err := read(once)
		if err != nil {
			t.Fatal(err)
		}
		if twice, err := jcs(again); err != nil || string(twice) != string(once) {
			t.Fatalf("%s becomes %s, %v", once, twice, err)
		}
		compacted := compact(v)
		if c := compact(compacted); !cmp.Equal(string(c.append(nil)), string(compacted.append(nil))) {
			t.Fatalf("%s is not compact", compacted.append(nil))
		}
	})
}

func anyValue() *rapid.Generator[any] {
	leaf := rapid.OneOf(
		rapid.String().AsAny(), rapid.Bool().AsAny(), rapid.Just[any](nil), rapid.Float64().AsAny(),
		rapid.Int32().AsAny(), rapid.Just[any](""), rapid.Just[any](map[string]any{}))
	return rapid.OneOf(leaf, rapid.SliceOfN(leaf, 0, 4).AsAny(), rapid.MapOfN(rapid.String(), leaf, 0, 4).AsAny())
}

// TestForms: what each form makes of the same card.
func TestForms(t *testing.T) {
	t.Parallel()
	const card = `{"name":"N","description":"","version":"","iconUrl":"","x":{"a":[null,""]},"url":"https://a.test",
	 "capabilities":{"streaming":false,"extensions":[{"uri":"u","required":false,"params":{}}]},
	 "securitySchemes":{"k":{"type":"apiKey","in":"header","name":"K"}},"security":[{"k":[]}],
	 "provider":null,"skills":[],"default_input_modes":["€"]}`
	for form, want := range map[Form]string{
		AsReceived:    `{"capabilities":{"extensions":[{"params":{},"required":false,"uri":"u"}],"streaming":false},"default_input_modes":["€"],"description":"","iconUrl":"","name":"N","provider":null,"security":[{"k":[]}],"securitySchemes":{"k":{"in":"header","name":"K","type":"apiKey"}},"skills":[],"url":"https://a.test","version":"","x":{"a":[null,""]}}`,
		formNoEmpties: `{"capabilities":{"extensions":[{"required":false,"uri":"u"}],"streaming":false},"default_input_modes":["€"],"name":"N","securitySchemes":{"k":{"in":"header","name":"K","type":"apiKey"}},"url":"https://a.test"}`,
		formMessage:   `{"capabilities":{"extensions":[{"uri":"u"}],"streaming":false},"defaultInputModes":["€"],"name":"N"}`,
		formPresence:  `{"capabilities":{"extensions":[{"params":{},"uri":"u"}],"streaming":false},"defaultInputModes":["€"],"description":"","iconUrl":"","name":"N","securitySchemes":{"k":{}},"skills":[],"version":""}`,
		formMessageUpgraded: `{"capabilities":{"extensions":[{"uri":"u"}],"streaming":false},"defaultInputModes":["€"],"name":"N",` +
			`"securitySchemes":{"k":{"apiKeySecurityScheme":{"location":"header","name":"K"}}},` +
			`"supportedInterfaces":[{"protocolBinding":"JSONRPC","protocolVersion":"0.3.0","url":"https://a.test"}]}`,
		formMessageASCII: `{"capabilities":{"extensions":[{"uri":"u"}],"streaming":false},"defaultInputModes":["\u20ac"],"name":"N"}`,
		formLegacy: `{"capabilities":{"extensions":[{"required":false,"uri":"u"}],"streaming":false},"defaultInputModes":["\u20ac"],"name":"N",` +
			`"securitySchemes":{"k":{"in":"header","name":"K"}},"url":"https://a.test"}`,
	} {
		if diff := cmp.Diff(want, string(canonical(t, card, form))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", form, diff)
		}
	}
}

// TestNoForm: a card that is none of a version has not its form, and a member in two
// spellings is nobody's to choose from.
func TestNoForm(t *testing.T) {
	t.Parallel()
	for _, card := range []string{
		`{"name":1}`, `{"name":"n","skills":{}}`, `{"name":"n","skills":["s"]}`, `{"name":"n","capabilities":[]}`,
		`{"name":"n","capabilities":{"streaming":"yes"}}`, `{"name":"n","securitySchemes":[]}`,
		`{"name":"n","defaultInputModes":["a"],"default_input_modes":["b"]}`, `{"name":"n","defaultInputModes":[1]}`,
	} {
		doc, err := read([]byte(card))
		if err != nil {
			t.Fatal(err)
		}
		if list, err := payloads(doc, formMessage); err == nil || list != nil {
			t.Errorf("%s: %v", card, list)
		}
	}
}
