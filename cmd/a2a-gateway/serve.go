package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/gateway"
)

const defaultConfig = "/etc/a2a-gateway/config.yaml"

// configFlag adds -c/--config; A2A_GATEWAY_CONFIG changes its default.
func configFlag(cmd *cobra.Command) *string {
	def := defaultConfig
	if env := os.Getenv("A2A_GATEWAY_CONFIG"); env != "" {
		def = env
	}
	return cmd.Flags().StringP("config", "c", def, "configuration `file`")
}

func serveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the gateway",
		Long: "Run the gateway until SIGTERM or SIGINT, which drain it; a second one ends it at once.\n" +
			"SIGHUP reloads the configuration; so does a change of the file.",
		Args: cobra.NoArgs,
	}
	path := configFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, err := config.Load(*path)
		if err != nil {
			return usage(err)
		}
		return serve(cmd.Context(), cfg, *path, nil)
	}
	return cmd
}

// serve runs a gateway until ctx ends or a signal comes. ready is called once
// it serves; path, when not empty, is followed for changes.
func serve(ctx context.Context, cfg *config.Config, path string, ready func(*gateway.Gateway)) error {
	stop := make(chan os.Signal, 2)
	signal.Notify(stop, syscall.SIGTERM, os.Interrupt)
	defer signal.Stop(stop)
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)

	g, err := gateway.New(ctx, cfg, gateway.Options{Version: version()})
	if err != nil {
		return usage(err)
	}
	g.Start()
	if ready != nil {
		ready(g)
	}
	follow, unfollow := context.WithCancel(ctx)
	defer unfollow()
	if path != "" {
		go g.Follow(follow, path, hup)
	}
	select {
	case <-stop:
	case <-ctx.Done():
	}
	unfollow()
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), cfg.Server.Timeouts.Drain.Std())
	defer cancel()
	go func() {
		<-stop // a second signal: now
		cancel()
	}()
	if err := g.Shutdown(drain); err != nil && !errors.Is(err, context.Canceled) {
		return failed(err)
	}
	return nil
}
