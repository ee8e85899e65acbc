//go:build minimal

package cli

import (
	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/internal/feature"
)

// demoCommand is a verb that refuses: the sample agents, and the SDK that they are written with, are
// not in this build. It is hidden, and there, so that whoever follows a tutorial is told why.
func demoCommand(string) *cobra.Command {
	return &cobra.Command{
		Use:                "demo",
		Hidden:             true,
		DisableFlagParsing: true, // whatever was asked for
		RunE:               func(*cobra.Command, []string) error { return feature.Need(feature.Demo) },
	}
}
