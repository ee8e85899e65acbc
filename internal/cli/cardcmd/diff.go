package cardcmd

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/card/trust"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/adminapi"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/arguments"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
)

// compared is what `card diff --output json` prints. Old is left out where no card is in force
// yet.
type compared struct {
	Old      string         `json:"old,omitzero"` // digest
	New      string         `json:"new"`
	Severity trust.Severity `json:"severity,omitzero"` // of the change that matters most
	Changes  []trust.Change `json:"changes"`
}

// cardDiff is `card diff`. It exits 0 where nothing has changed by meaning (the order of members
// and white space are none), and 1 with "changed: N" where something has, as diff(1) does, so that
// a pipeline stops at a card that somebody has to look at. That a card could not be read has exit
// code 1 too; what is on standard error tells.
func cardDiff() *cobra.Command {
	var a adminapi.Target
	cmd := &cobra.Command{
		Use:   "diff AGENT | A B",
		Short: "Show what has changed in the meaning of a card; exit 1 if anything has",
		Long: "Show what has changed in the meaning of a card, not in its spelling. For an AGENT, the running\n" +
			"gateway compares the card in force with the one that the agent serves. A and B are two cards, each\n" +
			"at a URL or in a file; one of them may be - for the standard input. Exit 1 if anything has changed.",
		Args: arguments.Count(1, 2),
	}
	a.Flags(cmd.Flags())
	verb.AddProxy(cmd.Flags())
	output := cmd.Flags().StringP("output", "o", "text", "`format`: text or json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var d compared
		var err error
		if len(args) == 1 {
			d, err = compareServed(&a, cmd, args[0])
		} else {
			d, err = compare(cmd, args[0], args[1])
		}
		if err != nil {
			return err
		}
		d.Severity = trust.Worst(d.Changes)
		if err := verb.Show(cmd.OutOrStdout(), *output, d, func(w io.Writer) { printChanges(w, &d) }); err != nil {
			return err
		}
		// The digests come last, as `card approve` takes the second of them.
		if len(d.Changes) > 0 {
			return verb.Failed(fmt.Errorf("changed: %d", len(d.Changes)))
		}
		return nil
	}
	return cmd
}

// compareServed has the gateway's word on the card that an agent serves, against the one in force.
// The changes are those that the gateway found when it first saw the card, and are not computed
// here: they are what whoever approves is asked about. Where the agent serves the card in force
// there are none. A document in place of an agent is refused with a hint, since one document alone
// has nothing to be compared with.
func compareServed(a *adminapi.Target, cmd *cobra.Command, agent string) (compared, error) {
	if isDocument(agent) {
		return compared{}, verb.Usage(errors.New("a card is compared with another one: name two, or an agent"))
	}
	api, err := a.Connect(cmd.Context())
	if err != nil {
		return compared{}, err
	}
	detail, err := cardOf(api, agent)
	if err != nil {
		return compared{}, err
	}
	d := compared{Old: detail.InForce, New: detail.Digest, Changes: []trust.Change{}}
	i := slices.IndexFunc(detail.History, func(e trust.Entry) bool { return e.Digest == detail.Digest })
	if i >= 0 && detail.Digest != detail.InForce {
		d.Changes = append(d.Changes, detail.History[i].Changes...)
	}
	return d, nil
}

// compare compares two documents by meaning. Both are read and parsed before anything is said, and
// the changes are never nil, so that they are [] in JSON.
func compare(cmd *cobra.Command, from, to string) (compared, error) {
	var docs [2][]byte
	var digests [2]string
	for i, where := range []string{from, to} {
		var err error
		if docs[i], err = readCard(cmd, where); err != nil {
			return compared{}, verb.Failed(err)
		}
		if digests[i], err = trust.Digest(docs[i]); err != nil {
			return compared{}, verb.Failed(fmt.Errorf("%s: %w", where, err))
		}
	}
	changes, err := trust.Diff(docs[0], docs[1])
	if err != nil {
		return compared{}, verb.Failed(err)
	}
	return compared{Old: digests[0], New: digests[1], Changes: append([]trust.Change{}, changes...)}, nil
}

// printChanges prints a change as its severity and a sentence, and below it the old and the new
// text with - and + before each line. All three have words of the card in them, which is a
// stranger's document: verb.Cell keeps them from steering the terminal.
//
// An example:
//
//	critical: an endpoint is at another origin
//	    - https://agents.example/billing
//	    + https://elsewhere.example/billing
//	sha256:1f0c… -> sha256:88ab…
func printChanges(w io.Writer, d *compared) {
	for i := range d.Changes {
		c := &d.Changes[i]
		_, _ = fmt.Fprintf(w, "%s: %s\n", c.Severity, verb.Cell(c.Text))
		for _, side := range [...]struct{ sign, text string }{{"-", c.Old}, {"+", c.New}} {
			if side.text == "" {
				continue
			}
			for line := range strings.SplitSeq(side.text, "\n") {
				_, _ = fmt.Fprintf(w, "    %s %s\n", side.sign, verb.Cell(line))
			}
		}
	}
	if len(d.Changes) > 0 {
		_, _ = fmt.Fprintf(w, "%s -> %s\n", d.Old, d.New)
	}
}
