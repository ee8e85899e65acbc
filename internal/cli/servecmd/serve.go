// Package servecmd has the verb that runs the gateway: its signals, and the upgrade of the running
// program.
//
//	SIGTERM, SIGINT  drain: calls that are open are finished; the second one ends at once
//	SIGHUP           read the configuration again, as a change of the file does
//	SIGUSR2          become the program that is by now at this one's path, with the sockets
//
// Exit 0 after a drain, 1 where serving failed, 2 where the configuration or an address is refused
// before anybody was served. The log goes to standard error, and standard output stays empty.
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

	"github.com/a2a-gateway/a2a-gateway/internal/cli/arguments"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/gateway"
	"github.com/a2a-gateway/a2a-gateway/internal/server/sockets"
)

// Command is `a2a-gateway serve`, which internal/cli mounts.
func Command(version string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the gateway",
		Long: "Run the gateway until SIGTERM or SIGINT. The gateway then drains; a second signal ends it at once.\n" +
			"The gateway reloads the configuration when the file changes, or on SIGHUP. SIGUSR2 starts a hot\n" +
			"restart: the program now at the gateway's path takes over if it accepts the configuration. New\n" +
			"connections wait meanwhile, and the process id stays the same.",
		Args: arguments.None,
	}
	path := verb.ConfigFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, err := config.Load(*path)
		if err != nil {
			return verb.Unread(*path, err)
		}
		// GOMEMLIMIT from the cgroup, where nobody has set it: the collector then works
		// harder before the system ends the process, and calls are refused before that.
		if _, err := memlimit.Set(); err != nil {
			_, _ = fmt.Fprintln(cmd.ErrOrStderr(), "a2a-gateway: memory limit:", err)
		}
		return taken(Serve(cmd.Context(), cfg, *path, version, nil), *path)
	}
	return cmd
}

// taken says what can be done about a port that somebody else has: the error names the key and the address, and
// has exit code 2, as another port in the configuration at path mends it.
func taken(err error, path string) error {
	if !errors.Is(err, syscall.EADDRINUSE) {
		return err
	}
	return verb.Usage(fmt.Errorf("%w\nAnother process has this port, such as another gateway: end it, or set this key to another port in %s", err, path))
}

// Serve runs a gateway until ctx ends or a signal comes. ready is called once it serves; path,
// when not empty, is followed for changes. Signals are asked for before anything is opened, so
// that one that comes while the gateway starts ends it by the same way.
func Serve(ctx context.Context, cfg *config.Config, path, version string, ready func(*gateway.Gateway)) error {
	// Room for two: the second one must not be lost while the first is handled.
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

	// Sockets of systemd (LISTEN_FDS), or of the version before this one.
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
	// Not ctx, which has ended: draining takes as long as the configuration says.
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

// await waits until the gateway is to end, or to become another version that would serve its
// configuration. An upgrade that is refused is reported, to the log and the audit log, and the
// wait goes on: the next SIGUSR2 tries again.
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
