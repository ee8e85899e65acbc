package policycmd

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/arguments"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/auditcmd"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/progress"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/explain"
	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
)

const guardsReplayLong = `Have the guards of a configuration look at captured content of recorded calls.

LOG is the directory of an audit log with captured content (telemetry.audit.content); the default
is that of the configuration. The command opens the content with the keys of the configuration,
and shows which calls the guards would refuse, redact or record, and what became of these calls.
It prints no content, makes no calls and asks no service.

Calls without captured content are counted separately. So are those of which the outcome cannot
be told, because what a guard refused or redacted was not captured.

Exit 0 if all outcomes are as recorded, 1 if one differs, 2 if the log or the configuration is
wrong.`

func guardsReplayCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "replay [LOG]",
		Short:   "Test the guards against captured content of recorded calls",
		Long:    guardsReplayLong,
		Example: "  a2a-gateway guards replay -c next.yaml /var/lib/a2a-gateway/audit",
		Args:    arguments.Count(0, 1),
	}
	path := verb.ConfigFlag(cmd)
	output := cmd.Flags().StringP("output", "o", "text", "`format`: text or json")
	progress.Flag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r, err := replayGuards(cmd, *path, args)
		if err != nil {
			return err
		}
		if err := verb.Show(cmd.OutOrStdout(), *output, &r.GuardReplay, func(w io.Writer) { printGuardReplay(w, &r.GuardReplay) }); err != nil {
			return err
		}
		switch {
		case r.Changed > 0:
			return verb.Failed(fmt.Errorf("%d of %s would have another outcome", r.Changed, counted(r.Calls, "call")))
		case r.Calls == 0: // a wrong directory is likelier
			return verb.Usage(errors.New("the log has no calls"))
		}
		return nil
	}
	return cmd
}

// mostGuardChanges are how many calls with another outcome are listed.
const mostGuardChanges = 100

// replayGuards reads all of a log, one call at a time.
func replayGuards(cmd *cobra.Command, path string, args []string) (*explain.GuardReplay, error) {
	c, err := compile(path)
	if err != nil {
		return nil, verb.Usage(err)
	}
	defer c.close()
	source := c.cfg.Telemetry.Audit.Source()
	if len(args) > 0 {
		source.Path = args[0]
	}
	held, done, err := auditcmd.Held(c.cfg, source)
	if err != nil {
		return nil, err
	}
	defer done()
	r, err := explain.NewGuardReplay(&c.Judge, c.cfg.Policy.Guards, held.Item, mostGuardChanges)
	if err != nil {
		return nil, verb.Usage(err)
	}
	defer r.Close()
	told := progress.New(cmd, "calls")
	for call, err := range source.Calls() {
		if err == nil {
			err = cmd.Context().Err()
		}
		if err != nil {
			return nil, verb.Usage(err)
		}
		r.Add(cmd.Context(), call)
		told.At(r.Calls)
	}
	told.End()
	r.Finish()
	return r, nil
}

// printGuardReplay is the report for people.
func printGuardReplay(w io.Writer, r *verdict.GuardReplay) {
	_, _ = fmt.Fprintf(w, "%s: %d with the same outcome, %d with another, %d cannot be told\n", counted(r.Calls, "call"), r.Same, r.Changed, r.Untold)
	_, _ = fmt.Fprintf(w, "content was not captured: %d; erased or expired: %d; captured in part: %d\n", r.NotCaptured, r.Gone, r.Partial)
	for _, o := range r.Outcomes {
		_, _ = fmt.Fprintf(w, "  %s: %s → %s\n", counted(o.Calls, "call"), o.Was, o.Now)
	}
	for _, g := range r.Guards {
		_, _ = fmt.Fprintf(w, "  guard %s: found something in %s then, in %d now\n", verb.Cell(g.Guard), counted(g.Was, "call"), g.Now)
	}
	for i := range r.Changes {
		c := &r.Changes[i]
		_, _ = fmt.Fprintf(w, "  record %d: %s by %s, %s → %s", c.Seq, verb.Cell(c.Agent), verb.Cell(c.Caller), c.Was, c.Now)
		for _, f := range c.Findings {
			_, _ = fmt.Fprintf(w, "; %s", verb.Cell(f))
		}
		_, _ = fmt.Fprintln(w)
	}
	if len(r.Why) > 0 {
		_, _ = fmt.Fprint(w, "\ncannot be told:\n")
	}
	for _, why := range r.Why {
		_, _ = fmt.Fprintf(w, "  %s: %s\n", counted(why.Calls, "call"), why.Why)
	}
	for _, n := range r.Notes {
		_, _ = fmt.Fprintf(w, "note: %s\n", n)
	}
}
