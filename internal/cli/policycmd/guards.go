package policycmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/arguments"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/explain"
	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
)

// GuardsCommand is the command that internal/cli mounts. It does nothing itself; its verbs are below it.
func GuardsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "guards",
		Short: "Test the guards",
		Args:  arguments.None,
	}
	cmd.AddCommand(guardsTryCommand(), guardsReplayCommand())
	return cmd
}

const guardsTryLong = `Show what the guards make of a text or a message, without a call.

The output names the guards that look at such a call, what each of them finds, what is left of
the message after redaction, and the error of a guard that refuses it. Guards that ask a service
ask it, unless --offline leaves them out. Nothing is recorded.

--text is a text, or - for standard input. --message is a message in the form of A2A 1.0, a file
or JSON, or what contains it: the params of a request, the result of an answer, or an event.
--phase says which of these it is.

--subject, --issuer, --group, --scope and similar flags describe the caller, as for explain.
Without --subject, the caller has no credential.

Exit 0 if the message passes, also redacted, 1 if a guard refuses it, 2 if the question or the
configuration is wrong.`

const guardsTryExamples = `  a2a-gateway guards try -c config.yaml --agent billing --text - <letter.txt
  a2a-gateway guards try -c config.yaml --agent billing --skill refund --subject alice \
      --phase answer --message answer.json --offline`

// guardsTryFlags are what guards try is asked.
type guardsTryFlags struct {
	callFlags
	verdict.GuardTrial

	message string // a file or JSON
}

func guardsTryCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "try",
		Short:   "Show what the guards make of a text or a message",
		Long:    guardsTryLong,
		Example: guardsTryExamples,
		Args:    arguments.None,
	}
	path := verb.ConfigFlag(cmd)
	var q guardsTryFlags
	f := cmd.Flags()
	q.describe(cmd, "`method`, by its name in any version")
	f.StringVar(&q.Phase, "phase", "request", "what it is in the call: request, answer or event (`phase`)")
	f.StringVar(&q.Text, "text", "", "`text` to look at; - for standard input")
	f.StringVar(&q.message, "message", "", "message to look at, or what contains it, as a `file` or as JSON")
	f.BoolVar(&q.Offline, "offline", false, "leave out guards that ask a service")
	output := f.StringP("output", "o", "text", "`format`: text or json")
	cmd.MarkFlagsMutuallyExclusive("text", "message")
	cmd.MarkFlagsOneRequired("text", "message")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		tried, err := q.try(cmd.Context(), *path, cmd.InOrStdin())
		if err != nil {
			return verb.Usage(err)
		}
		if err := verb.Show(cmd.OutOrStdout(), *output, tried, func(w io.Writer) { printTried(w, tried) }); err != nil {
			return err
		}
		if tried.Refused != nil {
			return verb.Failed(fmt.Errorf("refused by guard %s", tried.Refused.Guard))
		}
		return nil
	}
	return cmd
}

// try puts the question to the guards of a configuration. The error is the operator's to mend.
func (q *guardsTryFlags) try(ctx context.Context, path string, in io.Reader) (*verdict.GuardTried, error) {
	c, err := compile(path)
	if err != nil {
		return nil, err
	}
	defer c.close()
	if err := q.read(in, c.Wire.Body); err != nil {
		return nil, err
	}
	if !q.Offline {
		if err := c.makeGuards(true); err != nil {
			return nil, err
		}
	}
	anybody := *c.Authn // a caller without a credential is none of the configuration's here
	anybody.Anonymous = true
	i := &explain.Inquiry{}
	if err := q.settle(c, i, &anybody); err != nil {
		return nil, err
	}
	tried, wrong, err := c.TryGuards(ctx, &q.GuardTrial, i)
	if err != nil {
		if wrong == "message" && q.message == "" {
			wrong = "text"
		}
		return nil, fmt.Errorf("--%s: %w", wrong, err)
	}
	return tried, nil
}

// read gets the text or the message from where the flags say: so many bytes at most.
func (q *guardsTryFlags) read(in io.Reader, most int64) error {
	switch {
	case q.Text == "-":
		text, err := io.ReadAll(io.LimitReader(in, most+1))
		if err == nil && int64(len(text)) > most {
			err = fmt.Errorf("it is longer than %d bytes (server.limits.body)", most)
		}
		if err != nil {
			return fmt.Errorf("--text: %w", err)
		}
		q.Text = string(text)
	case q.message != "":
		text := []byte(strings.TrimSpace(q.message))
		if text[0] != '{' {
			var err error
			if text, err = os.ReadFile(q.message); err != nil {
				return fmt.Errorf("--message: %w", err)
			}
		}
		q.Message = text
	}
	if q.Text == "" && q.Message == nil {
		return errors.New("--text: it is empty")
	}
	return nil
}

// printTried is the answer for people.
func printTried(w io.Writer, t *verdict.GuardTried) {
	looked := "none looks at it"
	if len(t.Guards) > 0 {
		looked = strings.Join(t.Guards, ", ")
	}
	_, _ = fmt.Fprintf(w, "guards of the %s: %s\n", t.Phase, looked)
	for i := range t.Findings {
		_, _ = fmt.Fprintf(w, "found: %s\n", verb.Cell(t.Findings[i].String()))
	}
	switch {
	case t.Refused != nil:
		_, _ = fmt.Fprintf(w, "refused by %s: %s, %d: %s\n", t.Refused.Guard, t.Refused.Error, t.Refused.Status, verb.Cell(t.Refused.Message))
	case t.Redacted:
		_, _ = fmt.Fprintf(w, "passed on redacted: %s\n", t.Document)
	default:
		_, _ = fmt.Fprintln(w, "passed on as it is")
	}
	for _, n := range t.Notes {
		_, _ = fmt.Fprintf(w, "note: %s\n", n)
	}
}
