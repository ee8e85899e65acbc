package console

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/console/apikeys"
	"github.com/a2a-gateway/a2a-gateway/internal/console/approvals"
	"github.com/a2a-gateway/a2a-gateway/internal/console/cards"
	"github.com/a2a-gateway/a2a-gateway/internal/console/contents"
	"github.com/a2a-gateway/a2a-gateway/internal/console/deliveries"
	"github.com/a2a-gateway/a2a-gateway/internal/console/extensions"
	"github.com/a2a-gateway/a2a-gateway/internal/console/fleet"
	"github.com/a2a-gateway/a2a-gateway/internal/console/health"
	"github.com/a2a-gateway/a2a-gateway/internal/console/identities"
	"github.com/a2a-gateway/a2a-gateway/internal/console/overview"
	"github.com/a2a-gateway/a2a-gateway/internal/console/process"
	"github.com/a2a-gateway/a2a-gateway/internal/console/records"
	"github.com/a2a-gateway/a2a-gateway/internal/console/replicas"
	"github.com/a2a-gateway/a2a-gateway/internal/console/rules"
	"github.com/a2a-gateway/a2a-gateway/internal/console/streams"
	"github.com/a2a-gateway/a2a-gateway/internal/console/trials"
)

// table is all screens, in the order of the navigation: a row for each, with what it needs
// of the gateway. Requests, who may make them, the document of the API, the links of the
// pages and docs/admin.md are made by it or held to it. What is not here is not found, and
// nothing below it either. It is made anew on each call and read once by Open. Tests call
// it on an empty Console: making a row uses nothing that it is given.
func (s *Console) table() []api.Screen {
	c := &s.config
	bounds := rules.ReplayBounds{Records: c.Replay.Records, Sample: c.Replay.Sample, Bytes: int64(c.Replay.Bytes)}
	return []api.Screen{
		signInScreen(&s.access),
		overview.Screen(s.History, s.Agents, c.Dashboards),
		records.CallersScreen(s.Records, c.Map.Records),
		records.ValuesScreen(s.Records, c.Map.Records),
		records.ChangesScreen(s.Records),
		fleet.Screen(s.Agents),
		cards.Screen(s.Cards),
		records.CourseScreen(s.Records, c.Map.Records),
		records.MapScreen(s.Records, c.Map.Records),
		records.LiveScreen(s.Records, c.Live.Viewers, int(c.Live.Buffer), s.Log, s.access.admitted),
		streams.Screen(s.Streams, streams.Watching{Viewers: c.Live.Viewers, Buffer: int(c.Live.Buffer), Content: c.Content, Admitted: s.access.operates}),
		records.AuditScreen(s.Records),
		records.ExportScreen(s.Records),
		records.VerificationScreen(s.Records),
		records.RecordScreen(s.Records, s.Policy, s.Contents, c.Content),
		records.TaskScreen(s.Records),
		rules.Screen(s.Policy, s.Running),
		rules.LimitsScreen(s.Policy, s.Records, c.Map.Records),
		rules.ReplayScreen(s.Policy, bounds, c.Replay.Time.Std()),
		rules.GuardsScreen(s.Running, s.Records, c.Map.Records),
		rules.GuardTryScreen(s.Policy),
		rules.GuardReplayScreen(s.Policy, bounds, c.Replay.Time.Std(), c.Content),
		extensions.Screen(s.Extensions),
		trials.Screen(trials.Options{
			Trials: s.Trials, Calls: c.Try.Calls, Timeout: c.Try.Timeout.Std(), StreamTimeout: c.Try.StreamTimeout.Std(), Answer: int64(c.Try.Answer),
			Admitted: s.access.admitted,
		}),
		approvals.Screen(s.Approvals),
		approvals.CallScreen(s.Approvals),
		deliveries.Screen(s.Deliveries),
		contents.Screen(s.Contents),
		identities.Screen(s.Callers),
		apikeys.Screen(s.Keys),
		process.Screen(s.Running),
		health.Screen(s.Health, s.leaves),
		replicas.Screen(s.Cluster),
		process.ProfileScreen(),
		accountScreen(&s.access, func() (jsontext.Value, error) { return s.document() }),
	}
}

// operationsOf are those of all screens.
func operationsOf(screens []api.Screen) []api.Operation {
	var all []api.Operation
	for i := range screens {
		all = append(all, screens[i].Operations...)
	}
	return all
}
