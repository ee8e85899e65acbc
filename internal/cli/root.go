// Package cli is the command line: its root command with every verb, completion in shells and
// manual pages. What a verb does is in the package of the verb.
package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/auditcmd"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/cardcmd"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/democmd"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/initfile"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/keyscmd"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/operate"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/policycmd"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/servecmd"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/validatecmd"
)

// Root is all there is of the command line.
func Root(version string) *cobra.Command {
	root := &cobra.Command{
		Use:           "a2a-gateway",
		Short:         "A reverse proxy that governs fleets of A2A agents",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version,
	}
	root.AddCommand(servecmd.Command(version), initfile.Command(), democmd.Command(version), validatecmd.Command(), policycmd.ExplainCommand(), policycmd.PolicyCommand(), policycmd.TokenCommand(), keyscmd.Command(),
		operate.PushCommand(), cardcmd.Command(), operate.AgentsCommand(), auditcmd.Command(), operate.AdminCommand(), validatecmd.SchemaCommand(), operate.HealthcheckCommand(), versionCommand(version), manCommand(root))
	completeAll(root)
	addShells(root)
	return root
}

func versionCommand(version string) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "a2a-gateway", version)
			return err
		},
	}
}
