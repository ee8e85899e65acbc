package detect_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/detect"
)

// examples are what has to be found, by kind. Numbers are those that the issuers publish as
// examples, or made up with right check digits; secrets open nothing.
var examples = map[string][]string{
	"privateKey": {"-----BEGIN " + "PRIVATE KEY-----\nMIGHAgEAMBMG\n-----END " + "PRIVATE KEY-----"},
	"key":        {"AKIA" + "IOSFODNN7EXAMPLE", "ghp_" + strings.Repeat("a1", 18)},
	"token":      {"eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl"},
	"card":       {"4111 1111 1111 1111", "378282246310005"},
	"email":      {"alice@example.com", "jörg@müller.example"},
	"iban": {
		"DE89 3704 0044 0532 0130 00", "DE89370400440532013000", "GB82WEST12345698765432", "NL91 ABNA 0417 1643 00",
		"FR1420041010050500013M02606", "ch93 0076 2011 6238 5295 7", "NO93 8601 1117 947",
	},
	"id-be": {"85.07.30-033.28", "85073003328"},
	"id-br": {"529.982.247-25", "CPF 52998224725"},
	"id-ch": {"756.9217.0769.85", "7569217076985"},
	"id-cn": {"11010519491231002X", "11010519491231002x"},
	"id-de": {"86095742719", "86 095 742 719", "47036892816"},
	"id-es": {"12345678Z", "12345678-Z", "X1234567L", "x1234567l"},
	"id-fi": {"131052-308T"},
	"id-fr": {"2 55 08 14 168 025 38", "255081416802538"},
	"id-gb": {"NHS number: 943 476 5919"},
	"id-in": {"2341 2341 2346", "Aadhaar 234123412346"},
	"id-it": {"RSSMRA85T10A562S", "mrtmtt25d09f205z"},
	"id-nl": {"BSN 111222333", "burgerservicenummer: 1112.22.333"},
	"id-no": {"17054010060"},
	"id-pl": {"44051401359"},
	"id-pt": {"NIF 123456789", "contribuinte 123 456 789"},
	"id-se": {"811218-9876", "19811218-9876", "198112189876"},
	"id-us": {"078-05-1120"},
	"phone": {"+49 30 901820", "+1 (415) 555-2671", "(415) 555-2671", "415-555-2671", "+442071838750", "0049 30 901820", "+49 (0)30 901820"},
	"ip":    {"192.0.2.17", "2001:db8::8a2e:370:7334", "::1", "fe80::1"},
}

