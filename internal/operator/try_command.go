package operator

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// command is the call as a shell and curl make it, with $CREDENTIAL in place of what the
// caller shows; "" over gRPC, whose messages curl does not frame. It can be pasted into a
// shell: each word is in single quotes, so that nothing in it is expanded, but for the
// credential, whose variable the operator sets. The host name is the public one, since the
// command is run elsewhere.
func (c *trial) command(r *http.Request) string {
	if c.side.Binding == wire.GRPC {
		return ""
	}
	words := []string{"curl", "-sS"}
	if c.streams() {
		words = append(words, "-N") // events are shown as they come
	}
	if c.verb != http.MethodGet && len(c.body) == 0 {
		// Curl sends a GET without a body, and a POST with one, without being told.
		words = append(words, "-X", c.verb)
	}
	words = append(words, quoted(c.outside(r)))
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		// The quote that begins the value is left out, as name and value are one word:
		// 'Accept: …'.
		line := "'" + name + ": " + quoted(r.Header.Get(name))[1:]
		switch {
		case name == "User-Agent":
			continue
		case c.APIKey != "" && name == http.CanonicalHeaderKey(c.keys):
			line = `"` + name + `: $CREDENTIAL"`
		case c.Bearer != "" && name == "Authorization":
			line = `"Authorization: Bearer $CREDENTIAL"`
		}
		words = append(words, "-H", line)
	}
	if len(c.body) > 0 {
		words = append(words, "--data-raw", quoted(string(c.body)))
	}
	return strings.Join(words, " ")
}

// outside is the address that clients have, whatever something in front makes of its path.
// The listener's prefix goes, and the path of the public URL takes its place.
func (c *trial) outside(r *http.Request) string {
	origin := r.URL.Scheme + "://" + r.URL.Host
	return origin + c.public.Path + strings.TrimPrefix(r.URL.String(), origin+c.prefix)
}

// quoted is a word that a shell leaves as it is. A single quote ends the quoted text,
// stands escaped for itself, and begins the next: it's becomes 'it'\”s'.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
