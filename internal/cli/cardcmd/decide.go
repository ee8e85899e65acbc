package cardcmd

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/adminapi"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/console/cards"
)

func cardApprove() *cobra.Command {
	return cardDecision("approve", "Have a card that waits come into force",
		"Have a card that waits come into force. The digest, or how it begins, says which card is meant: it is\n"+
			"the one that `card diff` printed, whatever the agent serves by now.")
}

func cardReject() *cobra.Command {
	return cardDecision("reject", "Keep a card that waits from coming into force",
		"Keep a card that waits from coming into force. It can still be approved.")
}

func cardDecision(verb, short, long string) *cobra.Command {
	var a adminapi.Target
	cmd := &cobra.Command{Use: verb + " AGENT DIGEST", Short: short, Long: long, Args: cobra.ExactArgs(2)}
	a.Flags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		api, err := a.Connect(cmd.Context())
		if err != nil {
			return err
		}
		digest, err := digestOf(api, args[0], args[1])
		if err != nil {
			return err
		}
		path := cardPath(args[0]) + "/" + verb + "?digest=" + url.QueryEscape(digest)
		if err := api.Do(http.MethodPost, path, nil); err != nil {
			return err
		}
		_, _ = fmt.Fprintln(cmd.OutOrStdout(), map[string]string{"approve": "approved", "reject": "rejected"}[verb], digest)
		return nil
	}
	return cmd
}

func cardPath(agent string) string { return "/api/v1/cards/" + url.PathEscape(agent) }

func cardOf(a *adminapi.Client, agent string) (d cards.CardDetail, err error) {
	return d, a.Do(http.MethodGet, cardPath(agent), &d)
}

// shortestDigest is how much of a digest has to be written at least.
const shortestDigest = 8

// digestOf finds the one digest of an agent's cards that begins as written.
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