func set(t testing.TB, names ...string) *detect.Set {
	t.Helper()
	s, err := detect.New(names...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// all are the names of the kinds of a group.
func all(group string) (names []string) {
	for _, k := range detect.Kinds(group) {
		names = append(names, k.Name)
	}
	return names
}

// TestKinds: every kind finds its examples, alone and with all others, wherever in a sentence
// they stand, and finds them no more with one digit changed.
func TestKinds(t *testing.T) {
	t.Parallel()
	together := set(t, all("")...)
	for _, k := range detect.Kinds("") {
		if len(examples[k.Name]) == 0 {
			t.Errorf("%s has no examples", k.Name)
		}
		alone := set(t, k.Name)
		for _, example := range examples[k.Name] {
			for _, around := range [][2]string{{"", ""}, {"before ", ""}, {"(", ")"}, {"it is ", ", they say"}, {"ä ", "。"}} {
				text := around[0] + example + around[1]
				for _, s := range []*detect.Set{alone, together} {
					got := s.Find(nil, text)
					if len(got) != 1 || s == alone && got[0].Kind != k.Name {
						t.Errorf("%s: in %q is found %v", k.Name, text, got)
						continue
					}
					left := detect.Replace(text, got, func(string) string { return "" })
					if strings.ContainsAny(strings.TrimSuffix(left, around[1]), "0123456789@") {
						t.Errorf("%s: of %q is left %q", k.Name, text, left)
					}
				}
			}
		}
	}
}

// TestCheckDigits: one digit that is wrong makes another number of it, but for kinds without a check.
func TestCheckDigits(t *testing.T) {
	t.Parallel()
	for _, k := range detect.Kinds(detect.PII) {
		if k.Name == "email" || k.Name == "phone" || k.Name == "ip" || k.Name == "id-us" {
			continue
		}
		alone := set(t, k.Name)
		example := examples[k.Name][0]
		last := strings.LastIndexAny(example, "0123456789")
		wrong := example[:last] + string('0'+(example[last]-'0'+1)%10) + example[last+1:]
		if got := alone.Find(nil, wrong); len(got) > 0 {
			t.Errorf("%s: in %q is found %v", k.Name, wrong, got)
		}
	}
}

// TestInnocent: what agents and their callers write all day is none of it.
func TestInnocent(t *testing.T) {
	t.Parallel()
	s := set(t, all("")...)
	for _, text := range []string{
		"", "@", "a@b", "meet me @ 5.30", "Bearer of bad news", "Basic information about us", "the bearer token is missing",
		"1732284000000", "1732284000000000", "4111111111111112", "order 1234567890123456", "2026-11-22 13:17:32",
		"01a2034f-f6e8-7186-bb00-22e4f765d202", "sk-short", "https://example.com:8443/a@b", "eyJ",
		"http://example.com/?q=a:b@c", "-----BEGIN PUBLIC KEY-----", "invoice 111222333 of 943476591", "std::vector, a::b and c:::d",
		"version 1.2.3", "12:30:45", "10:00-12:00", "[::]", "sha256:" + strings.Repeat("0af1", 16), "DE00 1234", "RE12 3456 7890",
		"tracking 1Z999AA10123456784", "2026-11-29T19:04:05.123456789Z", "$1,234,567.89", "ISBN 978-3-16-148410-0", "00:1B:44:11:3A:B7",
		`{"score":4.532015112830366,"lat":37.8282246310005}`, "10.14 24.79 3.50 12.99 45.00 8.25 19.95 10.14 24.79", "3.0.2 4.1.26 5.2.11 4.2.0 6.1.9 5.0.3",
		strings.Repeat("1.2.3 ", 30), "from 2026-01-04 2026-03-17", "from 2026-12-02 2026-12-13", "in 2000 2002 2004 2006 2008 2010 2012",
		"674935746715928768", "order 123-1234567-1234567", "npm install react@18.2.0", "12 24 36 48 60 72 84 96 11 22 33 44",
		"line 10203040, col 5060708", "uuid 123e4567-e89b-12d3-a456-426614174000",
	} {
		if got := s.Find(nil, text); len(got) > 0 {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestUnknown: a misspelt kind is an error that names the right one.
func TestUnknown(t *testing.T) {
	t.Parallel()
	if _, err := detect.New("email", "ibam"); err == nil || err.Error() != `there is no kind "ibam", did you mean "iban"?` {
		t.Error(err)
	}
}

// TestTables: names are unique, and every row says what it is.
func TestTables(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, k := range detect.Kinds("") {
		if seen[k.Name] || k.What == "" || k.Group != detect.Secrets && k.Group != detect.PII {
			t.Errorf("%+v", k)
		}
		seen[k.Name] = true
	}
	if len(all(detect.Secrets)) != 3 || len(all("")) != len(all(detect.Secrets))+len(all(detect.PII)) {
		t.Error(all(""))
	}
}

// TestEmbedded: what stands among other texts is found all the same. Digits right behind a number may belong to it.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	s := set(t, all("")...)
	rapid.Check(t, func(rt *rapid.T) {
		k := rapid.SampledFrom(detect.Kinds("")).Draw(rt, "kind")
		example := rapid.SampledFrom(examples[k.Name]).Draw(rt, "example")
		before := rapid.StringMatching(`[a-zäß]{0,9}[ \n"(]`).Draw(rt, "before")
		behind := rapid.StringMatching(`([ \n",;)][a-zäß][a-zäß 0-9]{0,20})?`).Draw(rt, "behind")
		text := before + example + behind
		left := detect.Replace(text, s.Find(nil, text), func(string) string { return "_" })
		if kernel := example[strings.LastIndexAny(example, " :")+1:]; strings.Count(left, kernel) > strings.Count(before+behind, kernel) {
			rt.Fatalf("%s: of %q is left %q", k.Name, text, left)
		}
	})
}

// FuzzFind: findings are in order, within the text, and do not overlap; the same text has the same.
func FuzzFind(f *testing.F) {
	for _, list := range examples {
		for _, example := range list {
			f.Add(example)
		}
	}
	s := set(f, all("")...)
	f.Fuzz(func(t *testing.T, text string) {
		at := 0
		for _, found := range s.Find(nil, text) {
			if found.Begin < at || found.End <= found.Begin || found.End > len(text) {
				t.Fatalf("%q: %v", text, found)
			}
			at = found.End
		}
	})
}

// sentence is what a message of 700 bytes has for its text.
var sentence = strings.Repeat("Please refund order 1047 from last week, the room was not as it was described. ", 4)[:300]

func BenchmarkFind(b *testing.B) {
	for name, text := range map[string]string{
		"300B": sentence, "10KB": strings.Repeat(sentence, 34), "300B-number": sentence[:250] + " call +49 30 901820 or 1234567890123456 today",
	} {
		b.Run(name, func(b *testing.B) {
			s := set(b, append(all(detect.Secrets), all(detect.PII)...)...)
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			var room [4]detect.Finding
			for b.Loop() {
				_ = s.Find(room[:0], text)
			}
		})
	}
}
