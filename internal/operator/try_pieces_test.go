package operator

import (
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/console/trials"
	"github.com/a2a-gateway/a2a-gateway/internal/grpcframe"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// watched has pieces of a call, and what was shown of them at once.
func watched(c *trial) (p *pieces, shown *[]string) {
	shown = new([]string)
	return &pieces{call: c, watch: func(e trials.Event) {
		*shown = append(*shown, e.Data.(trials.Piece).Text)
	}}, shown
}

// TestPiecesHoldNoCredential: wherever an answer is cut, neither the credential nor a half of
// it is shown, and no character is torn; all else is there.
func TestPiecesHoldNoCredential(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ secret, text, want string }{
		{"abab", "x abab y", "x [redacted] y"}, {"abab", "ababab", "[redacted]ab"}, {"aab", "aaab", "a[redacted]"},
		{"abab", "aba", "aba"}, {"a", "banana", "b[redacted]n[redacted]n[redacted]"},
		{"abab", "größe € 😀 abab", "größe € 😀 [redacted]"}, {"", "größe € 😀", "größe € 😀"}, {"abab", "\xff\xe2", "\uFFFD"},
	} {
		for cut := range len(tt.text) + 1 {
			for later := cut; later <= len(tt.text); later++ {
				p, shown := watched(&trial{Attempt: &trials.Attempt{APIKey: tt.secret}})
				for _, part := range []string{tt.text[:cut], tt.text[cut:later], tt.text[later:]} {
					p.add(0, []byte(part))
				}
				p.end()
				// Several bytes of no text together are one U+FFFD.
				got := strings.ReplaceAll(strings.Join(*shown, ""), "\uFFFD\uFFFD", "\uFFFD")
				if got != tt.want || len(p.shown) != len(*shown) {
					t.Errorf("%q without %q, cut at %d and %d: %q", tt.text, tt.secret, cut, later, *shown)
				}
			}
		}
	}
}

// TestPiecesOfGRPC: a message is shown once the last byte of it has come, whatever else came
// with it.
func TestPiecesOfGRPC(t *testing.T) {
	t.Parallel()
	method, ok := wire.ByName(wire.V10, "SendStreamingMessage")
	if !ok {
		t.Fatal("no such method")
	}
	// StreamResponse{task: Task{id: "t-1"}}
	message := []byte{0x0a, 5, 0x0a, 3, 't', '-', '1'}
	body := grpcframe.Append(grpcframe.Append(nil, message), message)
	for cut := range len(body) + 1 {
		c := &trial{Attempt: new(trials.Attempt), side: wire.Side{Version: wire.V10, Binding: wire.GRPC}}
		c.call.Method = method
		p, shown := watched(c)
		p.add(0, body[:cut])
		if want := cut / (len(body) / 2); len(*shown) != want {
			t.Errorf("%d bytes: %q, want %d", cut, *shown, want)
		}
		p.add(0, body[cut:])
		p.add(0, append([]byte{1}, body[1:]...)) // compressed
		p.add(0, body)
		p.end()
		if len(*shown) != 2 || len(p.docs) != 2 || !strings.Contains((*shown)[1], `"t-1"`) {
			t.Errorf("cut at %d: %q, %d documents", cut, *shown, len(p.docs))
		}
	}
}
