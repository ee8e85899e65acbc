package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/internal/spelling"
)

// unknown is the error for a word that is no command of cmd, with the one that was probably meant; nil
// where there is no word. cobra says so of the root alone, and answers an unknown word below it with
// help and exit code 0, which a script takes for success.
func unknown(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	hint := spelling.Hint(args[0], names)
	if hint == "" {
		hint = fmt.Sprintf("; %s --help lists those there are", cmd.CommandPath())
	}
	return fmt.Errorf("unknown command %q for %q%s", args[0], cmd.CommandPath(), hint)
}

// refuseUnknown has cmd, and every command below it that holds others, refuse a word that is none of
// them. One that only holds others goes on to print its help where nothing follows it; it gets its RunE
// for that, as cobra checks the arguments only of commands that run. Completion has its own words.
func refuseUnknown(cmd *cobra.Command) {
	if !cmd.HasSubCommands() || cmd.Name() == "completion" {
		return
	}
	cmd.Args = unknown
	if !cmd.Runnable() {
		cmd.DisableFlagsInUseLine = true // it takes those of its commands
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	for _, sub := range cmd.Commands() {
		refuseUnknown(sub)
	}
}

// addHelp adds cobra's command for help, which prints the usage with exit code 0 for a topic that does not
// exist, and has that be an error.
func addHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() != "help" {
			continue
		}
		cmd.Args = func(_ *cobra.Command, args []string) error {
			about, rest, err := root.Find(args)
			if err != nil || !about.HasSubCommands() {
				return err
			}
			return unknown(about, rest)
		}
	}
}
