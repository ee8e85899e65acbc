package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/proxy/card"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
)

func validateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "validate",
		Short: "Check a configuration file without serving",
		Long: "Check a configuration file: syntax, keys, values, rules and the files it names.\n" +
			"With --online, also fetch every agent's card. Exit 0 when all is well, 2 when the\n" +
			"configuration is wrong, 1 when only the online checks failed.",
		Args: cobra.NoArgs,
	}
	path := configFlag(cmd)
	online := cmd.Flags().Bool("online", false, "also fetch every agent's card")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, err := config.Load(*path)
		if err != nil {
			return usage(err)
		}
		warnings, err := cfg.Check()
		if err != nil {
			return usage(err)
		}
		for _, w := range warnings {
			_, _ = fmt.Fprintln(cmd.ErrOrStderr(), "warning:", w)
		}
		if *online {
			if err := fetchCards(cmd.Context(), cfg); err != nil {
				return failed(err)
			}
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: ok (agents: %d, rules: %d)\n", *path, len(cfg.Agents), len(cfg.Policy.Rules))
		return err
	}
	return cmd
}

func fetchCards(ctx context.Context, cfg *config.Config) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	var errs []error
	for _, a := range cfg.Agents {
		up, err := upstream.New(a.Config)
		if err != nil {
			errs = append(errs, fmt.Errorf("agent %s: %w", a.ID, err))
			continue
		}
		c, err := card.Fetch(ctx, up.Client(), a.Card.URL, 0)
		if err != nil {
			errs = append(errs, fmt.Errorf("agent %s: %w", a.ID, err))
			continue
		}
		if usable, _ := c.Endpoints(a.Card.URL, a.Endpoints); len(usable) == 0 {
			errs = append(errs, fmt.Errorf("agent %s: the card names no endpoint of its own origin; list them under endpoints", a.ID))
		}
	}
	return errors.Join(errs...)
}
