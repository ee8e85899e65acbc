// Package cardcmd has the verbs of agent cards: show, diff, sign, verify, approve and reject.
package cardcmd

import "github.com/spf13/cobra"

// Command is the command that internal/cli mounts.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "card",
		Short: "Work with agents' cards",
		Long:  "Work with agents' cards.",
	}
	cmd.AddCommand(cardShow(), cardDiff(), cardApprove(), cardReject(), cardVerify(), cardSign())
	return cmd
}
