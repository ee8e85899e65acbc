package record_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"syscall"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/overload"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
	"github.com/a2a-gateway/a2a-gateway/proxy/record"
)

// TestR16_NoDescriptorForTheAgent: an agent that could not be connected to for want of a
// descriptor is not said to be away.
func TestR16_NoDescriptorForTheAgent(t *testing.T) {
	t.Parallel()
	away := &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	none := &net.OpError{Op: "dial", Err: os.NewSyscallError("socket", syscall.EMFILE)}
	for _, tt := range []struct {
		err  error
		want overload.Rung
		text string
	}{
		{fmt.Errorf("reach: %w", none), "descriptors", "the gateway has too much to do (server.limits.descriptors)"},
		{fmt.Errorf("reach: %w", away), "", "the agent is not reachable at the moment"},
		{openstreams.ErrStreams, "streams", "the gateway has too much to do (server.limits.streams)"},
		{overload.Memory, "memory", "the gateway has too much to do (server.limits.memory)"},
	} {
		if got := record.Overloaded(tt.err); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.err, got, tt.want)
		}
		e := new(record.Recorder).Refusal(new(exchange.Exchange), tt.err)
		if e.RPC != http.StatusServiceUnavailable || e.Message != tt.text || e.Header.Get("Retry-After") == "" {
			t.Errorf("%v: %d %q %v", tt.err, e.RPC, e.Message, e.Header)
		}
	}
}
