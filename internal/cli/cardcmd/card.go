// Package cardcmd has the verbs of agent cards: show, diff, sign, verify, approve and reject.
//
// A card is named in one of two ways, and isDocument tells them apart. The id of an agent asks the
// running gateway, by GET /api/v1/cards/{agent}, for what it has seen of that agent's card and
// which one it serves from. A URL, a file or - (standard input) is read by the verb itself,
// without any gateway or configuration, so that an author of a card can check it where it is made:
//
//	a2a-gateway card show billing            what the gateway makes of it
//	a2a-gateway card show ./agent-card.json  what is in the file
//
// approve and reject exist for agents alone, as they decide what the gateway serves
// (card.trust.changes); sign and verify for documents alone. Exit 1 says that a comparison or a
// verification had the answer that a script waits for: something has changed, no signature holds.
package cardcmd

import "github.com/spf13/cobra"

// Command is `a2a-gateway card`, which internal/cli mounts.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "card",
		Short: "Work with agents' cards",
		Long:  "Work with agents' cards.",
	}
	cmd.AddCommand(cardShow(), cardDiff(), cardApprove(), cardReject(), cardVerify(), cardSign())
	return cmd
}
