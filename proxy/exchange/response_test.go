package exchange_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/buffers"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// reset is the ResponseWriter of a stream that its client has reset.
type reset struct{ kept []byte }

var errReset = errors.New("stream closed")

func (r *reset) Header() http.Header { return http.Header{} }
func (r *reset) WriteHeader(int)     {}

func (r *reset) Write(p []byte) (int, error) {
	r.kept = p
	return 0, errReset
}

// TestUnwrittenAnswersAreNotShared: bytes of which a frame may be on its way to a client who
// has gone are nobody's buffer.
func TestUnwrittenAnswersAreNotShared(t *testing.T) {
	t.Parallel()
	for range 100 { // a pool may forget what it is given
		b, client := buffers.New(), &reset{}
		const secret = "what only this caller may see"
		if err := b.Fill(strings.NewReader(secret), -1, 1<<10); err != nil {
			t.Fatal(err)
		}
		x := &exchange.Exchange{ParsedCall: exchange.ParsedCall{Call: wire.Call{Binding: wire.JSONRPC}}, FromClient: exchange.FromClient{Writer: &exchange.Response{ResponseWriter: client}}}
		x.Send(b.Bytes())
		x.GiveBack(b)
		if x.Rec.End == "" || !x.Writer.Failed {
			t.Fatal("nobody noticed")
		}
		if next := buffers.New(); next == b {
			t.Fatal("the next call writes where the last one's answer is")
		}
	}
}
