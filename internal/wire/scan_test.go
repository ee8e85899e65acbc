package wire

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
)

// walk reads a whole document and reports what the scanner says about it.
func walk(doc []byte, lim Limits) *Error {
	s := NewScanner(doc, lim)
	defer s.Release()
	s.Skip()
	return Finish(s)
}

// TestL36_Documents is a table in the manner of the well-known JSON parsing
// suites, in our own words: y must be accepted, n must be refused, and i, which
// RFC 8259 leaves open, is decided here one by one.
func TestL36_Documents(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{ // y
		`0`, `-0`, `-1`, `12345678901234567890`, `0.1`, `-0.0`, `1e5`, `1E+5`, `1.5e-7`, `0e0`, `123.456E789`,
		`true`, `false`, `null`, `""`, `"a"`, `" "`, `"\u0000"`, `"\"\\\/\b\f\n\r\t"`, `"\u00e9\u20AC"`, `"\ud83d\ude00"`,
		`"\uDBFF\uDFFF"`, `"é€😀"`, "\"\x7f\"", "\"\u2028\u2029\"", "\"\ufeff\"", "\"\U0010ffff\"", `"\uffff"`,
		`[]`, `[ ]`, `[[]]`, `[1,2]`, `[ 1 , 2 ]`, `[null,true]`, `{}`, `{ }`, `{"":0}`, `{"a":1,"A":2}`,
		`{"a":{"a":{}},"b":[{"a":1},{"a":1}]}`, " \t\r\n1\n ", `{"\u0000":1,"":2}`, `["/*"]`, `"\\u0061"`, `"\\"`,
	} {
		if e := walk([]byte(doc), Limits{}); e != nil {
			t.Errorf("y %q: %v", doc, e)
		}
	}
	for _, doc := range []string{ // n
		``, ` `, "\n", `+1`, `-`, `- 1`, `01`, `-01`, `00`, `1.`, `.1`, `-.1`, `1e`, `1e+`, `1E-`, `0x1`, `1_000`, `1a`, `Infinity`,
		`NaN`, `-NaN`, `1.e1`, `1.2.3`, `1 2`, `0e`, `１`, `tru`, `truth`, `True`, `nul`, `NULL`, `nulll`, `undefined`, `fals`,
		`"`, `"a`, `a"`, `'a'`, `"\"`, `"\x41"`, `"\a"`, `"\ "`, `"\u"`, `"\u0"`, `"\u00"`, `"\u000"`, `"\u000g"`, `"\U0041"`, `"\u+041"`,
		`"\u 041"`, `"\0"`, `"\` + "\n" + `"`, "\"\n\"", "\"\t\"", "\"\x00\"", "\"\x1f\"", "\"\\", `"\ud83d\u"`, `"\ud83d\`,
		`[`, `]`, `[1`, `[1,`, `[1,]`, `[,1]`, `[,]`, `[1 2]`, `[1;2]`, `[1,,2]`, `[1}`, `["a":1]`, `[]]`, `[[]`, `[1]x`, `[a]`, "[\v]",
		`{`, `}`, `{]`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{,}`, `{,"a":1}`, `{"a" 1}`, `{"a"::1}`, `{"a":}`, `{"a",1}`,
		`{a:1}`, `{1:1}`, `{'a':1}`, `{null:1}`, `{"a":1 "b":2}`, `{"a":1;"b":2}`, `{"a":1}}`, `{"a":1}#`, `{"a":1}//`, `{"a"}`, `{"a":1,"b"}`,
		`/**/1`, `1//`, `#1`, "\x00", "1\x00", `\u0031`, "\u00a01", "\u20281", `<a/>`, `{{}}`, `*`,
	} {
		if e := walk([]byte(doc), Limits{}); e == nil || e.Kind != parseError {
			t.Errorf("n %q: %v", doc, e)
		}
	}
	for doc, accept := range map[string]bool{ // i
		// Numbers keep their text; whoever reads them decides what fits.
		`1e400`: true, `-1e400`: true, `1e-400`: true, `9007199254740993`: true, `100000000000000000000000`: true,
		`0.` + strings.Repeat("1", 400): true, strings.Repeat("9", 4000): true, `123123e100000`: true,
		// Parsers replace, drop or keep what is no character. In content that is their business.
		`"\ud800"`: true, `"\udc00"`: true, `"\ud800a"`: true, `"\ud800\n"`: true, `"\ud800\ud800"`: true, `"\udc00\ud800"`: true,
		`"\ud800\u0041"`: true, `"\uDFAA"`: true, `["\ud800",1]`: true, `{"text":"\ud800","a":[{"id":1}]}`: true,
		`{"\ud800":1}`: false, `{"a":{"\udc00":{}}}`: false, `{"id":"\ud800"}`: false, `{"a":[{"text":"\ud800","taskId":"\ud800"}]}`: false,
		`{"referenceTaskIds":["a",["\ud800"]]}`: false, `{"artifact_id":"\udc00"}`: false, `{"\u0069d":"\ud800"}`: false,
		`{"data":{"id":"\ud800"}}`: true, `{"metadata":{"a":[{"id":"\ud800"}]}}`: true, `{"metadata":{"\ud800":1}}`: false,
		`{"metadata":1,"id":"\ud800"}`: false, `{"id":{"a":"\ud800"}}`: true,
		"\"\xff\"": false, "\"\xc0\xaf\"": false, "\"\xe0\x80\x80\"": false, "\"\xed\xa0\x80\"": false, "\"\xf4\x90\x80\x80\"": false,
		"\"\xc3\"": false, "\"\x80\"": false, "\"\xe2\x82\"": false, "\"\xf0\x9f\x98\"": false, "\"a\xc3\x28\"": false, "[\"\xfc\x80\x80\x80\x80\x80\"]": false,
		// Byte order marks and other encodings.
		"\ufeff{}": false, "\xef\xbb\xbf": false, "\xff\xfe{\x00}\x00": false, "\x00{\x00}": false,
		// Depth.
		strings.Repeat("[", 64) + strings.Repeat("]", 64): true, strings.Repeat("[", 65) + strings.Repeat("]", 65): false,
		strings.Repeat(`{"a":`, 64) + "1" + strings.Repeat("}", 64): true, strings.Repeat("[", 100_000): false,
	} {
		if e := walk([]byte(doc), Limits{}); (e == nil) != accept {
			t.Errorf("i %.40q: %v", doc, e)
		}
	}
}

// TestL36_Members counts per object and per array.
func TestL36_Members(t *testing.T) {
	t.Parallel()
	array := func(n int) string { return "[" + strings.Repeat("0,", n-1) + "0]" }
	for doc, accept := range map[string]bool{
		array(10_000): true, array(10_001): false, array(1_000_000): false,
		"[" + array(9_000) + "," + array(9_000) + "]": true,
	} {
		if e := walk([]byte(doc), Limits{}); (e == nil) != accept {
			t.Errorf("%d bytes: %v", len(doc), e)
		}
	}
	if e := walk([]byte(`{"a":1,"b":2,"c":3}`), Limits{Members: 2}); e == nil {
		t.Error("3 members where 2 are allowed")
	}
}

// TestL36_IDs: an id comes back as it was written.
func TestL36_IDs(t *testing.T) {
	t.Parallel()
	for id, accept := range map[string]bool{
		`0`: true, `-0`: true, `-1`: true, `9007199254740993`: true, strings.Repeat("9", 256): true, strings.Repeat("9", 257): false,
		`""`: true, `"a"`: true, `"\u0000"`: true, `"` + strings.Repeat("x", 256) + `"`: true, `"` + strings.Repeat("x", 257) + `"`: false,
		`"😀"`: true, `"1"`: true, `1.0`: true, `1e0`: true, `1E0`: true, `null`: true, `true`: false, `[]`: false, `[1]`: false, `{}`: false,
	} {
		var c Call
		e := c.DecodeJSONRPC([]byte(`{"jsonrpc":"2.0","id":`+id+`,"method":"ListTasks"}`), "", Limits{})
		if (e == nil) != accept {
			t.Errorf("%.40s: %v", id, e)
		}
		if accept && string(c.ID) != id {
			t.Errorf("%s came back as %s", id, c.ID)
		}
	}
}

// TestScannerReads uses the cursor as its callers do.
func TestScannerReads(t *testing.T) {
	t.Parallel()
	s := NewScanner([]byte(` {"a\u0062" : [ "x\n" , {"y":null} ], "n":-1.5e3 } `), Limits{})
	defer s.Release()
	var got []string
	for s.Enter(); s.More(); {
		switch name := s.Name(); s.Kind() {
		case '[':
			for s.Enter(); s.More(); {
				if s.Kind() == '"' {
					got = append(got, string(name)+"="+string(s.Text()))
					continue
				}
				start, end := s.Skip()
				got = append(got, string(s.Doc[start:end]))
			}
		default:
			start, end := s.Skip()
			got = append(got, fmt.Sprintf("%s=%s", name, s.Doc[start:end]))
		}
	}
	if e := Finish(s); e != nil {
		t.Fatal(e)
	}
	if want := "ab=x\n|{\"y\":null}|n=-1.5e3"; strings.Join(got, "|") != want {
		t.Errorf("%q", got)
	}
}

// TestScannerAfterFailure: a caller that looks only at the end is safe.
func TestScannerAfterFailure(t *testing.T) {
	t.Parallel()
	s := NewScanner([]byte(`{"a":[1,}`), Limits{})
	defer s.Release()
	s.Skip()
	if !s.Failed() {
		t.Fatal("no failure")
	}
	first := s.Finish()
	s.Enter()
	if s.More() || s.Kind() != 0 || s.Name() != nil || s.Text() != nil {
		t.Error("the cursor moves after a failure")
	}
	if start, end := s.Skip(); start != end {
		t.Error("skip gives a range after a failure")
	}
	s.Refuse(Errorf(InvalidParams, "later"))
	if e := s.Finish(); e != first {
		t.Errorf("finish gives %v", e)
	}
}

// TestScannerPool: what one document leaves behind does not show in the next.
func TestScannerPool(t *testing.T) {
	t.Parallel()
	for range 100 {
		if e := walk([]byte(`{"a":{"b":[`), Limits{}); e == nil {
			t.Fatal("accepted half a document")
		}
		if e := walk([]byte(`{"\u0061":1,"b":{"a":2}}`), Limits{}); e != nil {
			t.Fatal(e)
		}
		if e := walk([]byte(`{"a":1,"a":1}`), Limits{}); e == nil {
			t.Fatal("accepted a duplicate")
		}
	}
}

// TestScanAgreesWithJSONText is FuzzScan's check on documents that are nearly
// JSON: grown from the grammar, then damaged in a few bytes.
func TestScanAgreesWithJSONText(t *testing.T) {
	t.Parallel()
	unlimited := Limits{Depth: 10_000, Members: math.MaxInt32}
	damage := []byte("\"\\{}[],:0123456789.eE+-tfnul \t\n\x00\x1f\x7f\x80\xc3\xa9\xed\xa0\xef\xbb\xbf\xf0du/b")
	rapid.Check(t, func(t *rapid.T) {
		doc := []byte(drawJSON(t, 4))
		for range rapid.IntRange(0, 3).Draw(t, "damages") {
			at := rapid.IntRange(0, len(doc)-1).Draw(t, "at")
			b := rapid.SampledFrom(damage).Draw(t, "byte")
			switch rapid.IntRange(0, 2).Draw(t, "how") {
			case 0:
				doc[at] = b
			case 1:
				doc = slices.Insert(doc, at, b)
			default:
				if len(doc) > 1 {
					doc = slices.Delete(doc, at, at+1)
				}
			}
		}
		if err := disagree(doc, walk(doc, unlimited)); err != nil {
			t.Fatalf("%q: %v", doc, err)
		}
	})
}

// drawJSON draws a JSON document of at most this depth.
func drawJSON(t *rapid.T, depth int) string {
	scalars := []string{
		"0", "-1.5e+10", "true", "false", "null", `""`, `"\u0061"`, `"a"`, `"\ud83d\ude00"`, `"é語😀"`, `"\\\"\/\b\f\n\r\t"`,
		`"0123456789abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ"`,
	}
	n := rapid.IntRange(-2, 20).Draw(t, "members")
	if depth == 0 || n < 0 {
		return rapid.SampledFrom(scalars).Draw(t, "scalar")
	}
	object := rapid.Bool().Draw(t, "object")
	pieces := make([]string, n/2)
	for i := range pieces {
		if object {
			pieces[i] = rapid.SampledFrom([]string{`"a"`, `"b"`, `"\u0062"`, `"c"`, `"é"`}).Draw(t, "name") + ":"
			pieces[i] = strings.Replace(pieces[i], `":`, strings.Repeat("x", rapid.IntRange(0, 30).Draw(t, "x"))+`":`, 1)
		}
		pieces[i] += drawJSON(t, depth-1)
	}
	if object {
		return "{" + strings.Join(pieces, ",") + "}"
	}
	return "[" + strings.Join(pieces, " , ") + "]"
}

// FuzzScan holds the scanner against jsontext: both accept the same documents,
// and read the same text from a string.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,-2.5e+3,true,false,null,"x\u0041\ud83d\ude00\n"],"b":{"c":{}}}`, `"\ud800"`, "\"\xed\xa0\x80\"", `{"a":1,"\u0061":2}`,
		`{"text":"a\ud83d","id":"\udc00"}`, `["\ud83d\ud83d\ude00","\\ud83d"]`, `{"data":{"id":"\udead"},"\ud800":0}`,
		` [ ] `, `[1,]`, `01`, `"é€😀 and a long enough run of plain text to fill some words\t\"quoted\""`, "\ufeff1", `1e`, `{"":{"":{}}}`,
		`{"a":0,"b":0,"c":0,"d":0,"e":0,"f":0,"g":0,"h":0,"i":0,"j":0,"k":0,"l":0,"m":0,"n":0,"o":0,"p":0,"q":0,"r":0,"a":0}`,
	} {
		f.Add([]byte(seed))
	}
	addVectors(f)
	unlimited := Limits{Depth: 10_000, Members: math.MaxInt32}
	f.Fuzz(func(t *testing.T, doc []byte) {
		e := walk(doc, unlimited)
		if err := disagree(doc, e); err != nil {
			t.Fatal(err)
		}
		s := NewScanner(doc, unlimited)
		defer s.Release()
		if e != nil || s.Kind() != '"' {
			return
		}
		want, err := jsontext.AppendUnquote(nil, bytes.Trim(doc, " \t\r\n"))
		if got := s.Text(); err == nil && !bytes.Equal(got, want) || (err == nil) == s.Failed() {
			t.Fatalf("read %q, want %q (%v, %v)", got, want, err, s.Finish())
		}
	})
}

// disagree says how the scanner's word on a document is not jsontext's. jsontext takes no
// half of a surrogate pair: what we accept with some it has to accept once it is mended.
func disagree(doc []byte, e *Error) error {
	strict, mended := jsontext.Value(doc).IsValid(), jsontext.Value(jsonscan.Mend(doc)).IsValid()
	switch {
	case e == nil && !mended, e != nil && strict, e != nil && mended && !strings.Contains(e.Error(), "a surrogate is not part of a pair"):
		return fmt.Errorf("jsontext says %t, and %t once it is mended, we say %v", strict, mended, e)
	}
	return nil
}
