package approval

import (
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// TestWords: what a rule asks for is said in words, defaults among it.
func TestWords(t *testing.T) {
	t.Parallel()
	for want, k := range map[string]Keys{
		"one of the group leads, within 4h (rule r)":                {Approvers: &Approvers{Groups: []string{"leads"}}},
		"2 of ops-* or cfo in the group a or b, within 1h (rule r)": {Approvers: &Approvers{Subjects: []string{"ops-*", "cfo"}, Groups: []string{"a", "b"}, Count: 2}, Within: quantity.Duration(time.Hour)},
		"one of cfo, within 4h (rule r); counts for 30m for later calls of the same caller, agent, skill": {
			Approvers: &Approvers{Subjects: []string{"cfo"}}, Remember: &Remember{For: quantity.Duration(30 * time.Minute)}},
		"the agent risk, within 4h (rule r); advice of the agents a or b":    {Approvers: &Approvers{Agents: []string{"risk"}}, Advisers: []string{"a", "b"}},
		"2 of the group leads or the agents risk or law, within 4h (rule r)": {Approvers: &Approvers{Groups: []string{"leads"}, Agents: []string{"risk", "law"}, Count: 2}},
	} {
		r, problems := New("r", "d", k)
		if problems != nil || r.String() != want {
			t.Errorf("%v, %v, want %s", r, problems, want)
		}
	}
}

// TestRefusesAgents: an agent decides where a rule names it, and never about a call to itself; nobody who only
// goes by its name does.
func TestRefusesAgents(t *testing.T) {
	t.Parallel()
	self := false
	alone, _ := New("r", "d", Keys{Approvers: &Approvers{Agents: []string{"risk"}}})
	beside, _ := New("r", "d", Keys{Approvers: &Approvers{Agents: []string{"risk"}, Subjects: []string{"*"}, NotSelf: &self}, Advisers: []string{"law"}})
	for i, tt := range []struct {
		r    *Rule
		who  Approver
		want string
	}{
		{alone, Approver{Agent: "risk"}, ""},
		{alone, Approver{Agent: "risk", Kin: Kin{Caller: true}}, "nobody decides about a call of their own (approvers.notSelf)"},
		{alone, Approver{Agent: "risk", Kin: Kin{Target: true}}, "no agent decides about a call to itself"},
		{alone, Approver{Agent: "law"}, "the agent is none of approvers.agents"},
		{alone, Approver{Subject: "agent:risk"}, "only agents decide about calls that this rule holds back"},
		{alone, Approver{Subject: "risk"}, "only agents decide about calls that this rule holds back"},
		{beside, Approver{Agent: "risk", Kin: Kin{Caller: true}}, ""},
		{beside, Approver{Agent: "risk", Kin: Kin{Target: true}}, "no agent decides about a call to itself"},
		{beside, Approver{Agent: "law"}, "the agent is none of approvers.agents"},
		{beside, Approver{Subject: "anna"}, ""},
	} {
		if got := tt.r.Refuses(tt.who, nil); got != tt.want {
			t.Errorf("%d: %q, want %q", i, got, tt.want)
		}
	}
}

// TestCallsValidate: what cannot work names its key, and no URL.
func TestCallsValidate(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]Calls{
		"wait: 11m is not between 1ms and 10m":                      {Wait: quantity.Duration(11 * time.Minute)},
		"perCaller: -1 is not between 1 and 100000":                 {PerCaller: -1},
		"message: 5MiB is not between 1B and 4MiB":                  {Message: 5 << 20},
		"keep: 1s is not between 1m and 90d":                        {Keep: quantity.Duration(time.Second)},
		"notify[0].url: must be a URL of http or https with a host": {Notify: []Notify{{}}},
	} {
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := (Calls{}).Validate(); err != nil {
		t.Error(err)
	}
}
