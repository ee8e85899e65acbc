package detect

// identities are the kinds of national identification numbers, by country. The text Check says
// what makes it unlikely that another number is taken for one.
func identities() []kind {
	id := func(country, what, check string, at numberCheck, find finder) kind {
		return kind{Kind{"id-" + country, PII, what, check}, needsDigits, at, find}
	}
	return []kind{
		id("be", "a Belgian national register number", "a date of birth, modulo 97", belgian, nil),
		id("br", "a Brazilian CPF", "two check digits, with its punctuation or the word CPF before it", brazilian, nil),
		id("ch", "a Swiss AHV number", "the prefix 756, EAN-13", swiss, nil),
		id("cn", "a Chinese resident identity number", "a date of birth, ISO 7064 mod 11-2", chinese, nil),
		id("de", "a German tax identification number", "which digits repeat, ISO 7064 mod 11,10", german, nil),
		id("es", "a Spanish DNI or NIE", "the letter, modulo 23", nil, spanish),
		id("fi", "a Finnish personal identity code", "a date of birth, the character, modulo 31", finnish, nil),
		id("fr", "a French social security number", "sex and month of birth, modulo 97", french, nil),
		id("gb", "a number of the National Health Service", "modulo 11, with the word NHS before it", british, nil),
		id("in", "an Indian Aadhaar number", "Verhoeff, in groups of four or with the word Aadhaar before it", indian, nil),
		id("it", "an Italian codice fiscale", "the form, the letter", nil, italian),
		id("nl", "a Dutch BSN", "modulo 11, with the word BSN before it", dutch, nil),
		id("no", "a Norwegian national identity number", "a date of birth, two check digits", norwegian, nil),
		id("pl", "a Polish PESEL", "a date of birth, the check digit", polish, nil),
		id("pt", "a Portuguese NIF", "modulo 11, with the word NIF before it", portuguese, nil),
		id("se", "a Swedish personal identity number", "a date of birth, Luhn, with its separator or in 12 digits", swedish, nil),
		id("us", "a US social security number", "the hyphens; numbers that are never given; it has no check digit", american, nil),
	}
}

func belgian(s string, _ int, x *number) int {
	end := x.end(s, 11)
	month := x.value(2, 4) % 20
	if end == 0 || x.value(4, 6) > 31 || month > 12 {
		return 0
	}
	key, body := x.value(9, 11), x.value(0, 9)
	if key == 97-body%97 || key == 97-(2_000_000_000+body)%97 {
		return end
	}
	return 0
}

func brazilian(s string, begin int, x *number) int {
	end := x.end(s, 11)
	written := x.ends[2] > 0 && x.ends[5] > 0 && x.ends[8] > 0
	if end == 0 || !written && !introduced(s, begin, "cpf") {
		return 0
	}
	one := x.weighed(10, 9, 8, 7, 6, 5, 4, 3, 2) * 10 % 11 % 10
	two := x.weighed(11, 10, 9, 8, 7, 6, 5, 4, 3, 2) * 10 % 11 % 10
	if int(x.digits[9]) == one && int(x.digits[10]) == two && !x.same(11) {
		return end
	}
	return 0
}

// same reports whether the first n digits are one.
func (x *number) same(n int) bool {
	for _, d := range x.digits[1:n] {
		if d != x.digits[0] {
			return false
		}
	}
	return true
}

func swiss(s string, _ int, x *number) int {
	end := x.end(s, 13)
	if end == 0 || x.value(0, 3) != 756 {
		return 0
	}
	if sum := x.weighed(1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1); sum%10 != 0 {
		return 0
	}
	return end
}

// chinese has 17 digits and a check character, which may be X: the only one with a letter at its end.
func chinese(s string, begin int, x *number) int {
	if x.n < 17 || !x.solid(17) || !isDate(x.value(12, 14), x.value(10, 12)) {
		return 0
	}
	end := begin + 18
	if end > len(s) || !bounded(s, begin, end) {
		return 0
	}
	last := s[end-1]
	if last == 'x' {
		last = 'X'
	}
	check := "10X98765432"[x.weighed(7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)%11]
	if century := x.value(6, 8); last != check || century < 18 || century > 20 {
		return 0
	}
	return end
}

func german(s string, _ int, x *number) int {
	end := x.end(s, 11)
	if end == 0 || x.digits[0] == 0 {
		return 0
	}
	// Of the first ten digits one stands two or three times, and all others once or never.
	var counts [10]int
	for _, d := range x.digits[:10] {
		counts[d]++
	}
	many := 0
	for _, n := range counts {
		if n > 3 {
			return 0
		}
		if n > 1 {
			many++
		}
	}
	product := 10
	for _, d := range x.digits[:10] {
		sum := (int(d) + product) % 10
		if sum == 0 {
			sum = 10
		}
		product = sum * 2 % 11
	}
	if many != 1 || int(x.digits[10]) != (11-product)%10 {
		return 0
	}
	return end
}

