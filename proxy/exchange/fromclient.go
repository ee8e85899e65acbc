package exchange

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
	"github.com/a2a-gateway/a2a-gateway/proxy/buffers"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/ending"
)

// FromClient is the request as the connection has it, and the response to its client (begin).
type FromClient struct {
	Writer  *Response       // begin; out
	Out     Response        // begin
	Request *http.Request   // begin
	Site    Site            // begin; where the path leads
	Ctx     context.Context // begin; carries the trace and the client's disconnect, nothing else
	Client  netip.Addr      // begin; for the record, and what refused credentials are counted by; nobody is let in by it
	ID      [1]string       // begin; the request's, as headers have it
	length  [1]string       // forward; that of the answer, likewise
}

// Holder is who has what the exchange takes of what all share: the caller. Those who do not say
// who they are differ by their addresses, as far as one client has more than one for itself.
func (x *Exchange) Holder() string {
	if !x.Principal.Anonymous() {
		return x.Principal.Key()
	}
	if x.network == "" { // fairShare asks first, before others could at the same time
		x.network = x.clientNetwork()
	}
	return x.network
}

// clientNetwork is the client's address, or its /64 network of IPv6.
func (x *FromClient) clientNetwork() string {
	from := x.Client.Unmap().WithZone("")
	if from.Is6() {
		network, _ := from.Prefix(64) // never fails
		from = network.Addr()
	}
	return from.String()
}

// Nonce gives the caller a value for DPoP proofs to hold (RFC 9449 §9).
func (x *FromClient) Nonce(value string) {
	if value != "" {
		x.Writer.Header().Set("DPoP-Nonce", value)
	}
}

// CallerBytes is the same of the caller.
func (x *FromClient) CallerBytes() translate.Bytes {
	agent := strings.ToLower(x.Request.UserAgent())
	for _, name := range scripts {
		if strings.Contains(agent, name) {
			return translate.Plain
		}
	}
	return translate.Doubled
}

// Source is the caller's address, the zero Addr when there is none.
func (x *FromClient) Source() netip.Addr { return x.Client.Unmap() }

// GiveBack releases a buffer whose bytes were written to the client. Where a write failed it
// is left to the collector: a stream of HTTP/2 that is reset ends its writer at once, while a
// frame of the bytes may be on its way, and would have those of the next call in it.
func (x *FromClient) GiveBack(b *buffers.Buffer) {
	if !x.Writer.Failed {
		b.Release()
	}
}

// Received sends the answer, and reports whether somebody was there to get it.
func (x *FromClient) Received() bool {
	return http.NewResponseController(x.Writer).Flush() == nil && x.Request.Context().Err() == nil
}

// Publish answers with a document that is the same for everybody, or with 304 to who
// has it already.
func (x *FromClient) Publish(mediaType string, body []byte) error {
	if x.Request.Method != http.MethodGet && x.Request.Method != http.MethodHead {
		return NotAllowed([]string{http.MethodGet, http.MethodHead})
	}
	sum := sha256.Sum256(body)
	h := x.Writer.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Cache-Control", "public, max-age=300")
	h.Set("Etag", `"`+hex.EncodeToString(sum[:16])+`"`)
	h.Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(x.Writer, x.Request, "", time.Time{}, bytes.NewReader(body))
	return nil
}

// ClientLeft reports whether an exchange ended because its client did. A body
// that came too slowly also ends the request's context; its sender is still there.
func (x *Exchange) ClientLeft(err error) bool {
	if errors.Is(err, ending.ErrGone) || errors.Is(err, ending.ErrSlow) {
		return true
	}
	return x.ClientContext().Err() != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

// ClientContext ends when the client goes away. That of the request itself ends with its handler.
func (x *Exchange) ClientContext() context.Context {
	if x.Away != nil {
		return x.Away.Context()
	}
	return x.Request.Context()
}

// Measure says how long an answer is.
func (x *FromClient) Measure(out []byte) {
	x.length[0] = strconv.Itoa(len(out))
	x.Writer.Header()["Content-Length"] = x.length[:]
}
