// Package servecmd has the verb that runs the gateway: its signals, and the upgrade of the
// running program.
package servecmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/gateway"
	"github.com/a2a-gateway/a2a-gateway/internal/server/sockets"
)

// Command is the command that internal/cli mounts.
func Command(version string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the gateway",
		Long: "Run the gateway until SIGTERM or SIGINT, which drain it; a second one ends it at once.\n" +
			"SIGHUP reloads the configuration; so does a change of the file. SIGUSR2 replaces the\n" +
			"running program by the one that is by now at its path, if that accepts the configuration;\n" +
			"connections that come meanwhile wait, and the process stays the same.",
		Args: cobra.NoArgs,
	}
	path := verb.ConfigFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, err := config.Load(*path)
		if err != nil {
			return verb.Usage(err)
		}
		// GOMEMLIMIT from the cgroup, where nobody has set it: the collector then works
		// harder before the system ends the process, and calls are refused before that.
		if _, err := memlimit.Set(); err != nil {
			_, _ = fmt.Fprintln(cmd.ErrOrStderr(), "a2a-gateway: memory limit:", err)
		}
		return Serve(cmd.Context(), cfg, *path, version, nil)
	}
	return cmd
}

// Serve runs a gateway until ctx ends or a signal comes. ready is called once
// it serves; path, when not empty, is followed for changes.
func Serve(ctx context.Context, cfg *config.Config, path, version string, ready func(*gateway.Gateway)) error {
	stop := make(chan os.Signal, 2)
	signal.Notify(stop, syscall.SIGTERM, os.Interrupt)
	defer signal.Stop(stop)
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	next, err := awaitUpgrade(path)
	if err != nil {
		return verb.Failed(err)
	}
	defer next.done()

	inherited, err := sockets.Inherited()
	if err != nil {
		return verb.Usage(err)
	}
	g, err := gateway.New(ctx, cfg, gateway.Options{Version: version, Sockets: inherited})
	if err != nil {
		return verb.Usage(err)
	}
	// net/http prints what it has to say of agents' connections, which would stand between
	// lines of JSON.
	slog.SetDefault(g.Log())
	g.Start()
	if ready != nil {
		ready(g)
	}
	follow, unfollow := context.WithCancel(ctx)
	defer unfollow()
	if path != "" {
		go g.Follow(follow, path, hup)
	}
	replaced := await(ctx, g, stop, next)
	unfollow()
	drain, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	go func() {
		<-stop // a second signal: now
		cancel()
	}()
	if replaced {
		return next.run(drain, g)
	}
	if err := g.Shutdown(drain); err != nil && !errors.Is(err, context.Canceled) {
		return verb.Failed(err)
	}
	return nil
}

// await waits until the gateway is to end, or to become another version that would
// serve its configuration.
func await(ctx context.Context, g *gateway.Gateway, stop <-chan os.Signal, next *upgrade) (replaced bool) {
	for {
		select {
		case <-stop:
			return false
		case <-ctx.Done():
			return false
		case <-next.asked():
			err := next.check(ctx)
			g.ReportUpgrade(err)
			if err == nil {
				return true
			}
		}
	}
}
