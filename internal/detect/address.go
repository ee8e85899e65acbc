package detect

import (
	"net/netip"
	"strings"
)

// longestAddress is that of an IPv6 address with an IPv4 one at its end.
const longestAddress = 45

// addresses finds IP addresses: four numbers with dots, and what an IPv6 address is written with.
// Versions of programs with four numbers look the same.
func addresses(found []span, s string) []span {
	for i := 0; i < len(s); i++ {
		if !isAddressByte(s[i]) || i > 0 && (inWord(s[i-1]) || s[i-1] == '.' || s[i-1] == ':') {
			continue
		}
		end := i
		for end < len(s) && isAddressByte(s[end]) {
			end++
		}
		text := strings.TrimRight(s[i:end], ".")
		if !strings.HasPrefix(text, "::") && !strings.HasSuffix(text, "::") {
			text = strings.TrimRight(text, ":")
		}
		if isAddress(text) && (i+len(text) == len(s) || !inWord(s[i+len(text)])) {
			found = append(found, span{i, i + len(text)})
		} else if host, _, port := strings.Cut(text, ":"); port && isAddress(host) { // 10.0.0.1:8080
			found = append(found, span{i, i + len(host)})
		}
		i = end - 1
	}
	return found
}

// isAddress reports an address that is one of a host: those of two characters, such as "::", are
// operators of programming languages.
func isAddress(text string) bool {
	if len(text) < 6 && !strings.HasPrefix(text, "::") || len(text) < 3 || len(text) > longestAddress {
		return false
	}
	_, err := netip.ParseAddr(text)
	return err == nil
}

func isAddressByte(c byte) bool {
	return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' || c == '.' || c == ':'
}
