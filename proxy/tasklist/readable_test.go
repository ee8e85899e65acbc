package tasklist_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

const writeIt = "write it"

// readers are rules by which bob may read tasks of the skill read and not those of writeIt,
// all of which are somebody else's, or bob's own.
var readers = map[string][]policy.Rule{
	"no rule for the skill": {
		{Name: "bob", Effect: "allow", Subjects: []string{"bob"}, Skills: []string{"read"}},
		{Name: "rest", Effect: "allow", Subjects: []string{"alice"}},
	},
	"a deny rule for it": {
		{Name: "all", Effect: "allow"},
		{Name: "not-bob", Effect: "deny", Subjects: []string{"bob"}, Skills: []string{writeIt}},
	},
	"a deny rule for reading it": {
		{Name: "all", Effect: "allow"},
		{Name: "not-bob", Effect: "deny", Subjects: []string{"bob"}, Skills: []string{writeIt}, Methods: []string{"GetTask"}},
	},
	"an expression over tasks": {
		{Name: "all", Effect: "allow"},
		{Name: "not-bob", Effect: "deny", Subjects: []string{"bob"}, Methods: []string{"GetTask"}, Expr: `task.skill == "write it"`},
	},
	"a rule for reading some": {
		{Name: "all", Effect: "allow", Methods: []string{"ListTasks", "SendMessage"}},
		{Name: "some", Effect: "allow", Methods: []string{"GetTask"}, Skills: []string{"read"}},
		{Name: "none", Effect: "deny", Methods: []string{"SendMessage"}, Skills: []string{writeIt}, Subjects: []string{"bob"}},
	},
}

// mixed builds a world of an agent with so many tasks of owner's of either skill in turn.
func mixed(t *testing.T, of wire.Side, scope, owner string, rules []policy.Rule, each int) (*proxytest.Gateway, *library) {
	t.Helper()
	lib := &library{}
	var store state.Ledger
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(of), func(s *proxytest.Setup) {
		store = s.Store
		s.Policy.Tasks.Scope, s.Policy.Rules = scope, rules
	})
	w.Agent.Answers(lib.ServeAgent)
	l := ledger.New(store, ledger.Config{Scope: scope})
	for i := range 2 * each {
		skill := []string{"read", writeIt}[i%2]
		b := book{fmt.Sprintf("%s-%d", skill[:1], i), fmt.Sprintf("c%s-%d", skill[:1], i), "TASK_STATE_COMPLETED"}
		lib.books = append(lib.books, b)
		_, err := l.Learn(t.Context(), &authn.Principal{Subject: owner, Issuer: "api-keys"},
			ledger.Origin{Agent: "rec", Skill: skill, Version: "1.0"},
			wire.Answer{Kind: "task", Tasks: []wire.TaskRef{{ID: b.id, ContextID: b.context}}, ContextID: b.context})
		proxytest.Must(w, err)
	}
	return w, lib
}

func (l *library) beginning(prefix string) (ids []string) {
	for _, b := range l.books {
		if strings.HasPrefix(b.id, prefix) {
			ids = append(ids, b.id)
		}
	}
	return ids
}

// A2: a list shows of each task what GetTask would, so it shows those that the caller may
// read: over every binding, from shared tasks and from the caller's own, in entries and in
// figures.
func TestA02_ListsPassTheRulesOfReads(t *testing.T) {
	t.Parallel()
	for name, rules := range readers {
		for _, agent := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.GRPC10} {
			for scope, owner := range map[string]string{"agent": "alice", "principal": "bob"} {
				t.Run(name+" "+agent.String()+" "+scope, func(t *testing.T) {
					t.Parallel()
					w, lib := mixed(t, agent, scope, owner, rules, 12)
					for _, caller := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.GRPC10} {
						for _, size := range []int{5, 50} {
							ids, _ := walk(w, "bob", caller, nil, size, 12)
							if want := lib.beginning("r"); !slices.Equal(ids, want) {
								t.Errorf("%s, pages of %d: %v, want %v", caller, size, ids, want)
							}
						}
					}
				})
			}
		}
	}
}

// Who may read everything is shown everything, and on the URL of a skill what is of that.
func TestListOfSkill(t *testing.T) {
	t.Parallel()
	w, lib := mixed(t, proxytest.RPC10, "agent", "alice", []policy.Rule{{Name: "all", Effect: "allow"}}, 3)
	if ids, _ := walk(w, "bob", proxytest.RPC10, nil, 4, 6); len(ids) != 6 {
		t.Errorf("%v", ids)
	}
	w.Base += "/skills/read"
	if ids, _ := walk(w, "bob", proxytest.RPC10, nil, 4, 3); !slices.Equal(ids, lib.beginning("r")) {
		t.Errorf("of a skill: %v", ids)
	}
}

// A2: the same where the gateway makes the list.
func TestA02_OwnListsPassTheRulesOfReads(t *testing.T) {
	t.Parallel()
	for name, rules := range readers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &shelf{tasks: map[string]string{}, where: map[string]string{}}
			w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC03), func(s *proxytest.Setup) { s.Policy.Tasks.Scope, s.Policy.Rules = "agent", rules })
			w.Agent.Answers(s.answer)
			root := w.Base
			for i, skill := range []string{"read", "write%20it", "read", "write%20it"} {
				w.Base = root + "/skills/" + skill
				s.make(w, "alice", fmt.Sprintf("%s-%d", skill[:1], i), fmt.Sprint("c", i), `,"status":{"state":"completed"}`)
			}
			w.Base = root
			page, got := list(w, "bob", proxytest.RPC10, nil)
			got.OK(t, "list")
			if page.ids() != "r-2 r-0" && page.ids() != "r-0 r-2" || page.Total != 2 {
				t.Errorf("%s: %q, %d in all", name, page.ids(), page.Total)
			}
		})
	}
}

