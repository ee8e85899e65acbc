package status

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
		"machine.gateway": true, "machine.gateway-status.agents.svc:9902": true, "MACHINE.Gateway-Status.Agents.svc": true,
		"machine.scrape.example.com:9902": true, "machine.scrape.example.com:9903": false, "machine.scrape.example.com": false,
		"machine.status.internal": false, "machine.localhost": false, "machine.agents.example.com": false, "machine.machine": false,
		"other.gateway": false, "machine.other.gateway": false, "gateway.machine": false, "machine.gateway.evil.example": false,
		"machine.evil.example": false, "machine..gateway": false, ".gateway": false, "machine.": false, "machine.gateway.": false,
		"gateway.": false, "user@localhost": false, "[::ffff:127.0.0.1]": false, "local_host": false, "a b": false,
	} {
		if got := served(host, "machine", c); got != want {
			t.Errorf("%q: served %v, want %v", host, got, want)
		}
	}
	nameless := &server.Config{StatusAddress: ":9902", StatusHosts: []string{"gateway"}}
	for host, want := range map[string]bool{"machine": false, "machine.gateway": false, ".gateway": false, "gateway": true} {
		if got := served(host, "", nameless); got != want {
			t.Errorf("a machine without a name: %q: served %v, want %v", host, got, want)
		}
	}
	// As the pods of a StatefulSet are named by its headless service.
	named := &server.Config{StatusAddress: ":9902", StatusHosts: []string{"a2a-gateway-status.agents.svc.cluster.local"}}
	if !served("a2a-gateway-0.a2a-gateway-status.agents.svc.cluster.local:9902", "A2A-Gateway-0", named) {
		t.Error("a pod's name is not served")
	}
}
