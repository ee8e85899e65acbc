package policy

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Each case is alice, who calls GetTask on a task of bob's at billing, made for invoices.
func TestShares(t *testing.T) {
	t.Parallel()
	staff := func(change func(*Sharing)) Sharing {
		sh := Sharing{Name: "x", Groups: []string{"staff"}}
		change(&sh)
		return sh
	}
	for name, tc := range map[string]struct {
		entry  Sharing
		method string
		change func(*authn.Principal, *Task)
		want   bool
	}{
		"group":                   {entry: staff(func(*Sharing) {}), want: true},
		"other group":             {entry: Sharing{Groups: []string{"admins"}}},
		"subject":                 {entry: Sharing{Subjects: []string{"bob", "al*"}}, want: true},
		"other subject":           {entry: Sharing{Subjects: []string{"bob"}}},
		"everybody":               {entry: Sharing{Subjects: []string{"*"}}, want: true},
		"issuer":                  {entry: Sharing{Issuers: []string{"https://issuer"}}, want: true},
		"other issuer":            {entry: staff(func(sh *Sharing) { sh.Issuers = []string{"api-keys"} })},
		"tenant":                  {entry: Sharing{Tenants: []string{"acme"}}, want: true},
		"other tenant":            {entry: staff(func(sh *Sharing) { sh.Tenants = []string{"other"} })},
		"no tenant":               {entry: Sharing{Tenants: []string{"acme"}}, change: func(p *authn.Principal, _ *Task) { p.Tenant = "" }},
		"agent":                   {entry: staff(func(sh *Sharing) { sh.Agents = []string{"bill*"} }), want: true},
		"other agent":             {entry: staff(func(sh *Sharing) { sh.Agents = []string{"weather"} })},
		"owner":                   {entry: staff(func(sh *Sharing) { sh.Owners = []string{"b*"} }), want: true},
		"other owner":             {entry: staff(func(sh *Sharing) { sh.Owners = []string{"carol"} })},
		"owner's issuer":          {entry: staff(func(sh *Sharing) { sh.OwnerIssuers = []string{"mtls"} }), want: true},
		"owner's other":           {entry: staff(func(sh *Sharing) { sh.OwnerIssuers = []string{"api-keys"} })},
		"owner's tenant":          {entry: staff(func(sh *Sharing) { sh.OwnerTenants = []string{"acme"} }), want: true},
		"owner's other one":       {entry: staff(func(sh *Sharing) { sh.OwnerTenants = []string{"other"} })},
		"owner of none":           {entry: staff(func(sh *Sharing) { sh.OwnerTenants = []string{"acme"} }), change: func(_ *authn.Principal, t *Task) { t.Tenant = "" }},
		"skill":                   {entry: staff(func(sh *Sharing) { sh.Skills = []string{"in*"} }), want: true},
		"other skill":             {entry: staff(func(sh *Sharing) { sh.Skills = []string{"refunds"} })},
		"unknown skill":           {entry: staff(func(*Sharing) {}), change: func(_ *authn.Principal, t *Task) { t.Skill = "" }, want: true},
		"any but unknown":         {entry: staff(func(sh *Sharing) { sh.Skills = []string{"*"} }), change: func(_ *authn.Principal, t *Task) { t.Skill = "" }},
		"to list":                 {entry: staff(func(*Sharing) {}), method: wire.ListTasks, want: true},
		"to subscribe":            {entry: staff(func(*Sharing) {}), method: wire.SubscribeToTask, want: true},
		"to cancel":               {entry: staff(func(*Sharing) {}), method: wire.CancelTask},
		"to send":                 {entry: staff(func(*Sharing) {}), method: wire.SendMessage},
		"to send, by name":        {entry: staff(func(sh *Sharing) { sh.Methods = []string{"message/send"} }), method: wire.SendMessage, want: true},
		"to read, not by name":    {entry: staff(func(sh *Sharing) { sh.Methods = []string{"CancelTask"} })},
		"an extension's":          {entry: staff(func(sh *Sharing) { sh.Methods = []string{"x/task"} }), method: "x/task", want: true},
		"an extension's, unnamed": {entry: staff(func(*Sharing) {}), method: "x/task"},
		"configs":                 {entry: staff(func(*Sharing) {}), method: wire.CreatePushConfig},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.entry.Name = "x"
			s, _, err := Compile(Config{Tasks: TasksConfig{Sharing: []Sharing{tc.entry}}}, fleet, extra...)
			if err != nil {
				t.Fatal(err)
			}
			p, task := alice(), &Task{Owner: "bob", Issuer: "mtls", Tenant: "acme", Skill: "invoices"}
			if tc.change != nil {
				tc.change(p, task)
			}
			if got := s.Shares(p, "billing", anyMethod(tc.method), task); (got == "x") != tc.want || got != "" && got != "x" {
				t.Errorf("Shares: %q, want %v", got, tc.want)
			}
			if tc.want && !s.MayShare(p, "billing", anyMethod(tc.method)) {
				t.Error("MayShare knows better")
			}
		})
	}
}

