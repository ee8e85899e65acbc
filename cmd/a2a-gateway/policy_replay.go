package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// progressEvery is how many calls there are between two words to a terminal.
const progressEvery = 50_000

// replayLog puts the calls of an audit log to the rules.
func (p *policyTest) replayLog(cmd *cobra.Command) error {
	c, err := compile(p.config)
	if err != nil {
		return usage(err)
	}
	defer c.close()
	tell := progress(cmd.ErrOrStderr())
	r := newReplay(c)
	source := c.cfg.Telemetry.Audit.Source() // with the keys of an encrypted log
	source.Path = p.replay
	for call, err := range source.Calls() {
		if err != nil {
			return usage(fmt.Errorf("--replay: %w", err))
		}
		if err := r.add(call); err != nil {
			return usage(err)
		}
		if r.Calls%progressEvery == 0 {
			tell(r.Calls)
		}
	}
	r.finish()
	if err := show(cmd.OutOrStdout(), p.output, r, func(w io.Writer) { r.print(w) }); err != nil {
		return err
	}
	if n := r.changed(); n > 0 {
		return failed(fmt.Errorf("%d of %s would be decided otherwise", n, counted(r.Calls, "call")))
	}
	if r.Calls == 0 {
		return usage(errors.New("--replay: the log has no calls"))
	}
	return nil
}

// progress tells a terminal how far it is, and nobody else.
func progress(w io.Writer) func(calls int) {
	f, ok := w.(*os.File)
	if !ok {
		return func(int) {}
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return func(int) {}
	}
	return func(calls int) { _, _ = fmt.Fprintf(f, "\r%d calls", calls) }
}
