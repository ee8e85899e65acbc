package jsonscan

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

func TestMend(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		``: ``, `"a"`: `"a"`, `"\ud83d\ude00"`: `"\ud83d\ude00"`, `"\uD83D\uDE00\n"`: `"\uD83D\uDE00\n"`,
		`"nice \ud83d"`: `"nice \ufffd"`, `"\ude00 day"`: `"\ufffd day"`, `"\uD83D"`: `"\ufffd"`,
		`"\ud83d\ud83d\ude00"`: `"\ufffd\ud83d\ude00"`, `"\ude00\ud83d"`: `"\ufffd\ufffd"`, `"\ud83d\u0041"`: `"\ufffd\u0041"`,
		`"\ud83d\n\ude00"`: `"\ufffd\n\ufffd"`, `"\\ud83d"`: `"\\ud83d"`, `"\\\ud83d"`: `"\\\ufffd"`, `"\"\ud83d\""`: `"\"\ufffd\""`,
		`{"a":"\udfff","b":["\ud800"]}`: `{"a":"\ufffd","b":["\ufffd"]}`, `"\ud7ff\ue000"`: `"\ud7ff\ue000"`,
		`"\ud83`: `"\ud83`, `"\`: `"\`, `"\ud83d\`: `"\ufffd\`, `"\ud83d\u`: `"\ufffd\u`,
	} {
		before := []byte(in)
		got := Mend(before)
		if string(got) != want || string(before) != in {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
		if in == want && len(in) > 0 && &got[0] != &before[0] {
			t.Errorf("%s was copied", in)
		}
		if MendHere(before); string(before) != want {
			t.Errorf("%s in its place became %s, want %s", in, before, want)
		}
	}
}

// FuzzMend: what is mended has no half of a pair, reads as encoding/json reads what it was
// made of, and nothing else in it has changed.
func FuzzMend(f *testing.F) {
	for _, seed := range []string{
		`"\ud83d"`, `{"a":"\ude00\ud83d","\ud83d\ude00":["\\ud83d","\\\udfff"]}`, `"\ud83d\ud83d\ude00 \uDBFF\uDFFF\n\"\\"`, `"\ud83`, `\ud83d\`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		mended := Mend(doc)
		if len(mended) != len(doc) || !bytes.Equal(Mend(mended), mended) {
			t.Fatalf("%q became %q", doc, mended)
		}
		lenient := jsontext.Value(doc).IsValid(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
		strict := jsontext.Value(mended).IsValid(jsontext.AllowDuplicateNames(true))
		if !lenient {
			return
		}
		if bytes.Equal(bytes.ToValidUTF8(doc, nil), doc) && !strict {
			t.Fatalf("%q is not mended by %q", doc, mended)
		}
		var was, is any
		if json.Unmarshal(doc, &was) == nil {
			if err := json.Unmarshal(mended, &is); err != nil || !cmp.Equal(was, is) {
				t.Fatalf("%q reads %v, and %q %v (%v)", doc, was, mended, is, err)
			}
		}
	})
}
