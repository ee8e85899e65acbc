package main

import (
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

const defaultConfig = "/etc/a2a-gateway/config.yaml"

// configFlag adds -c/--config; A2A_GATEWAY_CONFIG changes its default.
func configFlag(cmd *cobra.Command) *string {
	return cmd.Flags().StringP("config", "c", configPath(), "configuration `file`")
}

func configPath() string {
	if env := os.Getenv("A2A_GATEWAY_CONFIG"); env != "" {
		return env
	}
	return defaultConfig
}

// durationVar adds a flag for a duration that may have days in it.
func durationVar(f *pflag.FlagSet, d *secret.Duration, name string, value time.Duration, help string) {
	f.TextVar(d, name, secret.Duration(value), help)
	if value == 0 {
		f.Lookup(name).DefValue = "" // keeps (default 0s) out of the help
	}
}
