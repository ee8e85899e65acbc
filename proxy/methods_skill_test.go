package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
)

// TestMethodsOnTasksOfOtherSkills: an extension's method that needs a skill can be called
// on a task that was made for another, by who may use both.
func TestMethodsOnTasksOfOtherSkills(t *testing.T) {
	t.Parallel()
	w := brings(t, jsonSides, func(s *setup) {
		s.policy.Rules = []policy.Rule{
			{Name: "both", Effect: "allow", Subjects: []string{"alice"}, Skills: []string{"read", "write it"}},
			{Name: "one", Effect: "allow", Subjects: []string{"bob"}, Skills: []string{"read"}},
			{Name: "other", Effect: "allow", Subjects: []string{"mallory"}, Skills: []string{"read"}, Methods: []string{"SendMessage"}},
			{Name: "writes", Effect: "allow", Subjects: []string{"mallory"}, Skills: []string{"write it"}},
		}
	})
	for _, who := range []string{"alice", "bob", "mallory"} {
		w.agent.answers(func(rw http.ResponseWriter, r *record) { reply(rw, r, taskResult(r, "task-"+who, "")) })
		got := w.do(who, "POST", w.base+"/skills/read", rpcBody("SendMessage", message("")), "A2A-Version: 1.0")
		wantStatus(t, who, got, http.StatusOK)
	}
	w.agent.answers(bring(nil))
	for _, s := range jsonSides {
		for who, want := range map[string]*wire.Kind{
			"alice": nil, // both
			"bob":   wire.Denied,
			// The method's skill, but on the task's only the send that made it.
			"mallory": wire.Denied,
		} {
			w.agent.take()
			params := `{"noteOf":"task-` + who + `"}`
			got := w.invoke(who, w.base, s, "notes/add", params, "task-"+who, everyURI)
			what := s.String() + ": " + who
			if want == nil {
				wantStatus(t, what, got, http.StatusOK)
				w.agent.one(t)
				continue
			}
			w.agent.silent(t, what)
			if !strings.Contains(got.body, want.Reason) && !strings.Contains(got.body, fmt.Sprint(want.Code)) {
				t.Errorf("%s: %d %s", what, got.status, got.body)
			}
		}
	}
}
