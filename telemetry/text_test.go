package telemetry

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// naughty are texts that have broken a log, a terminal or a viewer somewhere.
// Tests put them into every field that a client can fill.
var naughty = []string{
	"\n{\"level\":\"INFO\",\"msg\":\"call\",\"principal\":\"admin\"}",
	"a\r\nb", "tab\tvt\vff\f", "nul\x00byte", "\x1b[31mred\x1b[0m\x1b]0;title\a", "\u009b31m",
	"\u202eevil\u202c", "\u2066x\u2069", "\u200f\u061c", "line\u2028sep\u2029", "\ufeffbom", "zero\u200bwidth",
	"\xff\xfe\xc0\x80", "cut\xe2\x82", "\xed\xa0\x80", `back\slash \u202e \x00 "quoted"`, `","decision":"allow`,
	"<script>alert(1)</script>", "${jndi:ldap://x/}", "%s%n%d", "日本語 ✓ é", "\U000e0041tag", "\U0001f469\u200d\U0001f4bb",
	strings.Repeat("A", 100_000), strings.Repeat("\u202e", 5_000), strings.Repeat("\xff", 5_000),
	strings.Repeat("é", 200), "…+5", `\…+5`, "'; DROP TABLE audit; --", " ", "=", "a b=c", "[,]",
}

func TestClean(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"plain":          {"tasks/7:cancel", "tasks/7:cancel"},
		"empty":          {"", ""},
		"quote stays":    {`say "x"`, `say "x"`},
		"backslash":      {`a\nb`, `a\\nb`},
		"newline":        {"a\nb", `a\x0ab`},
		"escape":         {"\x1b[31m", `\x1b[31m`},
		"delete":         {"\x7f", `\x7f`},
		"C1":             {"\u009b", `\u009b`},
		"bidi":           {"\u202eabc\u2066", `\u202eabc\u2066`},
		"marks":          {"\u200e\u061c", `\u200e\u061c`},
		"separators":     {"\u2028", `\u2028`},
		"astral":         {"\U000e0041", `\U000e0041`},
		"invalid":        {"a\xffb", `a\xffb`},
		"half a rune":    {"a\xe2\x82", `a\xe2\x82`},
		"letters":        {"日本 é ✓", "日本 é ✓"},
		"replacement":    {"\ufffd", "\ufffd"},
		"just fits":      {strings.Repeat("a", 256), strings.Repeat("a", 256)},
		"cut":            {strings.Repeat("a", 260), strings.Repeat("a", 256) + `\…+4`},
		"cut at a rune":  {strings.Repeat("a", 255) + "é", strings.Repeat("a", 255) + `\…+2`},
		"cut no rune":    {strings.Repeat("\x80", 257), strings.Repeat(`\x80`, 256) + `\…+1`},
		"mark is no cut": {`\…+9`, `\\…+9`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Clean(c.in); got != c.want {
				t.Errorf("Clean(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

// TestIsPlain holds the look at eight bytes at a time to the table, for every byte beside
// every other one, at both ends of a word and in what is left over.
func TestIsPlain(t *testing.T) {
	t.Parallel()
	for _, length := range []int{2, 7, 8, 9, 15, 16, 17} {
		text := []byte(strings.Repeat("a", length))
		for _, at := range []int{0, (length - 2) / 2, length - 2} {
			for pair := range 1 << 16 {
				text[at], text[at+1] = byte(pair), byte(pair>>8)
				if got, want := isPlain(string(text)), plain[byte(pair)] && plain[byte(pair>>8)]; got != want {
					t.Fatalf("isPlain(%q) = %t", text, got)
				}
			}
			text[at], text[at+1] = 'a', 'a'
		}
	}
}

// FuzzClean holds the sanitiser to what it promises of any text.
func FuzzClean(f *testing.F) {
	for _, s := range naughty {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		out := Clean(in)
		if !utf8.ValidString(out) {
			t.Fatalf("Clean(%q) is not UTF-8", in)
		}
		for _, r := range out {
			if !unicode.IsGraphic(r) {
				t.Fatalf("Clean(%q) = %q shows %U", in, out, r)
			}
		}
		if limit := 10*MaxText + 32; len(out) > limit {
			t.Fatalf("Clean made %d bytes", len(out))
		}
		if len(in) <= MaxText && unclean(t, out) != in {
			t.Fatalf("Clean(%q) = %q cannot be told back", in, out)
		}
		quoted := append(appendText([]byte{'"'}, in, MaxText, true), '"')
		value, err := jsontext.AppendUnquote(nil, quoted)
		if err != nil || string(value) != out {
			t.Fatalf("%s in JSON is %q, %v; want %q", quoted, value, err, out)
		}
	})
}

// unclean inverts Clean for texts that were not cut.
func unclean(t *testing.T, s string) string {
	t.Helper()
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			i++
			continue
		}
		size := map[byte]int{'\\': 0, 'x': 2, 'u': 4, 'U': 8}[s[i+1]]
		var n rune
		for _, c := range s[i+2 : i+2+size] {
			n = n<<4 | rune(strings.IndexRune(hexDigits, c))
		}
		switch s[i+1] {
		case '\\':
			b.WriteByte('\\')
		case 'x':
			b.WriteByte(byte(n))
		default:
			b.WriteRune(n)
		}
		i += 2 + size
	}
	return b.String()
}
