package doctorcmd

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/console"
)

// listeners looks whether the ports are free, or are served by this gateway already.
func (d *doctor) listeners(ctx context.Context, cfg *config.Config) {
	runs := running(ctx, cfg)
	if runs {
		d.ok("gateway", "one of this configuration runs")
	}
	check := func(key, address string) {
		if address == "" || address == "off" {
			return
		}
		d.listener(ctx, key, address, runs)
	}
	check("server.address", cfg.Server.Address)
	check("server.statusAddress", cfg.Server.StatusAddress)
	if !cfg.Admin.Off() {
		check("admin.address", cfg.Admin.Address)
	}
}

// listener binds a port for a moment.
func (d *doctor) listener(ctx context.Context, key, address string, runs bool) {
	if _, port, err := net.SplitHostPort(address); err == nil && strings.Trim(port, "0") == "" {
		d.ok(key, "%s takes any free port", address)
		return
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	switch {
	case err == nil:
		_ = l.Close() // nobody was let in
		d.ok(key, "%s is free", address)
	case errors.Is(err, syscall.EADDRINUSE) && runs:
		d.ok(key, "%s is served by the gateway that runs", address)
	case errors.Is(err, syscall.EADDRINUSE):
		_, port, _ := net.SplitHostPort(address)
		d.fail(key, "%s is another process's: end that (ss -ltnp 'sport = :%s' names it), or choose another port", address, port)
	case errors.Is(err, syscall.EACCES):
		d.fail(key, "%s may not be bound by this user: choose a port above 1023, or give the unit AmbientCapabilities=CAP_NET_BIND_SERVICE", address)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		d.fail(key, "%s is no address of this machine: :PORT listens on all that it has", address)
	default:
		d.fail(key, "%s cannot be bound: %v", address, err)
	}
}

// running reports whether a gateway of this configuration runs on this machine: its status listener
// has the gateway's metrics, or it has left in the data directory where it listens.
func running(ctx context.Context, cfg *config.Config) bool {
	if answers(ctx, cfg.Server.StatusAddress) {
		return true
	}
	address, err := console.ReadAddress(filepath.Join(cfg.Server.DataDir, console.AddressFile))
	if err != nil {
		return false
	}
	var dialer net.Dialer
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	_ = conn.Close() // that it was there is all
	return true
}

// answers reports whether a status listener of a gateway is at an address.
func answers(ctx context.Context, address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil || strings.Trim(port, "0") == "" {
		return false
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/metrics", nil)
	if err != nil {
		return false
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		return false
	}
	defer resp.Body.Close()                                 // only read from
	head, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20)) // what came counts
	return bytes.Contains(head, []byte("a2a_gateway_"))
}
