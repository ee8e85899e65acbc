package auditcmd

import (
	"bufio"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/audit/index"
	"github.com/a2a-gateway/a2a-gateway/audit/ocsf"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
)

func auditExport(from *auditSource) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Print records for other tools, the oldest first",
		Long: "Print all records that are all of what the flags say, one JSON object a line, the oldest first:\n" +
			"as they were written, or in the words of OCSF " + ocsf.Version + " (API Activity), which security tools read.\n" +
			"The whole log is read.",
		Args: cobra.NoArgs,
	}
	var w filter
	f := cmd.Flags()
	w.flags(f)
	format := f.String("format", "jsonl", "`format`: jsonl or ocsf")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		say := map[string]func(io.Writer, []byte) error{"jsonl": writeLine, "ocsf": writeOCSF}[*format]
		if say == nil {
			return verb.Usage(fmt.Errorf("--format: %q is neither jsonl nor ocsf", *format))
		}
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
		out := bufio.NewWriterSize(cmd.OutOrStdout(), 64<<10)
		for e, err := range index.Scan(cmd.Context(), source, q) {
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

func writeLine(w io.Writer, line []byte) error {
	_, err := fmt.Fprintf(w, "%s\n", line)
	return err
}

func writeOCSF(w io.Writer, line []byte) error {
	text, err := ocsf.Line(line)
	if err != nil {
		return err
	}
	return writeLine(w, text)
}
