package auditcmd

import (
	"bufio"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/audit/index"
	"github.com/a2a-gateway/a2a-gateway/audit/ocsf"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/arguments"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/progress"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
)

// auditExport is `audit export`. It reads every segment in order and does not use the index, which
// holds the newest records best and would have to be built first; an export reads nearly all of
// the log anyhow. Lines are the bytes that were written, so that signatures and hashes of an
// export can be verified; OCSF lines are made of them and cannot. Standard output is flushed at
// the end: after an error the last lines may be missing, and the exit code is 1.
func auditExport(from *auditSource) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Print records for other tools, oldest first",
		Long: "Print all records that match all flags, oldest first, one JSON object a line. Records are as the\n" +
			"gateway wrote them, or in the schema of OCSF " + ocsf.Version + " (API Activity) for security tools.\n" +
			"The command reads the whole log.",
		Args: arguments.None,
	}
	var w filter
	f := cmd.Flags()
	w.flags(f)
	format := f.String("format", "jsonl", "`format`: jsonl or ocsf")
	progress.Flag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		// say is how a record is printed; nil for a word that is no format.
		say := map[string]func(io.Writer, []byte) error{"jsonl": writeLine, "ocsf": writeOCSF}[*format]
		if say == nil {
			return verb.Usage(fmt.Errorf("--format: %q is neither jsonl nor ocsf", *format))
		}
		// From here on as `audit query` does, but for the index.
		q, err := w.asked(time.Now())
		if err != nil {
			return err
		}
		source, err := from.open()
		if err != nil {
			return err
		}
		if err := there(source); err != nil {
			return err
		}
		// 64 KiB, as an export is millions of lines into a pipe.
		out := bufio.NewWriterSize(cmd.OutOrStdout(), 64<<10)
		told, n := progress.New(cmd, "records exported"), 0
		defer told.End()
		shown := progress.IsTerminal(cmd.OutOrStdout()) // the records themselves tell how far it is
		for e, err := range index.Scan(cmd.Context(), source, q) {
			if n++; !shown {
				told.At(n)
			}
			if err == nil {
				err = say(out, e.Line)
			}
			if err != nil {
				return verb.Failed(err)
			}
		}
		return out.Flush()
	}
	return cmd
}

// writeLine prints a record as it was written.
func writeLine(w io.Writer, line []byte) error {
	_, err := fmt.Fprintf(w, "%s\n", line)
	return err
}

// writeOCSF prints a record as an OCSF event of the class API Activity (6003). A record that is
// none of this log ends the export: a security tool must not take a gap for silence.
func writeOCSF(w io.Writer, line []byte) error {
	text, err := ocsf.Line(line)
	if err != nil {
		return err
	}
	return writeLine(w, text)
}
