package jwt

import (
	"errors"
	"fmt"
	"strings"
)

// decisive are the claims that receivers of tokens read by type.
func decisive() [10]string {
	return [...]string{"iss", "sub", "aud", "exp", "iat", "nbf", "nonce", "at_hash", "_claim_names", "_claim_sources"}
}

// checkForm refuses tokens whose claims are not of the types that OpenID Connect gives
// them, also where nothing is decided by them here, and names that are a decisive one in
// other letters. Agents read the tokens that are passed on to them with libraries that
// take the last of "iss" and "ISS" and fail on types; what they make of a token must not
// be another thing than what was judged.
func checkForm(claims map[string]any) error {
	for name, v := range claims {
		switch name {
		case "sub", "nonce", "at_hash":
			if !isText(v) {
				return refuse(faultClaims, fmt.Errorf("claim %s is not a string", name))
			}
		default:
			if !unusual(name) {
				continue
			}
			for _, d := range decisive() {
				if mimics(name, d) {
					return refuse(faultClaims, fmt.Errorf("claim %.20q beside %s", name, d))
				}
			}
		}
	}
	if err := checkSources(claims); err != nil {
		return refuse(faultClaims, err)
	}
	return nil
}

// checkSources holds claims that are elsewhere (OpenID Connect Core §5.6.2) to the
// sources that they name. Nothing is ever fetched from there.
func checkSources(claims map[string]any) error {
	sources, ok := members(claims["_claim_sources"])
	if !ok {
		return errors.New("claim _claim_sources is not an object")
	}
	for _, v := range sources {
		source, ok := members(v)
		if !ok {
			return errors.New("claim _claim_sources: source is not an object")
		}
		for name, v := range source {
			if (strings.EqualFold(name, "endpoint") || strings.EqualFold(name, "access_token")) && !isText(v) {
				return fmt.Errorf("claim _claim_sources: %s is not a string", name)
			}
		}
	}
	away, ok := members(claims["_claim_names"])
	if !ok {
		return errors.New("claim _claim_names is not an object")
	}
	for name, v := range away {
		source, _ := v.(string)
		if _, ok := sources[source]; !ok || source == "" {
			return fmt.Errorf("claim _claim_names: source of %.40q does not exist", name)
		}
	}
	return nil
}

// isText and members take null for a claim that is left out.
func isText(v any) bool {
	_, ok := v.(string)
	return ok || v == nil
}

func members(v any) (map[string]any, bool) {
	m, ok := v.(map[string]any)
	return m, ok || v == nil
}

// mimics reports whether a name is another one in other letters, as Unicode folds them:
// "ISS", and also "i\u017fs".
func mimics(name, of string) bool { return name != of && strings.EqualFold(name, of) }

// unusual reports whether a name has anything but small letters, digits and signs. Only
// such a name can mimic a decisive one, and few tokens have any.
func unusual(name string) bool {
	for i := range len(name) {
		if c := name[i]; 'A' <= c && c <= 'Z' || c >= 0x80 {
			return true
		}
	}
	return false
}
