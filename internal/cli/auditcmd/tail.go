package auditcmd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
)

// auditTail is `audit tail`: the last --lines records of the log, byte for byte, and with --follow
// those that are written from then on, into whichever file, until it is interrupted. An interrupt
// ends it with exit code 0, as it is how following ends. Neither needs the gateway or its index.
func auditTail(from *auditSource) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Print the last records, and with --follow those that come",
		Long: "Print the last records, and with --follow those that come, over all files of the log. Each is one\n" +
			"JSON object in a line, as it was written.",
		Args: cobra.NoArgs,
	}
	n := cmd.Flags().IntP("lines", "n", 10, "`number` of records to begin with; 0 for new ones only")
	follow := cmd.Flags().BoolP("follow", "f", false, "wait for new records, until interrupted")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *n < 0 {
			return verb.Usage(errors.New("--lines: is negative"))
		}
		source, err := from.open()
		if err != nil {
			return err
		}
		// start is the first record to be printed, end the last one that there is now.
		start, end, err := source.Last(*n)
		if err != nil {
			return verb.Usage(err)
		}
		// An empty log, or --lines 0: nothing is there to be printed.
		if start.Seq == end.Seq && !*follow {
			return nil
		}
		// Follow waits for records past the end. Without --follow the loop leaves at the number
		// that the end had when the command began, so that a busy gateway does not keep it.
		for e, err := range source.Follow(cmd.Context(), start) {
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
			if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n", e.Line); err != nil {
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
