package limits_test

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
)

// Each condition is met or not, and each part of a key tells callers apart.
func TestAppliesAndCounts(t *testing.T) {
	t.Parallel()
	k := &calls{t: t}
	other := func(change func(*limits.Call)) *limits.Call { return with(k.send(), change) }
	skill := func(s string) *limits.Call { return other(func(c *limits.Call) { c.Skill = s }) }
	open := func(skills ...string) *limits.Call { return other(func(c *limits.Call) { c.Skills = skills }) }
	from := func(s string) *limits.Call { return other(func(c *limits.Call) { c.Source = netip.MustParseAddr(s) }) }
	as := func(p authn.Principal) *limits.Call { return other(func(c *limits.Call) { c.Principal = &p }) }
	alice := authn.Principal{Subject: "alice", Issuer: "https://login.example.com"}
	grouped, tenant, client, workload, elsewhere := alice, alice, alice, alice, alice
	grouped.Groups = []string{"staff", "support"}
	tenant.Tenant, client.Client, elsewhere.Issuer = "acme", "desk", "api-keys"
	workload.Workload = &authn.Principal{Subject: "desk", Issuer: "mtls"}
	for name, tc := range map[string]struct {
		limit string
		same  []*limits.Call // only the first of them is admitted
		apart []*limits.Call // all of them are, afterwards
	}{
		"everything": {"", []*limits.Call{k.send(), k.send()}, []*limits.Call{k.by("bob", "billing", wire.SendMessage)}},
		"agents": {"agents: [bil*, weather]",
			[]*limits.Call{k.send(), k.by("alice", "weather", wire.GetTask)},
			[]*limits.Call{k.by("alice", "support", wire.SendMessage), k.by("alice", "support", wire.SendMessage)}},
		"skills":                {`skills: ["re*d"]`, []*limits.Call{skill("refund"), skill("read")}, []*limits.Call{skill(""), skill("reads"), skill("r")}},
		"unknown skill":         {`skills: [refund]`, []*limits.Call{open("read", "refund"), skill("refund")}, []*limits.Call{open("read"), open("read", "note")}},
		"cost of unknown skill": {"cost: {skills: {read: 0, note: 0}}", []*limits.Call{open("read", "refund"), skill("refund")}, []*limits.Call{open("read", "note")}},
		"any skill":             {`skills: ["*"]`, []*limits.Call{skill(""), skill("refund")}, nil},
		"methods": {"methods: [SendMessage]", []*limits.Call{k.send(), k.send()},
			[]*limits.Call{k.by("alice", "billing", wire.GetTask), k.by("alice", "billing", wire.GetTask)}},
		"methods of old": {"methods: [message/send, tasks/sendSubscribe]",
			[]*limits.Call{k.send(), k.by("alice", "billing", wire.SendStreamingMessage)},
			[]*limits.Call{k.by("alice", "billing", wire.GetTask)}},
		"subjects": {`subjects: ["a*"]`, []*limits.Call{k.send(), k.send()},
			[]*limits.Call{k.by("bob", "billing", wire.SendMessage), k.by("bob", "billing", wire.SendMessage)}},
		"groups":           {"groups: [admins, support]", []*limits.Call{as(grouped), as(grouped)}, []*limits.Call{k.send(), k.send()}},
		"issuers":          {"issuers: [api-keys]", []*limits.Call{as(elsewhere), as(elsewhere)}, []*limits.Call{k.send(), k.send()}},
		"all together":     {"key: []", []*limits.Call{k.send(), k.by("bob", "weather", wire.GetTask), as(elsewhere)}, nil},
		"by issuer":        {"", []*limits.Call{k.send(), k.send()}, []*limits.Call{as(elsewhere)}},
		"by agent":         {"key: [agent]", []*limits.Call{k.send(), k.by("bob", "billing", wire.GetTask)}, []*limits.Call{k.by("alice", "weather", wire.GetTask)}},
		"by skill":         {"key: [skill]", []*limits.Call{skill("a"), skill("a")}, []*limits.Call{skill("b"), skill("")}},
		"no tenant":        {"key: [tenant]", []*limits.Call{k.send(), as(elsewhere), k.by("bob", "weather", wire.GetTask)}, []*limits.Call{as(tenant)}},
		"by client":        {"key: [client]", []*limits.Call{as(client), as(client)}, []*limits.Call{k.send(), as(workload)}},
		"no client":        {"key: [client]", []*limits.Call{k.send(), k.by("bob", "weather", wire.GetTask)}, []*limits.Call{as(client)}},
		"by source":        {"key: [source]", []*limits.Call{k.send(), k.by("bob", "billing", wire.SendMessage), from("::ffff:192.0.2.7")}, []*limits.Call{from("192.0.2.8")}},
		"by IPv6 network":  {"key: [source]", []*limits.Call{from("2001:db8::1"), from("2001:db8::ffff:2%eth0")}, []*limits.Call{from("2001:db8:0:1::1")}},
		"by two":           {"key: [agent, skill]", []*limits.Call{skill("a"), skill("a")}, []*limits.Call{skill("b"), other(func(c *limits.Call) { c.Agent, c.Skill = "weather", "a" })}},
		"nobody in person": {"", []*limits.Call{other(func(c *limits.Call) { c.Principal = nil }), other(func(c *limits.Call) { c.Principal = nil })}, []*limits.Call{k.send()}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := limiter(t, limits.Options{}, strings.ReplaceAll("{name: one, quota: {units: 1}, "+tc.limit+"}", ", }", "}"))
			for i, c := range tc.same {
				if _, by := admit(t, l, c); (by == "") != (i == 0) {
					t.Errorf("call %d of those that count as one: refused by %q", i, by)
				}
			}
			for i, c := range tc.apart {
				if _, by := admit(t, l, c); by != "" {
					t.Errorf("call %d of those that do not: refused by %q", i, by)
				}
			}
		})
	}
}

