package gateway

import (
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/server"
)

// TestStatusHosts: addresses and the gateway's own names are served, other names are not.
func TestStatusHosts(t *testing.T) {
	t.Parallel()
	c := &server.Config{
		StatusAddress: "status.internal:9902", PublicURL: "https://agents.example.com:8443", Hosts: []string{"other.example.com:8080"},
		StatusHosts: []string{"gateway", "gateway-status.agents.svc", "[fd00::1]", "scrape.example.com:9902"},
	}
	for host, want := range map[string]bool{
		"": true, "127.0.0.1": true, "127.0.0.1:9902": true, "10.1.2.3:30902": true, "[::1]:9902": true, "[fd00::7]": true,
		"localhost": true, "LOCALHOST:9902": true, "machine": true, "machine:9902": true, "status.internal:9902": true,
		"agents.example.com": true, "agents.example.com:9902": true, "other.example.com:9902": true,
		"gateway:9902": true, "gateway-status.agents.svc:9902": true, "Gateway-Status.agents.svc": true, "scrape.example.com:9902": true,
		"scrape.example.com:9903": false, "evil.example.com": false, "evil.example.com:9902": false, "agents.example.com.evil.example": false,
		"evil": false, "localhost.evil.example": false, "127.0.0.1.evil.example": false, "2130706433": false, "0x7f000001": false,
		"gateway.": false, "user@localhost": false, "[::ffff:127.0.0.1]": false, "local_host": false, "a b": false,
	} {
		if got := served(host, "machine", c); got != want {
			t.Errorf("%q: served %v, want %v", host, got, want)
		}
	}
	if served("machine", "", &server.Config{StatusAddress: ":9902"}) {
		t.Error("a machine without a name has any")
	}
}
