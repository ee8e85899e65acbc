package policycmd

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/progress"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/explain"
	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
)

// replayLog puts the calls of an audit log to the rules.
//
// Every call is read, one at a time: a log is larger than memory. The first record that cannot be
// read ends the replay with exit code 2, since a part of a log would be reported as if it were all
// of it.
func (p *policyTest) replayLog(cmd *cobra.Command) error {
	c, err := compile(p.config)
	if err != nil {
		return verb.Usage(err)
	}
	defer c.close()
	told := progress.New(cmd, "calls")
	// No calls are sampled here: examples of each group are enough for a report.
	r := explain.NewReplay(&c.Judge)
	source := c.cfg.Telemetry.Audit.Source() // with the keys of an encrypted log
	// The path replaces that of the configuration, which is often another machine's.
	source.Path = p.replay
	for call, err := range source.Calls() {
		if err != nil {
			return verb.Usage(fmt.Errorf("--replay: %w", err))
		}
		if err := r.Add(call); err != nil {
			return verb.Usage(err)
		}
		told.At(r.Calls)
	}
	told.End()
	r.Finish()
	if err := verb.Show(cmd.OutOrStdout(), p.output, &r.Replay, func(w io.Writer) { printReplay(w, &r.Replay) }); err != nil {
		return err
	}
	if n := r.Changed(); n > 0 {
		return verb.Failed(fmt.Errorf("%d of %s would be decided otherwise", n, counted(r.Calls, "call")))
	}
	// A wrong directory is likelier than a log without calls.
	if r.Calls == 0 {
		return verb.Usage(errors.New("--replay: the log has no calls"))
	}
	return nil
}

// printReplay is the report for people: what changes, grouped by rule, agent and caller, with the
// worst changes first, then why the rest cannot be told.
func printReplay(w io.Writer, r *verdict.Replay) {
	_, _ = fmt.Fprintf(w, "%s: %d decided as before, %d otherwise, %d cannot be told\n",
		counted(r.Calls, "call"), r.Same, r.Changed(), r.Untold)
	// The three numbers stand first, since the list below can be long.
	if r.Changed() > 0 {
		_, _ = fmt.Fprintf(w, "\n%d allow → deny, %d deny → allow, %d by another rule\n", r.AllowToDeny, r.DenyToAllow, r.OtherRule)
	}
	for _, g := range r.Changes {
		_, _ = fmt.Fprintf(w, "  %s: %s (%s) → %s (%s), agent %s, caller %s\n",
			counted(g.Calls, "call"), g.Was, cmp.Or(g.From, "before the rules"), g.Now, g.To, g.Agent, g.Caller)
		for _, e := range g.Examples {
			_, _ = fmt.Fprintf(w, "    %s %s\n", e.Time, strings.Join(slices.DeleteFunc(
				[]string{e.Method, e.Skill, e.Request}, func(s string) bool { return s == "" }), " "))
		}
	}
	if r.Left > 0 {
		_, _ = fmt.Fprintf(w, "  %s of further groups\n", counted(r.Left, "call"))
	}
	if len(r.Why) > 0 {
		_, _ = fmt.Fprint(w, "\ncannot be told:\n")
	}
	for _, why := range r.Why {
		_, _ = fmt.Fprintf(w, "  %s: %s\n", counted(why.Calls, "call"), why.Why)
	}
}