// A1: a message that refers to a task, or is in the context of one, that the caller may not
// read does not reach the agent. What GetTask would be refused with it is refused with.
func TestA01_NamedTasksPassTheRulesOfReads(t *testing.T) {
	t.Parallel()
	for name, rules := range readers {
		for scope, owner := range map[string]string{"agent": "alice", "principal": "bob"} {
			t.Run(name+" "+scope, func(t *testing.T) {
				t.Parallel()
				w, _ := mixed(t, proxytest.RPC10, scope, owner, rules, 2)
				w.Agent.Answers(proxytest.Agreeable)
				w.Base += "/skills/read"
				for members, reaches := range map[string]bool{
					`"referenceTaskIds":["r-0"]`:                    true,
					`"referenceTaskIds":["r-2","w-1"]`:              false,
					`"contextId":"cr-0"`:                            true,
					`"contextId":"cw-1"`:                            false,
					`"contextId":"cr-0","referenceTaskIds":["w-3"]`: false,
				} {
					got := w.Call("bob", "SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}],`+members+`}}`)
					if seen := len(w.Agent.Take()); (seen == 1) != reaches {
						t.Errorf("%s: reached the agent %d times; %d %s", members, seen, got.Status, got.Body)
					}
					if !reaches && got.Status != http.StatusForbidden {
						t.Errorf("%s: %d %s", members, got.Status, got.Body)
					}
				}
			})
		}
	}
}

// A3: a context that began with one skill and went on with another holds what was said for
// both.
func TestA03_ContextOfSeveralSkills(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), func(s *proxytest.Setup) {
		s.Policy.Tasks.Scope, s.Policy.Rules = "agent", readers["no rule for the skill"]
	})
	root := w.Base
	say := func(who, skill, members string) proxytest.Response {
		w.Base = root + "/skills/" + skill
		return w.Call(who, "SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]`+members+`}}`)
	}
	_, context := proxytest.MadeTask(t, say("alice", "read", ""))
	in := fmt.Sprintf(`,"contextId":%q`, context)
	if got := say("bob", "read", in); got.Status != http.StatusOK {
		t.Fatalf("while it is of one skill: %d %s", got.Status, got.Body)
	}
	if got := say("alice", "write%20it", in); got.Status != http.StatusOK {
		t.Fatalf("the other skill: %d %s", got.Status, got.Body)
	}
	w.Agent.Take()
	if got := say("bob", "read", in); got.Status != http.StatusForbidden {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	w.Agent.Silent(t, "a context of both skills")
	if got := say("alice", "read", in); got.Status != http.StatusOK {
		t.Errorf("who may read both: %d %s", got.Status, got.Body)
	}
}

// Who may hand in work and read nothing goes on with its own conversations.
func TestWhoOnlySendsNamesItsOwn(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), func(s *proxytest.Setup) {
		s.Policy.Rules = []policy.Rule{{Name: "hand in", Effect: "allow", Methods: []string{"SendMessage"}}}
	})
	say := func(members string) proxytest.Response {
		return w.Call("bob", "SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]`+members+`}}`)
	}
	task, context := proxytest.MadeTask(t, say(""))
	for _, members := range []string{
		fmt.Sprintf(`,"contextId":%q`, context),
		fmt.Sprintf(`,"referenceTaskIds":[%q]`, task),
	} {
		if got := say(members); got.Status != http.StatusOK || strings.Contains(got.Body, `"error"`) {
			t.Errorf("%s: %d %s", members, got.Status, got.Body)
		}
	}
}

// A3: of a call that named no skill the agent may remember what is of any, so a context that
// it was made in is for those who may read all.
func TestA03_ContextOfUnknownSkill(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), func(s *proxytest.Setup) {
		s.Policy.Tasks.Scope, s.Policy.Rules = "agent", readers["no rule for the skill"]
	})
	root := w.Base
	say := func(who, where, members string) proxytest.Response {
		w.Base = root + where
		return w.Call(who, "SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]`+members+`}}`)
	}
	_, context := proxytest.MadeTask(t, say("alice", "/skills/read", ""))
	in := fmt.Sprintf(`,"contextId":%q`, context)
	if got := say("bob", "/skills/read", in); got.Status != http.StatusOK {
		t.Fatalf("while it is of one skill: %d %s", got.Status, got.Body)
	}
	if got := say("alice", "", in); got.Status != http.StatusOK {
		t.Fatalf("no skill: %d %s", got.Status, got.Body)
	}
	w.Agent.Take()
	if got := say("bob", "/skills/read", in); got.Status != http.StatusForbidden {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	w.Agent.Silent(t, "a context that is of no known skill too")
	if got := say("alice", "/skills/read", in); got.Status != http.StatusOK {
		t.Errorf("who may read all: %d %s", got.Status, got.Body)
	}
}