// anyMethod finds a method of A2A's or of extra; GetTask is the default.
func anyMethod(name string) *wire.Method {
	if name == "" {
		name = wire.GetTask
	}
	all := everyMethod()
	return all[slices.IndexFunc(all, func(m *wire.Method) bool { return m.Name == name })]
}

func TestSharesNothing(t *testing.T) {
	t.Parallel()
	s := compile(t, Config{Tasks: TasksConfig{Sharing: []Sharing{{Name: "x", Subjects: []string{"*"}}}}})
	m, task := method(t, wire.GetTask), &Task{Owner: "bob"}
	if s.Shares(nil, "billing", m, task) != "" || s.Shares(alice(), "nope", m, task) != "" ||
		s.Shares(alice(), "billing", nil, task) != "" || s.Shares(alice(), "billing", m, nil) != "" ||
		s.Shares(alice(), "billing", extra[1], task) != "" || s.MayShare(nil, "billing", m) || s.MayShare(alice(), "billing", nil) {
		t.Error("something that is not known is shared")
	}
}

func TestSharingRefused(t *testing.T) {
	t.Parallel()
	who := func(change func(*Sharing)) []Sharing {
		sh := Sharing{Name: "x", Groups: []string{"staff"}}
		change(&sh)
		return []Sharing{sh}
	}
	for want, list := range map[string][]Sharing{
		"[0]: name is missing":                            who(func(sh *Sharing) { sh.Name = "" }),
		"[1]: another entry has the same name":            slices.Concat(who(func(*Sharing) {}), who(func(*Sharing) {})),
		"[0]: the name has characters":                    who(func(sh *Sharing) { sh.Name = "a\n" }),
		"[0]: it says nothing of who may":                 {{Name: "x", Owners: []string{"bob"}}},
		"[0]: agents is empty, so the entry":              who(func(sh *Sharing) { sh.Agents = []string{} }),
		`[0]: agent "nope" is not configured`:             who(func(sh *Sharing) { sh.Agents = []string{"nope"} }),
		"[0]: owners has an empty entry":                  who(func(sh *Sharing) { sh.Owners = []string{""} }),
		"[0]: groups has an empty entry":                  who(func(sh *Sharing) { sh.Groups = []string{""} }),
		"[0]: ownerTenants are compared exactly":          who(func(sh *Sharing) { sh.OwnerTenants = []string{"*"} }),
		"[0]: tenants has an empty entry":                 who(func(sh *Sharing) { sh.Tenants = []string{""} }),
		`[0]: method "getTask" is not`:                    who(func(sh *Sharing) { sh.Methods = []string{"getTask"} }),
		`[0]: methods has no "*"`:                         who(func(sh *Sharing) { sh.Methods = []string{"*"} }),
		"[0]: methods is empty":                           who(func(sh *Sharing) { sh.Methods = []string{} }),
		"[0]: method GetTaskPushNotificationConfig: push": who(func(sh *Sharing) { sh.Methods = []string{"tasks/pushNotificationConfig/get"} }),
		"[0]: method GetExtendedAgentCard: it is":         who(func(sh *Sharing) { sh.Methods = []string{"GetExtendedAgentCard"} }),
		"[0]: method x/about: it is about no task":        who(func(sh *Sharing) { sh.Methods = []string{"x/about"} }),
	} {
		_, _, err := Compile(Config{Tasks: TasksConfig{Sharing: list}}, fleet, extra...)
		if err == nil || !strings.Contains(err.Error(), "tasks.sharing"+want) {
			t.Errorf("Compile: %v, want %q in the error", err, want)
		}
	}
}

