package jws

import (
	"encoding/base64"
	"slices"
	"strings"
)

// Decode is base64url without padding (RFC 7515 §2), canonical: line breaks, which Go's
// decoder skips, are refused, and by Strict set bits in the unused end. Otherwise one
// signature would have many spellings.
//
//	"YQ"     a
//	"YQ=="   refused: padding
//	"YR"     refused: the last four bits are not zero, and "YQ" is the same byte
func Decode(part string) ([]byte, error) {
	for _, skipped := range []byte("\r\n") {
		if i := strings.IndexByte(part, skipped); i >= 0 {
			return nil, base64.CorruptInputError(i)
		}
	}
	return base64.RawURLEncoding.Strict().DecodeString(part)
}

// Banned reports whether a header with this parameter is refused: those with which a
// signature would choose its own key (jwk, jku, x5u, x5c), demands processing that is not
// done here (crit, b64, zip), or belongs to encryption. The ones that the caller reads
// are not, but every other spelling of them is, which a case-insensitive parser
// elsewhere could prefer.
//
//	jku   a URL of the signer's own key set: a verifier that followed it would trust anybody
//	jwk   the key itself, within what it is to prove
//	crit  extensions that a verifier must understand or refuse (RFC 7515 §4.1.11): here, refuse
func Banned(name string, read ...string) bool {
	lower := strings.ToLower(name)
	if slices.Contains(read, lower) {
		return name != lower
	}
	switch lower {
	case "jwk", "jku", "x5u", "x5c", "crit", "b64", "zip", "enc", "epk", "apu", "apv", "p2s", "p2c":
		return true
	}
	return false
}
