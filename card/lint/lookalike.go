package lint

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// twins are letters of other scripts, in lower case, each before the Latin one that it
// looks like in most typefaces.
const twins = "аa вb ьb сc ԁd еe һh іi јj кk ӏl мm нh пn оo рp ԛq гr ѕs тt υu ѵv ѡw хx уy ѐe ёe ϲc ϳj αa βb γy εe ηn ιi κk νv οo ρp τt χx ωw ոn սu օo հh յj ցg քp զq " +
	"ıi ɩi ɑa ɡg ᴀa ʙb ᴄc ᴅd ᴇe ɢg ʜh ᴊj ᴋk ᴍm ɴn ᴏo ᴘp ʀr ꜱs ᴛt ᴜu ᴠv ᴡw ᴢz łl øo đd ŧt"

var twin = pairs(twins)

func pairs(list string) map[rune]rune {
	m := make(map[rune]rune)
	for pair := range strings.FieldsSeq(list) {
		r := []rune(pair)
		m[r[0]] = r[1]
	}
	return m
}

// Fold reduces a name to what people tell names apart by at a glance: two names with one
// fold look alike. Case, spaces and punctuation do not count, nor do the scripts that
// letters are of, nor one and ell, zero and O.
// It is for comparing and not for showing: "Billing 1" and "bi11ing-l" have one fold.
func Fold(name string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(Clean(name)) {
		r = unicode.ToLower(r)
		if latin, ok := twin[r]; ok {
			r = latin
		}
		switch r {
		case '0':
			r = 'o'
		case '1', 'i', '|':
			r = 'l'
		case '5':
			r = 's'
		}
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			b.WriteRune(r)
		}
	}
	// rn looks like m, and vv like w, in most typefaces.
	return strings.ReplaceAll(strings.ReplaceAll(b.String(), "rn", "m"), "vv", "w")
}

// lookalike finds homoglyphs (UTS #39: confusables): a word that mixes Latin letters with those of another script that look
// like Latin ones, "" for none.
// A word in one script only is none, whatever its letters look like: most of the world does not
// write Latin.
func lookalike(s string) string {
	for word := range strings.FieldsFuncSeq(s, func(r rune) bool { return !unicode.IsLetter(r) }) {
		latin, foreign := false, false
		for _, r := range word {
			_, known := twin[unicode.ToLower(r)]
			isLatin := unicode.Is(unicode.Latin, r)
			latin, foreign = latin || isLatin, foreign || known && !isLatin
		}
		if latin && foreign {
			return word
		}
	}
	return ""
}
