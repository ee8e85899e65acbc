package limits_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
)

func TestHeaders(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		in            []limits.Standing
		policy, limit string
	}{
		"none": {},
		"one": {
			[]limits.Standing{{Name: "per-caller", Limit: 100, Window: time.Minute, Left: 50, Reset: 30 * time.Second}},
			`"per-caller";q=100;w=60`, `"per-caller";r=50;t=30`,
		},
		"rounded up": {
			[]limits.Standing{{Name: "a", Limit: 100, Window: time.Hour, Left: 0, Reset: time.Nanosecond}},
			`"a";q=100;w=3600`, `"a";r=0;t=1`,
		},
		"full": {
			[]limits.Standing{{Name: "a", Limit: 100, Window: time.Hour, Left: 100}}, `"a";q=100;w=3600`, `"a";r=100;t=0`,
		},
		"less than a second": {
			[]limits.Standing{{Name: "a", Limit: 10, Window: 250 * time.Millisecond, Left: 3, Reset: 20 * time.Millisecond}},
			`"a";q=40;w=1`, `"a";r=3;t=1`,
		},
		"places": {
			[]limits.Standing{
				{Name: "a/concurrency", Limit: 20, Unit: "concurrent-requests", Left: 19},
				{Name: "a/openTasks", Limit: 5, Unit: "open-tasks", Left: 4},
			},
			`"a/concurrency";q=20;qu="concurrent-requests", "a/openTasks";q=5;qu="open-tasks"`,
			`"a/concurrency";r=19, "a/openTasks";r=4`,
		},
	} {
		policy, limit := limits.Headers(tc.in)
		if policy != tc.policy || limit != tc.limit {
			t.Errorf("%s:\n%s\n%s\nwant\n%s\n%s", name, policy, limit, tc.policy, tc.limit)
		}
	}
	for after, want := range map[time.Duration]string{
		0: "", -1: "", 1: "1", time.Second: "1", time.Second + 1: "2", 90 * time.Minute: "5400",
	} {
		if got := limits.RetryAfter(after); got != want {
			t.Errorf("RetryAfter(%v) = %q, want %q", after, got, want)
		}
	}
}

// Standings carry what the configuration says, so that headers can be read with it.
func TestStandings(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 2, 4, 22, 30, 0, 0, time.UTC) // a Wednesday
	day := 24 * time.Hour
	for per, want := range map[string]struct{ window, reset time.Duration }{
		"hour": {time.Hour, 30 * time.Minute}, "day": {day, 90 * time.Minute},
		"week": {7 * day, 4*day + 90*time.Minute}, "month": {28 * day, 24*day + 90*time.Minute},
	} {
		l := limiter(t, limits.Options{Now: func() time.Time { return now }}, "{name: a, quota: {units: 9, per: "+per+"}}")
		p, err := l.Admit(t.Context(), (&calls{t: t}).send())
		if err != nil {
			t.Fatal(err)
		}
		s := p.Standings[0]
		if s.Window != want.window || s.Limit != 9 || s.Left != 8 {
			t.Errorf("%s: %+v", per, s)
		}
		applies := l.Explain((&calls{t: t}).send())
		if applies[0].Window != want.window {
			t.Errorf("%s: %+v", per, applies)
		}
	}
}

// Spans end by the calendar in UTC, wherever the gateway is.
func TestQuotaSpans(t *testing.T) {
	t.Parallel()
	vienna := time.FixedZone("CET", 3600)
	for _, tc := range []struct{ per, at, next string }{
		{"hour", "2026-03-01T10:59:59+01:00", "2026-03-01T11:00:00+01:00"},
		{"day", "2026-03-01T00:59:59+01:00", "2026-03-01T01:00:00+01:00"},
		{"week", "2026-03-02T00:59:59+01:00", "2026-03-02T01:00:00+01:00"}, // a Monday
		{"week", "2025-12-31T12:00:00+01:00", "2026-01-05T01:00:00+01:00"},
		{"month", "2026-01-01T00:59:59+01:00", "2026-01-01T01:00:00+01:00"},
		{"month", "2024-02-29T23:59:59+01:00", "2024-03-01T01:00:00+01:00"},
	} {
		var now time.Time
		l := limiter(t, limits.Options{Now: func() time.Time { return now.In(vienna) }}, "{name: a, quota: {units: 1, per: "+tc.per+"}}")
		at, err := time.Parse(time.RFC3339, tc.at)
		next, nextErr := time.Parse(time.RFC3339, tc.next)
		if err != nil || nextErr != nil {
			t.Fatal(err, nextErr)
		}
		k := &calls{t: t}
		for i, moment := range []struct {
			at time.Time
			ok bool
		}{{at, true}, {at, false}, {next.Add(-1), false}, {next, true}, {next.Add(1), false}, {at, false}} {
			now = moment.at
			if room(t, l, k.send()) != moment.ok {
				t.Errorf("%s, call %d at %v: admitted is not %v", tc.per, i, moment.at, moment.ok)
			}
		}
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	l := limiter(t, limits.Options{},
		"{name: a, rate: {units: 5, burst: 20}, key: [principal, client, tenant, agent, skill, source], cost: {skills: {pay: 3}}}",
		"{name: b, agents: [weather], bytes: 1B}",
		"{name: c, mode: shadow, key: [], concurrency: 7, openTasks: 8, bytes: 1KiB}")
	c := with((&calls{t: t}).send(), func(c *limits.Call) {
		c.Skill, c.Principal.Tenant, c.Principal.Client = "pay", "acme", "desk"
	})
	key := "principal=alice@https://login.example.com client=desk tenant=acme agent=billing skill=pay source=[192.0.2.7]"
	want := []limits.Applies{
		{Limit: "a", What: "rate", Units: 5, Window: time.Second, Burst: 20, Cost: 3, Key: key},
		{Limit: "c", Shadow: true, What: "concurrency", Units: 7},
		{Limit: "c", Shadow: true, What: "openTasks", Units: 8},
		{Limit: "c", Shadow: true, What: "bytes", Units: 1024},
	}
	for range 2 { // nothing is drawn
		if diff := cmp.Diff(want, l.Explain(c)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	get := (&calls{t: t}).by("alice", "weather", wire.GetTask)
	get.Principal.Workload = &authn.Principal{Subject: "desk", Issuer: "mtls"}
	got := l.Explain(get)
	if len(got) != 4 || got[1].Limit != "b" || got[0].Cost != 1 ||
		got[0].Key != "principal=alice@https://login.example.com client=desk@mtls tenant= agent=weather skill= source=[192.0.2.7]" {
		t.Errorf("%+v", got)
	}
}