// Whatever the entries: the one that is named is the first that holds, read naively, and
// none that MayShare has ruled out.
func TestSharesIsTheModel(t *testing.T) {
	t.Parallel()
	names := []string{wire.GetTask, wire.SendMessage, wire.CancelTask, "x/task"}
	rapid.Check(t, func(rt *rapid.T) {
		var c Config
		for i := range rapid.IntRange(0, 5).Draw(rt, "entries") {
			c.Tasks.Sharing = append(c.Tasks.Sharing, Sharing{
				Name: string(rune('A' + i)), Agents: drawList(rt, "agents", []string{"a", "b", "a*", "*"}),
				Owners: drawList(rt, "owners", somePatterns), OwnerIssuers: drawList(rt, "owner issuers", []string{"i", "j"}),
				OwnerTenants: drawList(rt, "owner tenants", []string{"t", "u"}), Skills: drawList(rt, "skills", []string{"s", "*"}),
				Methods: drawList(rt, "methods", names), Subjects: rapid.SliceOfN(rapid.SampledFrom(somePatterns), 1, 2).Draw(rt, "subjects"),
				Groups: drawList(rt, "groups", []string{"g", "h"}), Issuers: drawList(rt, "issuers", []string{"i", "j"}),
				Tenants: drawList(rt, "tenants", []string{"t", "u"}),
			})
		}
		s, _, err := Compile(c, someAgents, extra...)
		if err != nil {
			rt.Fatal(err)
		}
		q := drawRequest(rt)
		q.Principal.Tenant = rapid.SampledFrom([]string{"", "t", "u"}).Draw(rt, "tenant")
		task := &Task{
			Owner: rapid.SampledFrom([]string{"a", "b", "ss"}).Draw(rt, "owner"), Issuer: rapid.SampledFrom([]string{"i", "j"}).Draw(rt, "of"),
			Tenant: rapid.SampledFrom([]string{"", "t"}).Draw(rt, "in"), Skill: rapid.SampledFrom([]string{"", "s", "t"}).Draw(rt, "for"),
		}
		want := ""
		if i := slices.IndexFunc(c.Tasks.Sharing, func(sh Sharing) bool { return modelShares(sh, q, task) }); i >= 0 {
			want = c.Tasks.Sharing[i].Name
		}
		if got := s.Shares(q.Principal, q.Agent, q.Method, task); got != want || got != "" && !s.MayShare(q.Principal, q.Agent, q.Method) {
			rt.Fatalf("Shares: %q, want %q", got, want)
		}
	})
}

func modelShares(sh Sharing, q Request, task *Task) bool {
	anyOf := func(list []string, s string) bool {
		return list == nil || slices.ContainsFunc(list, func(p string) bool { return reference(p, s) && s != "" })
	}
	group := sh.Groups == nil || slices.ContainsFunc(q.Principal.Groups, func(g string) bool { return slices.Contains(sh.Groups, g) })
	if sh.Methods == nil {
		sh.Methods = []string{"GetTask", "ListTasks", "SubscribeToTask"}
	}
	return group && slices.Contains(sh.Methods, q.Method.Name) && anyOf(sh.Agents, q.Agent) &&
		anyOf(sh.Owners, task.Owner) && anyOf(sh.OwnerIssuers, task.Issuer) && anyOf(sh.OwnerTenants, task.Tenant) &&
		anyOf(sh.Skills, task.Skill) && anyOf(sh.Subjects, q.Principal.Subject) &&
		anyOf(sh.Issuers, q.Principal.Issuer) && anyOf(sh.Tenants, q.Principal.Tenant)
}
