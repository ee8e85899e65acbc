package cardcmd

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/card/trust"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/adminapi"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/arguments"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/console/cards"
)

// cardApprove is `card approve AGENT DIGEST`.
func cardApprove() *cobra.Command {
	return cardDecision("approve", "Put a card that waits for approval into force",
		"Put a card that waits for approval into force. DIGEST, or its beginning, selects the card: the one that\n"+
			"`card diff` printed, even if the agent serves another one by now.")
}

// cardReject is `card reject AGENT DIGEST`. A card that is in force already stays in force.
func cardReject() *cobra.Command {
	return cardDecision("reject", "Reject a card that waits for approval",
		"Reject a card that waits for approval. You can still approve it later.")
}

// cardDecision is approve or reject: POST /api/v1/cards/{agent}/{approve|reject}?digest=…, which
// the gateway records with the token's name. The digest is an argument so that what is decided is
// the card that somebody has looked at; the agent may serve yet another one by now. The whole
// digest is printed after the word for what was done, for the log of whoever runs it.
//
// Without a digest nothing is decided: the error says which card waits.
func cardDecision(decision, short, long string) *cobra.Command {
	var a adminapi.Target
	cmd := &cobra.Command{Use: decision + " AGENT DIGEST", Short: short, Long: long, Args: arguments.Count(1, 2)}
	a.Flags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		api, err := a.Connect(cmd.Context())
		if err != nil {
			return err
		}
		if len(args) == 1 {
			return whichCard(api, args[0], cmd.CommandPath())
		}
		// The whole digest is what the gateway is told; a beginning is for people.
		digest, err := digestOf(api, args[0], args[1])
		if err != nil {
			return err
		}
		path := cardPath(args[0]) + "/" + decision + "?digest=" + url.QueryEscape(digest)
		if err := api.Do(http.MethodPost, path, nil); err != nil {
			return err
		}
		_, _ = fmt.Fprintln(cmd.OutOrStdout(), map[string]string{"approve": "approved", "reject": "rejected"}[decision], digest)
		return nil
	}
	return cmd
}

// whichCard is the error for a decision that names no card, with exit code 2. It has a command for each card that
// waits, and one that shows what changed, as nobody should decide about a card unseen.
func whichCard(a *adminapi.Client, agent, command string) error {
	d, err := cardOf(a, agent)
	if err != nil {
		return err
	}
	var waits []string
	for i := range d.History {
		if e := &d.History[i]; e.State == trust.Quarantined {
			waits = append(waits, fmt.Sprintf("%s… waits: %s %s %s", e.Digest[:min(len(e.Digest), shownDigest)], command, agent, e.Digest))
		}
	}
	if len(waits) == 0 {
		return verb.Usage(fmt.Errorf("which card of %s? None waits; a2a-gateway card show %s lists those that were seen", agent, agent))
	}
	return verb.Usage(fmt.Errorf("which card of %s? %s\na2a-gateway card diff %s shows what changed", agent, strings.Join(waits, "\n"), agent))
}

// shownDigest is how much of a digest tells two apart on a screen, with "sha256:".
const shownDigest = 19

// cardPath is the path of an agent's card in the admin API. Ids of agents need no escaping;
// arguments of a command line might.
func cardPath(agent string) string { return "/api/v1/cards/" + url.PathEscape(agent) }

// cardOf asks for all that the gateway knows of an agent's card. An agent that it does not know is
// an error with exit code 1.
func cardOf(a *adminapi.Client, agent string) (d cards.CardDetail, err error) {
	return d, a.Do(http.MethodGet, cardPath(agent), &d)
}

// shortestDigest is how many hex digits of a digest have to be written at least, without
// "sha256:". Eight are what people copy, and too few to be made on purpose only with some effort;
// more than one card with the same beginning is refused besides.
const shortestDigest = 8

// digestOf finds the one digest of an agent's cards that begins as written, in either case and
// with or without "sha256:". It looks in the history that the gateway keeps, so that only a card
// that was seen can be approved.
func digestOf(a *adminapi.Client, agent, begins string) (string, error) {
	const prefix = "sha256:"
	begins = strings.TrimPrefix(strings.ToLower(begins), prefix)
	if len(begins) < shortestDigest {
		return "", verb.Usage(fmt.Errorf("DIGEST: at least %d digits of it", shortestDigest))
	}
	d, err := cardOf(a, agent)
	if err != nil {
		return "", err
	}
	// More than one is refused: what comes into force must not depend on which of them is listed
	// first.
	var found []string
	for i := range d.History {
		if strings.HasPrefix(d.History[i].Digest, prefix+begins) {
			found = append(found, d.History[i].Digest)
		}
	}
	switch len(found) {
	case 0:
		return "", verb.Failed(errors.New("no card of that digest was seen, or it is forgotten"))
	case 1:
		return found[0], nil
	}
	return "", verb.Failed(errors.New("several cards have digests that begin so"))
}
