package card

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// VersionHeader is the request header that chooses a card's form, in the
// canonical form of net/http.
const VersionHeader = "A2a-Version"

// Reply is a rendered card on its way to a client.
type Reply struct {
	Body []byte // from Render
	ETag string // from Render

	// Private marks a card that was made for one caller. It is never stored and
	// carries no entity tag, which would tell one caller's permissions from
	// another's wherever it is logged.
	Private bool

	// MaxAge is how long a public card may be reused; zero makes clients ask
	// every time, which with the entity tag is cheap.
	MaxAge time.Duration

	// Credentials are the headers that carry credentials, named in Vary. They are
	// named on public cards too: a shared cache would otherwise answer a caller
	// from the card that it keeps for everybody (RFC 9111 §4.1).
	Credentials []string
}

// ServeHTTP answers a GET or HEAD request, with 304 where the client already
// has these bytes (RFC 9110 §13.1.2). Other verbs are the router's affair.
func (p Reply) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	if p.Private {
		h.Set("Cache-Control", "private, no-store")
	} else {
		h.Set("Cache-Control", "public, max-age="+strconv.Itoa(int(max(p.MaxAge, 0)/time.Second)))
		h.Set("Etag", p.ETag)
	}
	h.Set("Vary", strings.Join(append([]string{VersionHeader}, p.Credentials...), ", "))
	if !p.Private && matches(r.Header.Values("If-None-Match"), p.ETag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(p.Body)))
	h.Set("X-Content-Type-Options", "nosniff") // the texts are the agent's
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(p.Body) // the client is gone; there is nobody left to tell
	}
}

// matches compares weakly, as If-None-Match wants: intermediaries that compress
// turn a strong tag into a weak one.
func matches(lines []string, etag string) bool {
	for _, line := range lines {
		for tag := range strings.SplitSeq(line, ",") {
			tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/")
			if tag == "*" || tag == etag {
				return true
			}
		}
	}
	return false
}
