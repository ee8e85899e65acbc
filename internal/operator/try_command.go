package operator

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// command is the call as a shell and curl make it, with $CREDENTIAL in place of what the
// caller shows; "" over gRPC, whose messages curl does not frame.
func (c *trial) command(r *http.Request) string {
	if c.side.Binding == wire.GRPC {
		return ""
	}
	words := []string{"curl", "-sS"}
	if c.streams() {
		words = append(words, "-N") // events are shown as they come
	}
	if c.verb != http.MethodGet && len(c.body) == 0 {
		words = append(words, "-X", c.verb)
	}
	words = append(words, quoted(c.outside(r)))
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
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
func (c *trial) outside(r *http.Request) string {
	origin := r.URL.Scheme + "://" + r.URL.Host
	return origin + c.public.Path + strings.TrimPrefix(r.URL.String(), origin+c.prefix)
}

// quoted is a word that a shell leaves as it is.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
