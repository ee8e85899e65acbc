package detect

// ibanLengths are those of the registry (ISO 13616), by country.
var ibanLengths = map[string]int{
	"AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BI": 27, "BR": 29,
	"BY": 28, "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DJ": 27, "DK": 18, "DO": 28, "EE": 20, "EG": 29,
	"ES": 24, "FI": 18, "FK": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28,
	"HN": 28, "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20,
	"LB": 28, "LC": 32, "LI": 21, "LT": 20, "LU": 20, "LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19,
	"MN": 20, "MR": 27, "MT": 31, "MU": 30, "NI": 28, "NL": 18, "NO": 15, "OM": 23, "PK": 24, "PL": 28, "PS": 29,
	"PT": 25, "QA": 29, "RO": 24, "RS": 22, "RU": 33, "SA": 24, "SC": 31, "SD": 18, "SE": 24, "SI": 19, "SK": 24,
	"SM": 27, "SO": 23, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20,
	"YE": 30,
}

// ibans finds bank account numbers, in one piece or in groups.
//
// It looks for the two check digits behind two letters, since words have no digits there.
func ibans(found []span, s string) []span {
	for i := 2; i+2 < len(s); i++ {
		if !isDigit(s[i]) || !isDigit(s[i+1]) || !isLetter(s[i-1]) || !isLetter(s[i-2]) || i > 2 && inWord(s[i-3]) {
			continue
		}
		if end := ibanAt(s, i-2); end > 0 {
			found = append(found, span{i - 2, end})
			i = end
		}
	}
	return found
}

// ibanAt is where the number ends that begins here, 0 for none. What it is made of is compared
// modulo 97 on the way: the first four characters belong behind the others.
func ibanAt(s string, begin int) (end int) {
	country := [2]byte{s[begin] &^ 0x20, s[begin+1] &^ 0x20}
	length := ibanLengths[string(country[:])]
	if length == 0 {
		return 0
	}
	sum, at, n := 0, begin+4, 4
	for n < length {
		if at < len(s) && !isAlnum(s[at]) {
			at += separator(s[at:])
		}
		if at >= len(s) || !isAlnum(s[at]) {
			return 0
		}
		sum = mod97(sum, s[at])
		at++
		n++
	}
	for _, c := range []byte(s[begin : begin+4]) {
		sum = mod97(sum, c)
	}
	if sum != 1 || at < len(s) && inWord(s[at]) {
		return 0
	}
	return at
}

// mod97 appends a character to a number modulo 97: letters count from 10 (ISO 7064).
func mod97(sum int, c byte) int {
	if isDigit(c) {
		return (sum*10 + int(c-'0')) % 97
	}
	return (sum*100 + int(c|0x20-'a') + 10) % 97
}
