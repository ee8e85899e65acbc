package auditcmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/arguments"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
)

// auditTail is `audit tail`: the last --lines records of the log, byte for byte, and with --follow
// those that are written from then on, into whichever file, until it is interrupted. An interrupt
// ends it with exit code 0, as it is how following ends. Neither needs the gateway or its index.
func auditTail(from *auditSource) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Print the last records, and with --follow also new ones",
		Long: "Print the last records, and with --follow also new ones, across all files of the log. Each record is\n" +
			"a line of JSON, as the gateway wrote it. With --why, explain refused calls in words: the stage that\n" +
			"refused each call, the rule, the reason, and the remedy.",
		Args: arguments.None,
	}
	n := cmd.Flags().IntP("lines", "n", 10, "`number` of last records; 0 for new ones only")
	follow := cmd.Flags().BoolP("follow", "f", false, "wait for new records, until interrupted")
	words := cmd.Flags().Bool("why", false, "explain refused calls in words, and print nothing else")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *n < 0 {
			return verb.Usage(errors.New("--lines: is negative"))
		}
		source, err := from.open()
		if err != nil {
			return err
		}
		// start is the first record to be printed, end the last one that there is now. Refusals are
		// few among the records: those of the last hour are what is wanted.
		back := *n
		if *words && back > 0 {
			back = max(back, lookBack)
		}
		start, end, err := source.Last(back)
		if err != nil {
			return verb.Usage(err)
		}
		show := printer{out: cmd.OutOrStdout(), why: *words, keep: *n, config: from.config, end: end.Seq}
		// An empty log, or --lines 0: nothing is there to be printed.
		if start.Seq == end.Seq && !*follow {
			return nil
		}
		// Follow waits for records past the end. Without --follow the loop leaves at the number
		// that the end had when the command began, so that a busy gateway does not keep it.
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		for e, err := range source.Follow(ctx, start) {
			var lost *reader.LostError
			switch {
			// Records were removed by retention, or a file was lost, before they were read.
			// Whoever follows wants to know, and wants what comes after.
			case errors.As(err, &lost):
				_, _ = fmt.Fprintln(cmd.ErrOrStderr(), err)
				continue
			case err != nil:
				return verb.Failed(err)
			}
			if err := show.record(e); err != nil {
				return verb.Failed(err)
			}
			if e.Seq >= end.Seq && !*follow {
				return nil
			}
		}
		return nil
	}
	return cmd
}

// lookBack is how many records --why goes through for refusals to begin with.
const lookBack = 10_000

// printer prints records as they were written, or with why the refused calls among them.
type printer struct {
	out    io.Writer
	why    bool
	keep   int    // of the refusals that are there already, so many
	config string // of the log, for commands in the output

	end  uint64 // the number of the last record that was there when the command began
	kept []why
}

// record takes the next record. Refusals that were there when the command began are kept until
// that end is reached, as only the last of them are wanted.
func (p *printer) record(e reader.Entry) error {
	if !p.why {
		_, err := fmt.Fprintf(p.out, "%s\n", e.Line)
		return err
	}
	c, r, err := refusedCall(e)
	if err != nil {
		return err
	}
	if r != nil {
		p.kept = append(p.kept, why{c, r, p.config})
	}
	if e.Seq <= p.end && len(p.kept) > p.keep {
		p.kept = p.kept[1:]
	}
	if e.Seq < p.end {
		return nil
	}
	for _, w := range p.kept {
		if err := w.print(p.out); err != nil {
			return err
		}
	}
	p.kept = p.kept[:0]
	return nil
}
