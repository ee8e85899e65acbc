package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// rootCommand is all there is of the command line.
func rootCommand(version string) *cobra.Command {
	root := &cobra.Command{
		Use:           "a2a-gateway",
		Short:         "A reverse proxy that governs fleets of A2A agents",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version,
	}
	root.AddCommand(serveCommand(version), initCommand(), demoCommand(version), validateCommand(), explainCommand(), policyCommand(), tokenCommand(), keysCommand(),
		pushCommand(), cardCommand(), agentsCommand(), auditCommand(), adminCommand(), schemaCommand(), healthcheckCommand(), versionCommand(version), manCommand(root))
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
