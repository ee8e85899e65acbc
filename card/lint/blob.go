package lint

import "regexp"

// shortestBlob is as many characters as no identifier or digest has: SHA-512 in
// hexadecimal is 128 long.
const shortestBlob = 160

// markup is an element of HTML that a page would obey. Text between angle brackets that
// is none, as <id>, is how people write what has to be filled in. Comments count because no page
// shows them, while a model reads them like anything else.
var markup = regexp.MustCompile(`(?i)</?(a|abbr|applet|audio|base|body|br|button|canvas|details|div|embed|font|form|frame|head|` +
	`hr|html|iframe|img|input|link|marquee|math|meta|object|p|script|select|span|style|svg|table|textarea|video)(\s[^>]*|/)?>|<!--|\bjavascript:`)

// blob finds a run of base64 or hexadecimal that is long enough to be a text of its own:
// what is written there nobody reads who approves the card. It returns the length, 0 for
// none.
//
// Digits and letters both have to be in it: a line of dashes, or a long word, is none. What is
// encoded is not decoded and looked through: it could be encoded twice, and a card has no use for it.
func blob(s string) int {
	run, digits, letters := 0, 0, 0
	for i := 0; i <= len(s); i++ {
		if i < len(s) && isBlobByte(s[i]) {
			run++
			if s[i] >= '0' && s[i] <= '9' {
				digits++
			} else {
				letters++
			}
			continue
		}
		if run >= shortestBlob && digits > 0 && letters > 0 {
			return run
		}
		run, digits, letters = 0, 0, 0
	}
	return 0
}

// isBlobByte accepts both alphabets of base64 (RFC 4648), of which hexadecimal is a part.
func isBlobByte(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '+' || c == '/' || c == '=' || c == '_' || c == '-'
}
