package policycmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/arguments"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/progress"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
)

// PolicyCommand is the command that internal/cli mounts.
// It does nothing itself; its verbs are below it.
func PolicyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Test the rules",
		Args:  arguments.None,
	}
	cmd.AddCommand(policyTestCommand())
	return cmd
}

const policyTestLong = `Test the rules against expected decisions.

Each FILE has cases: a caller, a call and the expected decision (docs/policy.md, Testing). The
command evaluates the cases with the code of the running gateway. It makes no calls, counts
nothing and contacts nobody. If a decision differs, it shows how each rule decided.

With --replay, the command evaluates the rules for the calls of an audit log, a file or a
directory. It shows changed decisions by rule, agent and caller. The log does not contain
claims and contents, and the command does not guess them. It counts the calls that depend on
them separately.

Exit 0 if all decisions are as expected or recorded, 1 if one differs, 2 if a file or the
configuration is wrong.`

const policyTestExamples = `  a2a-gateway policy test -c config.yaml cases.yaml
  a2a-gateway policy test -c config.yaml --junit report.xml --run '^refund' tests/*.yaml
  a2a-gateway policy test -c next.yaml --replay /var/lib/a2a-gateway/audit`

// policyTest is what the flags of policy test ask.
// junit and replay are paths, output is text or json, and run is a regular expression.
// config is the path of the configuration that is held to the cases.
type policyTest struct {
	config, output, junit, run, replay string
}

// policyTestCommand is policy test. Cases and --replay exclude each other: the one has wanted
// outcomes, the other those that were, and a report that mixes them could be read either way.
func policyTestCommand() *cobra.Command {
	var p policyTest
	cmd := &cobra.Command{
		Use:     "test [FILE...]",
		Short:   "Test the rules against cases, or against the calls of an audit log",
		Long:    policyTestLong,
		Example: policyTestExamples,
	}
	path := verb.ConfigFlag(cmd)
	f := cmd.Flags()
	f.StringVarP(&p.output, "output", "o", "text", "`format`: text or json")
	f.StringVar(&p.junit, "junit", "", "`file` to write a JUnit report to")
	f.StringVar(&p.run, "run", "", "`regexp` that selects cases by name")
	progress.Flag(cmd)
	f.StringVar(&p.replay, "replay", "", "audit log to evaluate the rules for, a `file` or a directory")
	// JUnit has cases that pass or fail, and a replay has none.
	cmd.MarkFlagsMutuallyExclusive("replay", "junit")
	cmd.MarkFlagsMutuallyExclusive("replay", "run")
	cmd.RunE = func(cmd *cobra.Command, files []string) error {
		p.config = *path
		switch {
		case p.replay != "" && len(files) > 0:
			return verb.Usage(errors.New("--replay takes no files with cases"))
		case p.replay != "":
			return p.replayLog(cmd)
		case len(files) == 0:
			return verb.Usage(errors.New("name a file with cases, or an audit log with --replay"))
		}
		return p.runCases(cmd, files)
	}
	return cmd
}

// runCases runs the cases of all files. Nothing is run if any of them is wrong.
//
// The configuration is compiled once for all cases. A --run that matches nothing is an error, not
// a success: a renamed case would otherwise be skipped in silence.
func (p *policyTest) runCases(cmd *cobra.Command, files []string) error {
	// The empty expression matches every name.
	only, err := regexp.Compile(p.run)
	if err != nil {
		return verb.Usage(fmt.Errorf("--run: %w", err))
	}
	c, err := compile(p.config)
	if err != nil {
		return verb.Usage(err)
	}
	defer c.close()
	// All cases are judged at one moment, unless they name another.
	cases, err := c.readCases(files, time.Now())
	if err != nil {
		return verb.Usage(err)
	}
	cases = slices.DeleteFunc(cases, func(t *trial) bool { return !only.MatchString(t.name) })
	if len(cases) == 0 {
		return verb.Usage(errors.New("--run: no case has such a name"))
	}
	r := c.tryAll(cmd.Context(), cases)
	// The JUnit report is written whatever the outcome: build servers show failures from it.
	if p.junit != "" {
		if err := writeJUnit(p.junit, r); err != nil {
			return verb.Usage(fmt.Errorf("--junit: %w", err))
		}
	}
	if err := verb.Show(cmd.OutOrStdout(), p.output, r, func(w io.Writer) { r.print(w) }); err != nil {
		return err
	}
	if r.Failed > 0 {
		return verb.Failed(fmt.Errorf("%d of %s not as wanted", r.Failed, counted(r.Cases, "case")))
	}
	return nil
}

// tryAll runs cases.
// One after the other, so that the time of each is its own.
func (c *compiled) tryAll(ctx context.Context, cases []*trial) *report {
	r := &report{Cases: len(cases), began: time.Now()}
	for _, t := range cases {
		began := time.Now()
		res := result{File: t.file, Line: t.line, Name: t.name, Explanation: c.Judge.Judge(ctx, t.Inquiry)}
		res.Differences = t.want.compare(res.Explanation)
		if res.OK = res.Differences == nil; !res.OK {
			r.Failed++
		}
		res.took = time.Since(began)
		r.Results = append(r.Results, res)
	}
	return r
}

// writeJUnit writes the report for build servers.
// The file is replaced; the mode lets other users read it, as it holds no secrets.
func writeJUnit(path string, r *report) error {
	text, err := r.junit()
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644) //nolint:gosec // for a build server to read
}
