package operate

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/card/trust"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/adminapi"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/arguments"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/console/cards"
	"github.com/a2a-gateway/a2a-gateway/internal/console/deliveries"
	"github.com/a2a-gateway/a2a-gateway/internal/console/fleet"
	"github.com/a2a-gateway/a2a-gateway/internal/console/health"
	"github.com/a2a-gateway/a2a-gateway/internal/console/process"
	"github.com/a2a-gateway/a2a-gateway/internal/console/streams"
	"github.com/a2a-gateway/a2a-gateway/telemetry/metrics"
)

// standing is how a gateway stands, and what `status --json` prints.
type standing struct {
	process.Status

	State    string           `json:"state"`   // state.driver
	ByState  map[string]int   `json:"byState"` // agents, by the word that the gateway has for their state
	Streams  int              `json:"streams"` // open
	Calls    float64          `json:"calls"`   // that ended lately, at this gateway
	Lately   float64          `json:"lately"`  // how long that is, in seconds
	Push     deliveries.Depth `json:"push"`
	Warnings []string         `json:"warnings"` // what is not well, or will not be
}

// StatusCommand is `a2a-gateway status`, which internal/cli mounts.
func StatusCommand() *cobra.Command {
	var a adminapi.Target
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the state of a running gateway",
		Long: "Show the state of a running gateway: version, uptime, readiness, agents by state, open streams,\n" +
			"calls of the last minutes, the last reload and its result, waiting webhook deliveries, and problems.\n" +
			"The command calls the admin API at admin.address of the configuration, with admin.token or the token\n" +
			"in the data directory.\n\n" +
			"Exit 0 if the gateway is ready, also with warnings, else 1.",
		Args: arguments.None,
	}
	a.Flags(cmd.Flags())
	watch := cmd.Flags().Bool("watch", false, "repeat every 2 seconds, until interrupted")
	output := verb.OutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		format, err := output()
		if err != nil {
			return err
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
		defer stop()
		api, err := a.Connect(ctx)
		if err != nil {
			return err
		}
		for {
			s, err := stands(api)
			if err != nil {
				return interrupted(ctx, err)
			}
			if err := verb.Show(cmd.OutOrStdout(), format, s, func(w io.Writer) { s.print(w) }); err != nil {
				return verb.Failed(err)
			}
			if !*watch {
				return s.err()
			}
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(2 * time.Second):
				if format == "text" {
					_, _ = fmt.Fprintln(cmd.OutOrStdout())
				}
			}
		}
	}
	return cmd
}

// interrupted is err, or nil where the person at the terminal has ended the wait.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// stands asks for all parts, one after the other: they are of one moment within some milliseconds.
func stands(api *adminapi.Client) (*standing, error) {
	s := &standing{ByState: map[string]int{}, Warnings: []string{}}
	var h health.Health
	var open streams.OpenStreams
	var trends fleet.Trends
	for _, q := range []struct {
		path string
		out  any
	}{
		{"/api/v1/status", &s.Status}, {"/api/v1/health", &h}, {"/api/v1/streams?limit=1", &open}, {"/api/v1/trends", &trends},
	} {
		if err := api.Do(http.MethodGet, q.path, q.out); err != nil {
			return nil, err
		}
	}
	var err error
	if s.Push, err = api.Depth(); err != nil {
		return nil, err
	}
	s.State, s.Streams = h.State.Driver, open.Open
	for _, steps := range trends.Agents {
		s.Lately = max(s.Lately, trends.Every*float64(len(steps)))
		for _, n := range steps {
			s.Calls += n
		}
	}
	if err := s.count(api); err != nil {
		return nil, err
	}
	s.warn(&h)
	return s, nil
}

// count adds up the agents by their states, page by page, and warns of those that fail. The warning of one whose
// card waits has the command that approves it.
func (s *standing) count(api *adminapi.Client) error {
	waiting := map[string]int{} // agents whose cards wait: index of the warning
	for cursor := ""; ; {
		var page fleet.AgentPage
		if err := api.Do(http.MethodGet, adminapi.PagePath(agentsPath, cursor), &page); err != nil {
			return err
		}
		for i := range page.Agents {
			a := &page.Agents[i]
			word := cmp.Or(a.State, "not served")
			s.ByState[word]++
			if a.Failure != "" {
				s.Warnings = append(s.Warnings, fmt.Sprintf("agent %s: %s", a.ID, a.Failure))
			}
			if a.State == metrics.AgentCardWaiting {
				waiting[a.ID] = len(s.Warnings) - 1
			}
		}
		if cursor = page.Next; cursor == "" {
			return s.approvals(api, waiting)
		}
	}
}

