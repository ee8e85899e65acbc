// Package cli is the command line: its root command with every verb, completion in shells and
// manual pages. What a verb does is in the package of the verb.
//
// All verbs keep to the same rules (internal/cli/verb): standard output has what was asked for and
// standard error what is to be said about it; exit codes are 0, 1 for a failure of what was asked
// for and 2 for wrong usage or configuration; --output json is for programs; no verb asks a
// question, so that all of them run in scripts. cmd/a2a-gateway makes the process of it.
package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/arguments"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/auditcmd"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/callcmd"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/cardcmd"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/doctorcmd"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/initfile"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/keyscmd"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/operate"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/policycmd"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/servecmd"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/validatecmd"
	"github.com/a2a-gateway/a2a-gateway/internal/feature"
)

// Root is all there is of the command line. cobra's own messages are silenced: an error is printed
// once, by main, and a usage text of forty lines below it would hide it. Completion and manual
// pages are made from the commands, and are therefore added last.
func Root(version string) *cobra.Command {
	// Version makes the flag --version, which prints what the verb does and cobra's words around
	// it.
	root := &cobra.Command{
		Use:           "a2a-gateway",
		Short:         "A reverse proxy that governs fleets of A2A agents",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version,
	}
	// All verbs below have them: errors of flags in the words of this project.
	root.SetFlagErrorFunc(arguments.FlagError)
	root.PersistentPreRunE = arguments.FlagsTogether
	// Without a verb: what people do first. cobra would print the list of all verbs.
	root.RunE = begin
	// The order is that of the help: what runs, what checks, what operates.
	root.AddCommand(servecmd.Command(version), initfile.Command(), demoCommand(version), validatecmd.Command(), doctorcmd.Command(), policycmd.ExplainCommand(), policycmd.PolicyCommand(), policycmd.GuardsCommand(), policycmd.TokenCommand(), keyscmd.Command(),
		callcmd.Command(), operate.PushCommand(), cardcmd.Command(), operate.StatusCommand(), operate.AgentsCommand(), operate.StreamsCommand(), operate.ApprovalsCommand(), auditcmd.Command(), operate.AdminCommand(), validatecmd.SchemaCommand(), operate.HealthcheckCommand(), versionCommand(version), manCommand(root))
	// completeAll reads the flags of all commands, which are complete by now.
	completeAll(root)
	addShells(root)
	addHelp(root)
	refuseUnknown(root)
	return root
}

// versionCommand prints one line, which scripts compare, and a second one where the program was built
// without some add-ons: whoever wonders why a key is refused looks here.
func versionCommand(version string) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "a2a-gateway", version)
			if left := feature.Absent(); err == nil && len(left) > 0 {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), "built without", strings.Join(left, ", "))
			}
			return err
		},
	}
}
