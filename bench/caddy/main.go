// Command caddy is Caddy with what the benchmark needs of it: HTTP, its reverse
// proxy and TLS from files. It is a module of its own, so that none of it is in
// the gateway's.
//
//	caddy CONFIG.json
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/caddyserver/caddy/v2"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"
	_ "github.com/caddyserver/caddy/v2/modules/caddytls"
)

func main() {
	if err := run(); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "caddy:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 2 {
		return fmt.Errorf("usage: %s CONFIG.json", os.Args[0])
	}
	config, err := os.ReadFile(os.Args[1])
	if err != nil {
		return err
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	if err := caddy.Load(config, true); err != nil {
		return err
	}
	<-stop
	return caddy.Stop()
}
