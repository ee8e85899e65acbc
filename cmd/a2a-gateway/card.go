package main

import "github.com/spf13/cobra"

func cardCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "card",
		Short: "Work with agents' cards",
		Long:  "Work with agents' cards.",
	}
	cmd.AddCommand(cardVerify(), cardSign())
	return cmd
}
