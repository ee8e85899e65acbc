package server

import (
	"io"
	"strings"
	"testing"
	"time"
)

func TestRoom(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		connections, descriptors, permitted int
		want                                connectionBudget
	}{
		{16384, 0, 0, connectionBudget{16384, 64, "connections"}}, // a system that does not say
		{16384, 0, 1 << 20, connectionBudget{16384, 64, "connections"}},
		{16384, 0, 1024, connectionBudget{448, 64, "descriptors"}},
		{16384, 0, 300, connectionBudget{88, 59, "descriptors"}},
		{16384, 300, 1 << 20, connectionBudget{88, 59, "descriptors"}},
		{16384, 1 << 20, 300, connectionBudget{88, 59, "descriptors"}}, // more than there are
		{50, 0, 300, connectionBudget{50, 64, "connections"}},
		{16384, 0, 10, connectionBudget{1, 1, "descriptors"}},
	} {
		l := Limits{Connections: tt.connections, Descriptors: tt.descriptors}
		got := l.budget(tt.permitted)
		if got != tt.want {
			t.Errorf("%d connections, %d of %d descriptors: %+v, want %+v",
				tt.connections, tt.descriptors, tt.permitted, got, tt.want)
		}
	}
}

// TestR16_SilentConnections: those above the limit who ask for nothing make room for
// others who do.
func TestR16_SilentConnections(t *testing.T) {
	t.Parallel()
	cfg := plaintext()
	cfg.Limits.Connections = 1
	s := start(t, cfg, empty(), func(s *Server) { s.told = 50 * time.Millisecond })
	dial(t, s)
	eventually(t, "one connection", func() bool { return s.Connections() == 1 })
	if got := ended(t, dial(t, s)); got != "" {
		t.Errorf("answer %q without a request", got)
	}
	c := dial(t, s)
	_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if got := ended(t, c); got != "" && !strings.HasPrefix(got, "HTTP/1.1 503") {
		t.Errorf("answer %q", got)
	}
}