// spanish finds eight digits and a letter, or X, Y or Z for the first of the digits.
func spanish(found []span, s string) []span {
	const letters = "TRWAGMYFPDXBNJZSQVHLCKE"
	for i := 0; i+9 <= len(s); i++ {
		value, first := 0, s[i]&^0x20
		switch {
		case isDigit(s[i]):
			value = int(s[i] - '0')
		case first >= 'X' && first <= 'Z':
			value = int(first - 'X')
		default:
			continue
		}
		n := 1
		for ; n < 8 && isDigit(s[i+n]); n++ {
			value = value*10 + int(s[i+n]-'0')
		}
		end := i + 9
		if n == 8 && s[i+8] == '-' {
			end++
		}
		if n == 8 && end <= len(s) && isLetter(s[end-1]) && s[end-1]&^0x20 == letters[value%23] && bounded(s, i, end) {
			found = append(found, span{i, end})
		}
		i += n - 1
	}
	return found
}

// finnish is a date of birth, a sign of the century, three digits and a check character.
func finnish(s string, begin int, x *number) int {
	end := begin + 11
	if end > len(s) || !fits(s[begin:begin+6], "dddddd") || !fits(s[begin+7:begin+10], "ddd") || !bounded(s, begin, end) {
		return 0
	}
	const centuries = "+-YXWVUABCDEF"
	sign := false
	for i := range len(centuries) {
		sign = sign || s[begin+6] == centuries[i]
	}
	value := 0
	for _, c := range []byte(s[begin:begin+6] + s[begin+7:begin+10]) {
		value = value*10 + int(c-'0')
	}
	if !sign || !isDate(x.value(0, 2), x.value(2, 4)) || s[end-1] != "0123456789ABCDEFHJKLMNPRSTUVWXY"[value%31] {
		return 0
	}
	return end
}

func french(s string, _ int, x *number) int {
	end := x.end(s, 15)
	if month := x.value(3, 5); end == 0 || x.digits[0] != 1 && x.digits[0] != 2 || month == 0 || month > 12 && month < 20 {
		return 0
	}
	if x.value(13, 15) != 97-x.value(0, 13)%97 {
		return 0
	}
	return end
}

func british(s string, begin int, x *number) int {
	end := x.end(s, 10)
	if end == 0 || !introduced(s, begin, "nhs") {
		return 0
	}
	check := 11 - x.weighed(10, 9, 8, 7, 6, 5, 4, 3, 2)%11
	if check%11 != int(x.digits[9]) || check == 10 {
		return 0
	}
	return end
}

// The tables of Verhoeff's check.
var (
	verhoeffTimes = [10][10]byte{
		{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 2, 3, 4, 0, 6, 7, 8, 9, 5}, {2, 3, 4, 0, 1, 7, 8, 9, 5, 6}, {3, 4, 0, 1, 2, 8, 9, 5, 6, 7},
		{4, 0, 1, 2, 3, 9, 5, 6, 7, 8}, {5, 9, 8, 7, 6, 0, 4, 3, 2, 1}, {6, 5, 9, 8, 7, 1, 0, 4, 3, 2}, {7, 6, 5, 9, 8, 2, 1, 0, 4, 3},
		{8, 7, 6, 5, 9, 3, 2, 1, 0, 4}, {9, 8, 7, 6, 5, 4, 3, 2, 1, 0},
	}
	verhoeffTurn = [8][10]byte{
		{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 5, 7, 6, 2, 8, 3, 0, 9, 4}, {5, 8, 0, 3, 7, 9, 6, 1, 4, 2}, {8, 9, 1, 6, 0, 4, 3, 5, 2, 7},
		{9, 4, 5, 3, 1, 2, 6, 8, 7, 0}, {4, 2, 8, 6, 5, 7, 3, 9, 0, 1}, {2, 7, 9, 3, 8, 0, 6, 4, 1, 5}, {7, 0, 4, 6, 9, 1, 3, 2, 5, 8},
	}
)

func indian(s string, begin int, x *number) int {
	end := x.end(s, 12)
	inFours := x.grouped(3, 7) && !x.fourMore(12) && !listed(s, begin) // else a row of years, or dates
	if end == 0 || x.digits[0] < 2 || !inFours && !introduced(s, begin, "aadhaar") {
		return 0
	}
	check := byte(0)
	for i := range 12 {
		check = verhoeffTimes[check][verhoeffTurn[i%8][x.digits[11-i]]]
	}
	if check != 0 {
		return 0
	}
	return end
}

