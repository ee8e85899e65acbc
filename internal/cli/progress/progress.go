// Package progress tells people how far a command is that takes long.
//
// It owns when it is told, and how on a terminal and in a log. It does not own what is counted. It imports
// nothing of ours.
package progress

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// Progress tells how far a command is that may take minutes, since silence looks like a hang. On a
// terminal it is one line of standard error, which is written over and goes when the command ends. In a log
// of a build it is a line now and then. What is done soon tells nothing, nor does --quiet.
type Progress struct {
	to       io.Writer // nil: nobody is told
	what     string
	terminal bool
	next     time.Time
	told     bool
}

// How soon and how often Progress tells, on a terminal and elsewhere.
const (
	soonTerminal, oftenTerminal = 500 * time.Millisecond, 200 * time.Millisecond
	soonLog, oftenLog           = 5 * time.Second, 10 * time.Second
)

// Flag adds -q/--quiet to a command that has a Progress.
func Flag(cmd *cobra.Command) {
	cmd.Flags().BoolP("quiet", "q", false, "show no progress")
}

// New begins to tell of what is counted, such as "records verified".
func New(cmd *cobra.Command, what string) *Progress {
	p := &Progress{what: what}
	if quiet, err := cmd.Flags().GetBool("quiet"); err == nil && quiet {
		return p
	}
	p.to = cmd.ErrOrStderr()
	p.terminal = IsTerminal(p.to)
	p.next = time.Now().Add(p.pace(soonTerminal, soonLog))
	return p
}

// IsTerminal reports whether w shows a line that is written over as one.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func (p *Progress) pace(terminal, log time.Duration) time.Duration {
	if p.terminal {
		return terminal
	}
	return log
}

// At says how many there are by now. It may be called for each.
func (p *Progress) At(n int) {
	if p.to == nil {
		return
	}
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	p.next, p.told = now.Add(p.pace(oftenTerminal, oftenLog)), true
	line := grouped(n) + " " + p.what
	if p.terminal {
		_, _ = fmt.Fprint(p.to, "\r\x1b[K"+line)
		return
	}
	_, _ = fmt.Fprintln(p.to, line)
}

// End takes the line from the terminal, for what is written next.
func (p *Progress) End() {
	if p.told && p.terminal {
		_, _ = fmt.Fprint(p.to, "\r\x1b[K")
	}
}

// grouped is a number as people read large ones: 1,234,567.
func grouped(n int) string {
	digits := fmt.Sprint(n)
	var b strings.Builder
	for i, c := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return b.String()
}