// What calls cost, and what is left to them.
func TestCosts(t *testing.T) {
	t.Parallel()
	l := limiter(t, limits.Options{}, `{name: weighed, rate: {units: 60, per: 24h},
      cost: {methods: {SendMessage: 4, tasks/get: 0}, skills: {refund: 5, help: 0}}}`)
	k := &calls{t: t}
	for i, tc := range []struct {
		method, skill string
		left          int64 // -1 for refused, -2 for not counted
	}{
		{wire.SendMessage, "", 56},
		{wire.SendMessage, "refund", 36},
		{wire.GetTask, "refund", -2},
		{wire.SendMessage, "help", -2},
		{wire.CancelTask, "refund", 31},
		{wire.SendMessage, "refund", 11},
		{wire.SendMessage, "refund", -1},
		{wire.CancelTask, "other", 10},
	} {
		c := with(k.by("alice", "billing", tc.method), func(c *limits.Call) { c.Skill = tc.skill })
		p, by := admit(t, l, c)
		got := int64(-2)
		if p != nil {
			got = p.Standings[0].Left
		} else if by != "" {
			got = -1
		}
		if got != tc.left {
			t.Errorf("call %d (%s, %q): %d left, want %d", i, tc.method, tc.skill, got, tc.left)
		}
	}
}

// Of several limits all must have room, and none is drawn on when one has not.
func TestSeveralLimits(t *testing.T) {
	t.Parallel()
	l := limiter(t, limits.Options{},
		"{name: wide, quota: {units: 10}, key: []}",
		"{name: own, rate: {units: 3, per: 1h}, quota: {units: 5}}",
		"{name: elsewhere, agents: [weather], quota: {units: 1}}",
		"{name: size, bytes: 100B}")
	k := &calls{t: t}
	for range 3 {
		if _, by := admit(t, l, k.send()); by != "" {
			t.Fatalf("refused by %s", by)
		}
	}
	_, err := l.Admit(t.Context(), k.send())
	var e *limits.Exceeded
	if !errors.As(err, &e) || e.Name != "own" || e.Size || e.After <= 19*time.Minute || e.After > 20*time.Minute {
		t.Fatalf("the fourth in an hour: %+v", err)
	}
	var names []string
	for _, s := range e.Standings {
		names = append(names, fmt.Sprint(s.Name, " ", s.Left, "/", s.Limit, "/", s.Most, " ", s.Window))
	}
	if diff := cmp.Diff([]string{"own/rate 0/3/3 1h0m0s", "own/quota 2/5/5 24h0m0s"}, names); diff != "" {
		t.Errorf("standings (-want +got):\n%s", diff)
	}
	big := with(k.by("bob", "billing", wire.SendMessage), func(c *limits.Call) { c.Bytes = 101 })
	_, err = l.Admit(t.Context(), big)
	if !errors.As(err, &e) || e.Name != "size" || !e.Size || e.After != 0 {
		t.Errorf("a request that is too large: %+v", err)
	}
	// Neither refusal took anything: seven of ten are left to all.
	for i := range 8 {
		if _, by := admit(t, l, k.by(fmt.Sprint("user-", i), "billing", wire.SendMessage)); (by == "") != (i < 7) {
			t.Errorf("call %d of others: refused by %q", i, by)
		}
	}
}

