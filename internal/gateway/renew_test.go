package gateway_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// TestOpenStreamsAreInUse: while a stream is open and nothing is said, the state is asked again
// and again for what it is about, a few times in its retention.
func TestOpenStreamsAreInUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := gatewaytest.Start(t, jsonrpc10())
	alice := w.key("alice")
	g := w.start(w.yaml(plain, openPolicy+fmt.Sprintf(
		"state: {driver: sqlite, retention: 2s}\nstreams: {persist: \"off\"}\nagents: [{id: a, card: %q}]\n", agent.CardURL)))
	looked := func() int {
		_, body := fetch(t, g.StatusURL()+"/metrics", nil)
		_, rest, _ := strings.Cut(body, `a2a_gateway_state_store_operations_total{operation="lookup",result="ok"} `)
		value, _, _ := strings.Cut(rest, "\n")
		n, _ := strconv.Atoi(value) // 0 where nothing has been asked for
		return n
	}
	c, _ := gatewaytest.Dial(t, gatewaytest.Go10, gatewaytest.HTTPClient(t, alice, nil), g.URL()+"/agents/a", "1.0", a2a.TransportProtocolJSONRPC)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	silent := listen(ctx, c, "auth")
	silent.hears(t, 1)
	before := looked()
	eventually(t, "what the stream is about is asked for", func() bool { return looked() >= before+3 })
}
