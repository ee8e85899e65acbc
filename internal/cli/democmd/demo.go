// Package democmd has the demonstration: a gateway in front of sample agents, and each of its
// parts alone. Builds with the tag minimal are without it (internal/feature), as it is the one
// part of the program that needs the SDKs of A2A.
//
// `demo` runs everything in one process:
//
//	demo.Agent10 (billing)   A2A 1.0, JSON-RPC, HTTP+JSON and gRPC
//	demo.Agent03 (weather)   A2A 0.3
//	demo.NewIssuer           tokens for alice, bob and carol, whose secrets are known
//	servecmd.Serve           the gateway, with a configuration written for them
//	cast.play                calls of made-up people, until the end
//
// What it writes (configuration, API keys, state, audit log) is in a temporary directory that goes
// with it. Nothing here is fit for use: secrets of the issuer are known to everybody, which is why
// it listens on loopback.
package democmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/arguments"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/servecmd"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/console"
	"github.com/a2a-gateway/a2a-gateway/internal/demo"
	"github.com/a2a-gateway/a2a-gateway/internal/gateway"
)

// Command is `a2a-gateway demo`, which internal/cli mounts, with the verbs of its parts below. It
// ends by SIGINT or SIGTERM with exit code 0, as serve does; 2 where a port is taken.
func Command(version string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run the gateway with sample agents, and print curl commands to try",
		Long: "Start two sample agents (A2A 0.3 and 1.0), a development OIDC issuer and the gateway in\n" +
			"front of them, and print commands to paste. All of them run in this process, on loopback. The\n" +
			"gateway serves the second agent under two names, billing and treasury, with different rules.\n" +
			"Made-up people make calls all the time, and the console shows the results. The demo deletes\n" +
			"all its data at the end. The verbs below run one part alone, for your own gateway.",
		Args: arguments.None,
	}
	// Only the gateway's address can be chosen; agents and issuer are found by the configuration.
	address := cmd.Flags().String("address", demoAddress, "gateway `address`, host or host:port; with a port other than 8080, the console and\n"+
		"the status listener pick free ports; with port 0, the gateway does too")
	traffic := cmd.Flags().Bool("traffic", true, "make about a call a second, for the console to show")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return runDemo(cmd.Context(), version, *address, *traffic, cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	cmd.AddCommand(demoParts()...)
	return cmd
}

// cast is everything the demonstration consists of; the texts of text.go have it, first as a
// configuration and then, with the addresses that are known by then, as instructions.
type cast struct {
	Billing, Weather *demo.Agent
	Issuer           *demo.Issuer
	Dir, Keys, Key   string
	listeners
	Gateway, Status string
	Extension       string
	Console, Token  string // of administration
}

// runDemo runs the demonstration until the gateway ends. The order is that of the dependencies:
// the agents and the issuer have addresses before the configuration names them, and the
// instructions are printed once the gateway serves, so that whoever pastes a command at once finds
// it there. What ends goes in the other order: traffic, gateway, agents, directory.
func runDemo(ctx context.Context, version, address string, traffic bool, stdout, stderr io.Writer) (err error) {
	c := &cast{Extension: demo.CostCentre}
	if err := c.listenAt(address); err != nil {
		return verb.Usage(err)
	}
	if c.Dir, err = os.MkdirTemp("", "a2a-gateway-demo-"); err != nil {
		return verb.Failed(err)
	}
	defer os.RemoveAll(c.Dir) // a leftover directory harms nobody
	// Registered before start, which may fail half-way.
	defer func() { err = errors.Join(err, c.close()) }()
	if err := c.start(); err != nil {
		return verb.Failed(err)
	}
	// The configuration is a file, loaded and followed like any other: the demonstration shows
	// what a change of it does.
	path := filepath.Join(c.Dir, "config.yaml")
	// Its owner alone may read it: there is a key in it.
	if err := os.WriteFile(path, []byte(c.fill(demoConfig)), 0o600); err != nil {
		return verb.Failed(err)
	}
	cfg, err := config.Load(path)
	if err != nil {
		return verb.Failed(err)
	}
	// Serve ends for a signal while ctx goes on, so that play needs a context of its own to end
	// by.
	ctx, cancel := context.WithCancel(ctx)
	var play sync.WaitGroup
	// Deferred functions run the last one first: cancel, then the wait for calls that are open.
	defer play.Wait()
	defer cancel()
	// Serve returns when the gateway has drained. What the function says is said once it serves.
	return taken(servecmd.Serve(ctx, cfg, path, version, func(g *gateway.Gateway) {
		c.Gateway, c.Status, c.Console = g.URL(), g.StatusURL(), g.AdminURL()
		// The gateway has made the token by now. It is printed, in the clear, because everything
		// ends with this process.
		token, err := console.ReadToken(filepath.Join(c.Dir, console.TokenFile))
		if err != nil {
			_, _ = fmt.Fprintln(stderr, "a2a-gateway: read the token of the console:", err)
		}
		c.Token = token.Reveal()
		if _, err := io.WriteString(stdout, c.fill(demoText)); err != nil {
			_, _ = fmt.Fprintln(stderr, "a2a-gateway: print instructions:", err)
		}
		if traffic {
			play.Go(func() { c.play(ctx) })
		}
	}))
}

// start starts the agents and the issuer on free ports of loopback, and makes the API key of "ci".
// Step is the pause between two events of a stream, slow enough to watch.
func (c *cast) start() (err error) {
	// Both agents take free ports, as nothing but the configuration names them.
	if c.Billing, err = demo.Agent10(demo.Options{Step: 400 * time.Millisecond}); err != nil {
		return fmt.Errorf("start billing agent: %w", err)
	}
	if c.Weather, err = demo.Agent03(demo.Options{Step: 400 * time.Millisecond}); err != nil {
		return fmt.Errorf("start weather agent: %w", err)
	}
	if c.Issuer, err = demo.NewIssuer(demo.IssuerOptions{}); err != nil {
		return fmt.Errorf("start development issuer: %w", err)
	}
	c.Keys = filepath.Join(c.Dir, "keys.yaml")
	keys, err := apikey.Open(c.Keys)
	if err != nil {
		return err
	}
	// The key of the pipeline that traffic.go has call in A2A 0.3.
	_, c.Key, err = keys.Create(apikey.Spec{ID: "ci", Groups: []string{"pipelines"}})
	return err
}

// close ends whatever start has started, also where it stopped half-way, within 5 s.
func (c *cast) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var errs []error
	// Nil where start ended before it.
	for _, a := range []*demo.Agent{c.Billing, c.Weather} {
		if a != nil {
			errs = append(errs, a.Close(ctx))
		}
	}
	if c.Issuer != nil {
		errs = append(errs, c.Issuer.Close(ctx))
	}
	return errors.Join(errs...)
}

// proxied reports whether curl asks a proxy, loopback addresses included, unless it is told
// otherwise.
//
// The instructions then have --noproxy, since curl would ask that proxy for 127.0.0.1.
func (*cast) proxied() bool {
	return cmp.Or(os.Getenv("http_proxy"), os.Getenv("all_proxy"), os.Getenv("ALL_PROXY")) != ""
}
