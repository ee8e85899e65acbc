package verb

import (
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// defaultConfig is where packages and the image put the configuration.
const defaultConfig = "/etc/a2a-gateway/config.yaml"

// ConfigFlag adds -c/--config; A2A_GATEWAY_CONFIG changes its default.
func ConfigFlag(cmd *cobra.Command) *string {
	return cmd.Flags().StringP("config", "c", ConfigPath(), "configuration `file`")
}

// ConfigPath is where the configuration is when no flag says so.
func ConfigPath() string {
	if env := os.Getenv("A2A_GATEWAY_CONFIG"); env != "" {
		return env
	}
	return defaultConfig
}

// DurationVar adds a flag for a duration that may have days in it.
func DurationVar(f *pflag.FlagSet, d *quantity.Duration, name string, value time.Duration, help string) {
	f.TextVar(d, name, quantity.Duration(value), help)
	if value == 0 {
		f.Lookup(name).DefValue = "" // keeps (default 0s) out of the help
	}
}