// italian finds sixteen letters and digits of which the last is a check letter.
func italian(found []span, s string) []span {
	const form = "aaaaaaddaddaddda"
	for i := 0; i+len(form) <= len(s); i++ {
		if !isDigit(s[i+9]) && !isDigit(s[i+10]) || !isLetter(s[i]) || i > 0 && inWord(s[i-1]) {
			continue
		}
		if end := i + len(form); bounded(s, i, end) && fiscal(s[i:end], form) {
			found = append(found, span{i, end})
			i = end - 1
		}
	}
	return found
}

// fiscal reports whether a code has the form, in which digits may be the letters that stand for them where two
// people would have the same one, and the right check letter.
func fiscal(code, form string) bool {
	odd := [26]int{1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23}
	sum := 0
	for i := range len(form) {
		c := code[i]
		if form[i] == 'a' && !isLetter(c) || form[i] == 'd' && !isDigit(c) && indexFold("lmnpqrstuv", string([]byte{c | 0x20})) < 0 {
			return false
		}
		value := int(c|0x20) - 'a'
		if isDigit(c) {
			value = int(c - '0')
		}
		switch {
		case i == len(form)-1:
			return sum%26 == value
		case i%2 == 0:
			sum += odd[value]
		default:
			sum += value
		}
	}
	return false
}

func dutch(s string, begin int, x *number) int {
	end := x.end(s, 9)
	if end == 0 || !introduced(s, begin, "bsn", "burgerservicenummer") || x.weighed(9, 8, 7, 6, 5, 4, 3, 2, -1)%11 != 0 || x.same(9) {
		return 0
	}
	return end
}

func norwegian(s string, _ int, x *number) int {
	end := x.end(s, 11)
	day := x.value(0, 2)
	if day > 40 {
		day -= 40 // a D-number
	}
	if end == 0 || !isDate(day, x.value(2, 4)) ||
		x.weighed(3, 7, 6, 1, 8, 9, 4, 5, 2, 1)%11 != 0 || x.weighed(5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1)%11 != 0 {
		return 0
	}
	return end
}

func polish(s string, _ int, x *number) int {
	end := x.end(s, 11)
	if end == 0 || !x.solid(11) || !isDate(x.value(4, 6), x.value(2, 4)%20) ||
		x.weighed(1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)%10 != 0 {
		return 0
	}
	return end
}

func portuguese(s string, begin int, x *number) int {
	end := x.end(s, 9)
	if end == 0 || !introduced(s, begin, "nif", "contribuinte") {
		return 0
	}
	check := 11 - x.weighed(9, 8, 7, 6, 5, 4, 3, 2)%11
	if check > 9 {
		check = 0
	}
	if int(x.digits[8]) != check {
		return 0
	}
	return end
}

// swedish is YYMMDD-NNNC, with a plus for people over a hundred, or the same behind a century.
func swedish(s string, begin int, x *number) int {
	y := *x
	end := begin + 11
	switch {
	case end <= len(s) && (fits(s[begin:end], "dddddd-dddd") || fits(s[begin:end], "dddddd+dddd")):
		y = digitsOf(s[begin:begin+6] + s[begin+7:end])
	case x.n >= 12 && (x.value(0, 2) == 19 || x.value(0, 2) == 20) && (x.grouped() || x.grouped(7)):
		end = x.end(s, 12)
		copy(y.digits[:], x.digits[2:12])
	default:
		return 0
	}
	day := y.value(4, 6)
	if day > 60 {
		day -= 60 // a coordination number
	}
	if end == 0 || !bounded(s, begin, end) || !isDate(day, y.value(2, 4)) {
		return 0
	}
	sum := 0
	for i, d := range y.digits[:10] {
		n := int(d) * (2 - i%2)
		sum += n/10 + n%10
	}
	if sum%10 != 0 {
		return 0
	}
	return end
}

// digitsOf is a number of digits alone.
func digitsOf(s string) (x number) {
	x.read(s, 0)
	return x
}

func american(s string, begin int, x *number) int {
	const form = "ddd-dd-dddd"
	end := begin + len(form)
	if end > len(s) || !fits(s[begin:end], form) || !bounded(s, begin, end) || end < len(s) && s[end] == '-' {
		return 0
	}
	if area := x.value(0, 3); area == 0 || area == 666 || area >= 900 || x.value(3, 5) == 0 || x.value(5, 9) == 0 {
		return 0
	}
	return end
}
