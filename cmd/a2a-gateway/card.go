package main

import "github.com/spf13/cobra"

func cardCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "card",
		Short: "Work with agents' cards",
		Long:  "Work with agents' cards.",
	}
	cmd.AddCommand(cardShow(), cardDiff(), cardApprove(), cardReject(), cardVerify(), cardSign())
	return cmd
}
