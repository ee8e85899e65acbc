// Package validatecmd has the verbs of the configuration file: validate, also against what the
// file names and is reached over the network, and schema.
//
// validate works in three steps, and stops at the first that fails. config.Load reads the file:
// syntax, keys and values. Config.Check opens what it names: certificates, key files, rules,
// schemas. Both need nobody. With --online, Online asks everybody whom the gateway would ask,
// all at once. A running gateway is asked by none of them, so that a pipeline can check a file
// before it is rolled out:
//
//	0  all is well; warnings change nothing about that
//	1  only the online checks failed: the file is good, and something else is not there
//	2  the configuration is wrong
//
// Errors and warnings go to standard error, errors with file, line, column and key. Standard
// output has what is in order, ending with "FILE: ok (agents: 2, rules: 5)".
package validatecmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/arguments"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
)

// Command is `a2a-gateway validate`, which internal/cli mounts. An upgrade of a running gateway
// uses it too: the new program validates the configuration before the old one lets go
// (internal/cli/servecmd).
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "validate",
		Short: "Check a configuration file without serving",
		Long: "Check a configuration file: syntax, keys, values, rules, the registry of extensions and\n" +
			"the files it names. With --online, also fetch every agent's card and compare rules and the\n" +
			"registry with the cards. Ask each agent for a task that does not exist. Compare specifications\n" +
			"at URLs with their digests. Connect to issuers, Redis and PostgreSQL.\n\n" +
			"Exit 0 if all checks pass, 2 if the configuration is wrong, 1 if only online checks fail.\n" +
			"Warnings do not change the exit code.",
		Args: arguments.None,
	}
	path := verb.ConfigFlag(cmd)
	online := cmd.Flags().Bool("online", false, "also fetch cards and specifications, and contact agents, issuers, Redis and PostgreSQL")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		// All errors of the file at once, each with its place.
		cfg, err := config.Load(*path)
		if err != nil {
			return verb.Unread(*path, err)
		}
		warnings, err := cfg.Check()
		if err != nil {
			return verb.Usage(err)
		}
		warn := func(text string) { _, _ = fmt.Fprintln(cmd.ErrOrStderr(), "warning:", verb.Printable(text)) }
		// Before the network is asked, which may take half a minute.
		for _, w := range warnings {
			warn(w)
		}
		if *online {
			say := func(text string) { _, _ = fmt.Fprintln(cmd.OutOrStdout(), verb.Printable(text)) }
			if err := Online(cmd.Context(), cfg, say, warn); err != nil {
				return verb.Failed(err)
			}
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: ok (agents: %d, rules: %d)\n", *path, len(cfg.Agents), len(cfg.Policy.Rules))
		return err
	}
	return cmd
}
