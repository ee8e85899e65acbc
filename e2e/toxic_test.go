package e2e

import (
	"context"
	"errors"
	"strings"
	"testing"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// cable is a connection that can be made bad: a proxy in front of an address.
type cable struct {
	t     *testing.T
	proxy *toxiproxy.Proxy
	bad   []string // the names of its toxics
}

// newCable leads to the address. It has a port that nobody else is given while it is cut.
func newCable(t *testing.T, address string) *cable {
	t.Helper()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.Nop())
	c := &cable{t: t, proxy: toxiproxy.NewProxy(server, address, gatewaytest.FreeAddress(), address)}
	if err := c.proxy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.proxy.Stop)
	return c
}

// address is where the cable begins; it stays the same when the cable was cut.
func (c *cable) address() string { return c.proxy.Listen }

// cut breaks what is open, and refuses connections until the cable is mended.
func (c *cable) cut() { c.proxy.Stop() }

// spoil puts a toxic on the cable, by its type and attributes in JSON, from the address
// to its clients.
func (c *cable) spoil(kind, attributes string) {
	c.t.Helper()
	made, err := c.proxy.Toxics.AddToxicJson(strings.NewReader(`{"type":"` + kind + `","attributes":` + attributes + `}`))
	if err != nil {
		c.t.Error(err)
		return
	}
	c.bad = append(c.bad, made.Name)
}

// mend makes it a good cable again.
func (c *cable) mend() {
	c.t.Helper()
	for _, name := range c.bad {
		if err := c.proxy.Toxics.RemoveToxic(context.Background(), name); err != nil {
			c.t.Error(err)
		}
	}
	c.bad = nil
	if err := c.proxy.Start(); err != nil && !errors.Is(err, toxiproxy.ErrProxyAlreadyStarted) {
		c.t.Errorf("mend the cable: %v", err)
	}
}