// approvals adds to the warnings of agents whose cards wait how each is approved.
func (s *standing) approvals(api *adminapi.Client, waiting map[string]int) error {
	for cursor, more := "", len(waiting) > 0; more; more = cursor != "" {
		var page struct {
			Cards []cards.CardSummary `json:"cards"`
			Next  string              `json:"next"`
		}
		if err := api.Do(http.MethodGet, adminapi.PagePath("/api/v1/cards", cursor), &page); err != nil {
			return err
		}
		for _, c := range page.Cards {
			if i, waits := waiting[c.Agent]; waits && c.State == trust.Quarantined {
				s.Warnings[i] += fmt.Sprintf("; a2a-gateway card diff %s shows it, a2a-gateway card approve %s %s has it come into force", c.Agent, c.Agent, c.Digest)
			}
		}
		cursor = page.Next
	}
	return nil
}

// expiresSoon is from when on the end of a certificate is worth a warning.
const expiresSoon = 14 * 24 * time.Hour

// warn gathers what is not well. Agents are among the checks too, and were told of already.
func (s *standing) warn(h *health.Health) {
	add := func(format string, args ...any) { s.Warnings = append(s.Warnings, fmt.Sprintf(format, args...)) }
	for _, c := range s.Checks {
		if !c.OK && !strings.HasPrefix(c.Name, "agent") {
			add("%s: %s", c.Name, cmp.Or(c.Why, "it is not well"))
		}
	}
	for _, l := range h.Limits {
		if l.Refuses {
			add("%s: calls are refused for it now, %g of %g %s", l.Name, l.Used, l.Max, l.Unit)
		}
	}
	for _, k := range h.Sinks {
		if k.Failing > 0 {
			add("audit sink %s: %d take no records, %d wait", k.Kind, k.Failing, k.Waiting)
		}
	}
	for i := range h.Certificates {
		if c := &h.Certificates[i]; time.Until(c.NotAfter) < expiresSoon {
			add("certificate of %s for %s: ends on %s", c.Listener, strings.Join(c.Names, ", "), c.NotAfter.Format(time.DateOnly))
		}
	}
	if s.Push.Dead > 0 {
		add("%d deliveries to webhooks were given up: a2a-gateway push list", s.Push.Dead)
	}
	if s.Config.Failure != "" {
		add("the last reload was refused: %s", s.Config.Failure)
	}
}

// print writes it for people, one thing in a line.
func (s *standing) print(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		_, _ = fmt.Fprintf(t, "%s\t%s\n", name, verb.Legible(fmt.Sprintf(format, args...)))
	}
	row("version", "%s", s.Version)
	row("uptime", "%s, since %s", time.Duration(s.Uptime)*time.Second, s.Started.Format(time.RFC3339))
	if s.Ready {
		row("ready", "yes")
	} else {
		row("ready", "no: %s", s.Why)
	}
	var states []string
	for _, word := range slices.Sorted(maps.Keys(s.ByState)) {
		states = append(states, fmt.Sprintf("%d %s", s.ByState[word], word))
	}
	row("agents", "%d: %s", s.Agents, cmp.Or(strings.Join(states, ", "), "none"))
	row("streams", "%d open", s.Streams)
	row("calls", "%.0f in the last %s", s.Calls, time.Duration(cmp.Or(s.Lately, 300))*time.Second)
	row("webhooks", "%d deliveries wait, %d given up", s.Push.Waiting, s.Push.Dead)
	row("state", "%s", s.State)
	switch {
	case s.Config.Reloaded.IsZero():
		row("configuration", "%s, not reloaded since the start", short(s.Config.Digest))
	case s.Config.Failure != "":
		row("configuration", "%s, the reload of %s was refused", short(s.Config.Digest), s.Config.Reloaded.Format(time.RFC3339))
	default:
		row("configuration", "%s, reloaded %s", short(s.Config.Digest), s.Config.Reloaded.Format(time.RFC3339))
	}
	_ = t.Flush()
	for _, text := range s.Warnings {
		_, _ = fmt.Fprintln(w, "warning:", verb.Legible(text))
	}
}

// short is the beginning of a digest, which is enough to tell two apart.
func short(digest string) string { return digest[:min(len(digest), 19)] }

// err is an error where traffic should not come to this gateway.
func (s *standing) err() error {
	if s.Ready {
		return nil
	}
	return verb.Failed(fmt.Errorf("not ready: %s", s.Why))
}
