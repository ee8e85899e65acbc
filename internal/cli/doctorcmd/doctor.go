// Package doctorcmd is `a2a-gateway doctor`: why a gateway does not do what it should, asked in one
// go, before anybody reads logs.
//
// It looks at what validate --online looks at (internal/cli/validatecmd), and at what only the
// machine knows: certificates and their dates, the data directory, descriptors, the clock, the
// ports. Every finding is a line with a level, what it is about, and how it is mended:
//
//	ok       agent billing: A2A 1.0 JSONRPC at http://…: it answers as it should
//	warning  certificate agents.crt: expires in 6 days: who renews it?
//	error    state: /var/lib/a2a-gateway cannot be written: run doctor as the gateway's user, or chown it
//
// It changes nothing. Ports are bound for a moment, to see that they are free, and Redis is written
// one key, as the gateway does when it starts. It sees what its own user may see: it is to be run
// as the gateway's.
package doctorcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/arguments"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/validatecmd"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
)

// Levels of a finding. Only errors change the exit code.
const (
	levelOK      = "ok"
	levelWarning = "warning"
	levelError   = "error"
)

// finding is one thing that was looked at.
type finding struct {
	Level string `json:"level"`
	About string `json:"about"` // a section of the configuration, an agent, a file
	Text  string `json:"text"`
}

// report is what --json prints.
type report struct {
	Findings []finding `json:"findings"`
	Errors   int       `json:"errors"`
	Warnings int       `json:"warnings"`
}

// doctor gathers findings, and shows each as it is found: half a minute of silence looks like
// something that hangs.
type doctor struct {
	report

	show func(finding)
}

func (d *doctor) ok(about, format string, args ...any)   { d.add(levelOK, about, format, args...) }
func (d *doctor) warn(about, format string, args ...any) { d.add(levelWarning, about, format, args...) }
func (d *doctor) fail(about, format string, args ...any) { d.add(levelError, about, format, args...) }

func (d *doctor) add(level, about, format string, args ...any) {
	f := finding{level, about, fmt.Sprintf(format, args...)}
	switch level {
	case levelWarning:
		d.Warnings++
	case levelError:
		d.Errors++
	}
	d.Findings = append(d.Findings, f)
	d.show(f)
}

// Command is `a2a-gateway doctor`, which internal/cli mounts.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find problems that keep a gateway from working, and say how to fix them",
		Long: "Find problems that keep a gateway from working. doctor checks the configuration, certificates,\n" +
			"issuers, agents, the state store, the data directory, file descriptors and the clock. It also checks\n" +
			"whether the ports are free, or already served by this gateway. Run it as the gateway's user. It\n" +
			"changes nothing, with two exceptions: it writes one key to Redis, as the gateway does at its start,\n" +
			"and it listens for a moment at free addresses.\n\n" +
			"Exit 1 if there are errors, else 0, also with warnings.",
		Args: arguments.None,
	}
	path := verb.ConfigFlag(cmd)
	offline := cmd.Flags().Bool("offline", false, "make no network requests")
	output := verb.OutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		format, err := output()
		if err != nil {
			return err
		}
		d := &doctor{show: func(finding) {}}
		if format == "text" {
			d.show = func(f finding) {
				_, _ = fmt.Fprintf(cmd.OutOrStdout(), "%-8s %s: %s\n", f.Level, verb.Legible(f.About), verb.Printable(f.Text))
			}
		}
		d.examine(cmd.Context(), *path, !*offline)
		if err := verb.Show(cmd.OutOrStdout(), format, d.report, func(io.Writer) {}); err != nil {
			return err
		}
		switch {
		case d.Errors == 1:
			return verb.Failed(errors.New("1 error"))
		case d.Errors > 0:
			return verb.Failed(fmt.Errorf("%d errors", d.Errors))
		}
		return nil
	}
	return cmd
}

// examine looks at everything, what is nearest first. Of a configuration that cannot be read
// nothing else is known.
func (d *doctor) examine(ctx context.Context, path string, online bool) {
	cfg, err := config.Load(path)
	if err != nil {
		d.failEach("configuration", verb.Unread(path, err))
		return
	}
	warnings, err := cfg.Check()
	if err == nil {
		d.ok("configuration", "%s is good (agents: %d, rules: %d)", path, len(cfg.Agents), len(cfg.Policy.Rules))
	}
	for _, w := range warnings {
		d.warn("configuration", "%s", w)
	}
	if err != nil {
		d.failEach("configuration", err)
	}
	d.certificates(cfg)
	d.data(cfg)
	d.descriptors(cfg)
	d.listeners(ctx, cfg)
	if online {
		d.network(ctx, cfg)
		d.clock(ctx, cfg)
	}
}

// failEach tells each line of an error that holds several.
func (d *doctor) failEach(about string, err error) {
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); line != "" {
			d.fail(about, "%s", line)
		}
	}
}

// network asks whom the gateway asks: agents, issuers, Redis, databases of records.
func (d *doctor) network(ctx context.Context, cfg *config.Config) {
	told := map[string]bool{}
	split := func(text string) (about, rest string) {
		about, rest, ok := strings.Cut(text, ": ")
		if !ok {
			return "network", text
		}
		told[about] = true
		return about, rest
	}
	say := func(text string) { about, rest := split(text); d.ok(about, "%s", rest) }
	warn := func(text string) { about, rest := split(text); d.warn(about, "%s", rest) }
	if err := validatecmd.Online(ctx, cfg, say, warn); err != nil {
		for line := range strings.Lines(err.Error()) {
			about, rest := split(strings.TrimSpace(line))
			d.fail(about, "%s", rest)
		}
	}
	// Of what is well Online says nothing but of agents.
	for i, issuer := range validatecmd.Issuers(cfg) {
		if about := fmt.Sprintf("authn.oidc[%d]", i); !told[about] {
			d.ok(about, "%s has its keys where it says", issuer)
		}
	}
	if cfg.State.Driver == "redis" && !told["state"] {
		d.ok("state", "Redis answers, and takes writes")
	}
}
