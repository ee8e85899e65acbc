package demo

import (
	"net/http"
	"strings"
)

// CostCentre is the extension both agents declare. Its metadata key is the URI
// and the value is a string, the cost centre to book the call on.
const CostCentre = "https://billing.example/extensions/cost-centre/v1"

// The header that names extensions was called X-A2A-Extensions before 1.0.
const (
	extensionsHeader   = "A2A-Extensions"
	extensionsHeader03 = "X-A2A-Extensions"
)

// lists reports whether one of the header lines names the extension. Both ways
// of listing are accepted: one line per URI, or commas.
func lists(lines []string, uri string) bool {
	// RFC 9110 §5.3: lines of one field are one list.
	for _, line := range lines {
		for item := range strings.SplitSeq(line, ",") {
			if strings.TrimSpace(item) == uri {
				return true
			}
		}
	}
	return false
}

// echoExtensions tells the caller that the extension was activated, under each
// header name the caller used. The SDK servers keep the list but do not send it.
func echoExtensions(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{extensionsHeader, extensionsHeader03} {
			if lists(r.Header.Values(name), CostCentre) {
				w.Header().Set(name, CostCentre)
			}
		}
		next.ServeHTTP(w, r)
	})
}

// costCentre reads the extension's value from a message's metadata; "none" when
// the caller activated the extension without giving one.
func costCentre(metadata map[string]any) string {
	if v, ok := metadata[CostCentre].(string); ok && v != "" {
		return v
	}
	return "none"
}

// words splits a message text into the word that chooses the behaviour, in
// lower case, and the rest.
func words(text string) (word, rest string) {
	word, rest, _ = strings.Cut(strings.TrimSpace(text), " ")
	return strings.ToLower(strings.TrimRight(word, ".,:!?")), strings.TrimSpace(rest)
}