// Limits in shadow mode are counted, say what they would have done, and refuse nobody.
func TestShadow(t *testing.T) {
	t.Parallel()
	l := limiter(t, limits.Options{},
		"{name: watched, mode: shadow, quota: {units: 2}, concurrency: 1, bytes: 10B, openTasks: 1}",
		"{name: enforced, quota: {units: 4}}")
	k := &calls{t: t}
	for i, tc := range []struct {
		bytes int64
		want  []string
		by    string
	}{
		{1, nil, ""}, {1, []string{"watched"}, ""}, {11, []string{"watched"}, ""}, {1, []string{"watched"}, ""}, {1, nil, "enforced"},
	} {
		p, by := admit(t, l, with(k.send(), func(c *limits.Call) { c.Bytes = tc.bytes }))
		defer p.Release(t.Context())
		if by != tc.by || p != nil && !slices.Equal(p.Shadow, tc.want) {
			t.Errorf("call %d: %+v, refused by %q; want %v, %q", i, p, by, tc.want, tc.by)
		}
		if p != nil && (len(p.Standings) != 1 || p.Standings[0].Name != "enforced") {
			t.Errorf("call %d: %+v", i, p.Standings)
		}
	}
}

// Only what is a caller's own is shown to it.
func TestStandingsShown(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		lines []string
		want  []string
	}{
		"own":        {[]string{"{name: a, quota: {units: 9}}"}, []string{"a"}},
		"tenant's":   {[]string{"{name: a, quota: {units: 9}, key: [tenant, agent]}"}, []string{"a"}},
		"no client":  {[]string{"{name: a, quota: {units: 9}, key: [client, agent]}"}, nil},
		"everyone's": {[]string{"{name: a, quota: {units: 9}, key: []}"}, nil},
		"an agent's": {[]string{"{name: a, quota: {units: 9}, key: [agent, skill]}"}, nil},
		"off":        {[]string{"headers: off", "{name: a, quota: {units: 9}}"}, nil},
		"the fullest first": {[]string{
			"{name: a, quota: {units: 9}}", "{name: b, rate: {units: 1, per: 1h, burst: 4}, concurrency: 3}", "{name: c, quota: {units: 2}}",
		}, []string{"c", "b/concurrency", "b/rate", "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := limiter(t, limits.Options{}, tc.lines...)
			p, err := l.Admit(t.Context(), with((&calls{t: t}).send(), func(c *limits.Call) { c.Principal.Tenant = "acme" }))
			if err != nil {
				t.Fatal(err)
			}
			defer p.Release(t.Context())
			var got []string
			if p != nil {
				for _, s := range p.Standings {
					got = append(got, s.Name)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Nothing costs nothing.
func TestNoLimits(t *testing.T) {
	t.Parallel()
	var none *limits.Limiter
	for _, l := range []*limits.Limiter{none, limiter(t, limits.Options{}), limiter(t, limits.Options{}, "{name: a, agents: [weather], rate: {units: 1}}")} {
		p, err := l.Admit(t.Context(), (&calls{t: t}).send())
		if p != nil || err != nil {
			t.Errorf("%+v, %v", p, err)
		}
		p.Task(t.Context(), "t", true)
		p.Release(t.Context())
		l.Close()
	}
}
