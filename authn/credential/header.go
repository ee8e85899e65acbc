package credential

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// CheckHeader refuses names of headers that could not carry a credential; canonical is
// the same name in its canonical form. One of the reserved headers may be exempt.
func CheckHeader(name, canonical, exempt string) error {
	// Underscores and dots are refused by the strict header screen in front of the
	// gateway, so a header spelled with them could never arrive.
	const allowed = "abcdefghijklmnopqrstuvwxyz0123456789-"
	if strings.Trim(strings.ToLower(name), allowed) != "" {
		return keypath.At(fmt.Errorf("%q is not made of letters, digits and hyphens", name), "header")
	}
	if canonical != exempt && slices.Contains(reservedHeaders(), canonical) {
		return keypath.At(fmt.Errorf("%q has a meaning of its own", name), "header")
	}
	return nil
}

// reservedHeaders cannot carry credentials: HTTP or A2A gives them a meaning, and
// stripping them as credentials would break the call; or they go on to agents whatever
// is in them.
func reservedHeaders() []string {
	return []string{"Authorization", "Proxy-Authorization", "Cookie", "Host", "Content-Type",
		"Content-Length", "Content-Encoding", "Transfer-Encoding", "Connection", "Accept", "Te",
		"Accept-Language", "User-Agent", "Idempotency-Key", "Last-Event-Id",
		"Upgrade", "Expect", "Forwarded", "Via", "Traceparent", "Tracestate", ProofHeader,
		http.CanonicalHeaderKey("A2A-Version"), http.CanonicalHeaderKey("A2A-Extensions"),
		http.CanonicalHeaderKey("X-A2A-Extensions")}
}
