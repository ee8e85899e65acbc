package cardcmd

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/card/lint"
	"github.com/a2a-gateway/a2a-gateway/card/trust"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/adminapi"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/arguments"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/console/cards"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// inspected is what `card show URL --output json` prints. Digest is the form that
// card.trust.digests takes; Findings are those of card/lint without limits of a configuration, and
// Score is their sum.
type inspected struct {
	Digest   string         `json:"digest"`
	Score    int            `json:"score"`
	Findings []lint.Finding `json:"findings"`
	Card     jsontext.Value `json:"card"` // without what looks like a secret
}

// cardShow is `card show`. Of an agent it prints what GET /api/v1/cards/{agent} has; of a
// document, what the gateway would see in it. Findings do not change the exit code: they are for a
// person to judge, and `validate --online` is what fails.
func cardShow() *cobra.Command {
	// Flags of both ways are there at the same time, and those of the other one do nothing.
	var a adminapi.Target
	cmd := &cobra.Command{
		Use:   "show AGENT|URL|FILE",
		Short: "Show how the gateway handles an agent's card, or inspect a card",
		Long: "Show how the running gateway handles an agent's card: the card that the agent serves, the one in\n" +
			"force, and earlier ones. For a card at a URL, in a file or - for the standard input, show its digest\n" +
			"for card.trust.digests and its problems. A FILE has a slash in its name, or ends in .json.",
		Args: arguments.Count(1, 1),
	}
	a.Flags(cmd.Flags())
	verb.AddProxy(cmd.Flags())
	output := cmd.Flags().StringP("output", "o", "text", "`format`: text or json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if isDocument(args[0]) {
			return showDocument(cmd, args[0], *output)
		}
		api, err := a.Connect(cmd.Context())
		if err != nil {
			return err
		}
		d, err := cardOf(api, args[0])
		if err != nil {
			return err
		}
		return verb.Show(cmd.OutOrStdout(), *output, d, func(w io.Writer) { printDetail(w, &d) })
	}
	return cmd
}

// isDocument tells a URL, a file and the standard input from the id of an agent, which has neither
// a slash nor a dot in it. A file without either is written as ./NAME.
func isDocument(arg string) bool {
	return arg == "-" || strings.Contains(arg, "/") || strings.HasSuffix(arg, ".json")
}

// showDocument prints what is in a card. JSON has the card with what looks like a secret taken out
// (lint.Redact): the output lands in tickets and logs of pipelines. Interfaces are printed without
// passwords of their URLs for the same reason.
func showDocument(cmd *cobra.Command, from, output string) error {
	raw, err := readCard(cmd, from)
	if err != nil {
		return verb.Failed(err)
	}
	c, err := card.Parse(raw)
	if err != nil {
		return verb.Failed(err)
	}
	seen := inspected{Findings: []lint.Finding{}, Card: lint.Redact(raw)}
	if seen.Digest, err = trust.Digest(raw); err != nil {
		return verb.Failed(err)
	}
	// The gateway lints each card that it fetches with the same function.
	found, err := lint.Check(raw, lint.Limits{})
	if err != nil {
		return verb.Failed(err)
	}
	// Without a configuration there are no limits of its own: these are what every card is held
	// to.
	seen.Findings, seen.Score = append(seen.Findings, found...), lint.Score(found)
	return verb.Show(cmd.OutOrStdout(), output, seen, func(w io.Writer) {
		t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
		_, _ = fmt.Fprintf(t, "name\t%s\nversion\t%s\ndigest\t%s\n", verb.Cell(c.Name), verb.Cell(c.Version), seen.Digest)
		for _, i := range c.Interfaces {
			_, _ = fmt.Fprintf(t, "interface\t%s %s at %s\n", i.Binding, i.Version, verb.Cell(secret.URL(i.URL).String()))
		}
		for i := range c.Skills {
			_, _ = fmt.Fprintf(t, "skill\t%s\n", verb.Cell(c.Skills[i].ID))
		}
		_ = t.Flush()
		printFindings(w, seen.Findings, seen.Score)
	})
}

// printFindings prints a table of what a card should not hold: the kind, where it is (a JSON
// pointer, RFC 6901), what the gateway does about it, and the text.
func printFindings(w io.Writer, list []lint.Finding, score int) {
	if len(list) == 0 {
		return
	}
	_, _ = fmt.Fprintf(w, "\nfindings, score %d of %d:\n", score, lint.Worst)
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, f := range list {
		_, _ = fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", f.Kind, verb.Cell(f.Pointer), f.Action, verb.Cell(f.Text))
	}
	_ = t.Flush()
}

// printDetail prints what the gateway knows: the card of now, what was found in it, and the cards
// that were seen before, the newest first as the API has them, each with its state and who decided
// it. Rows without a value are left out.
func printDetail(w io.Writer, d *cards.CardDetail) {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, row := range [][2]string{
		{"agent", d.Agent}, {"url", d.URL}, {"state", string(d.State)}, {"why", d.Why}, {"serves", d.Digest},
		{"in force", d.InForce}, {"failure", d.Failure},
	} {
		if row[1] != "" {
			_, _ = fmt.Fprintf(t, "%s\t%s\n", row[0], verb.Cell(row[1]))
		}
	}
	_ = t.Flush()
	for i := range d.History {
		if e := &d.History[i]; e.Digest == d.Digest {
			if e.Signature != "" {
				_, _ = fmt.Fprintln(w, "signature:", verb.Cell(e.Signature))
			}
			printFindings(w, e.Findings, e.Score)
		}
	}
	// A card that has never been fetched has no history, and no headline for it.
	if len(d.History) == 0 {
		return
	}
	_, _ = fmt.Fprintln(w, "\nseen:")
	t = tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for i := range d.History {
		e := &d.History[i]
		_, _ = fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\n", e.Seen.Format(time.RFC3339), e.Digest, e.State, verb.Cell(e.By),
			verb.Cell(trust.Words(e.Changes)))
	}
	_ = t.Flush()
}
