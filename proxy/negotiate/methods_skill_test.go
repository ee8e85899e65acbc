package negotiate_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// TestMethodsOnTasksOfOtherSkills: an extension's method that needs a skill can be called
// on a task that was made for another, by who may use both.
func TestMethodsOnTasksOfOtherSkills(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayWithMethods(t, jsonSides, func(s *proxytest.Setup) {
		s.Policy.Rules = []policy.Rule{
			{Name: "both", Effect: "allow", Subjects: []string{"alice"}, Skills: []string{"read", "write it"}},
			{Name: "one", Effect: "allow", Subjects: []string{"bob"}, Skills: []string{"read"}},
			{Name: "other", Effect: "allow", Subjects: []string{"mallory"}, Skills: []string{"read"}, Methods: []string{"SendMessage"}},
			{Name: "writes", Effect: "allow", Subjects: []string{"mallory"}, Skills: []string{"write it"}},
		}
	})
	for _, who := range []string{"alice", "bob", "mallory"} {
		w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
			proxytest.Respond(rw, r, proxytest.TaskResult(r, "task-"+who, ""))
		})
		got := w.Do(who, "POST", w.Base+"/skills/read", proxytest.RPCBody("SendMessage", proxytest.Message("")), "A2A-Version: 1.0")
		proxytest.WantStatus(t, who, got, http.StatusOK)
	}
	w.Agent.Answers(proxytest.AnswerMethods(nil))
	for _, s := range jsonSides {
		for who, want := range map[string]*wire.Kind{
			"alice": nil, // both
			"bob":   wire.Denied,
			// The method's skill, but on the task's only the send that made it.
			"mallory": wire.Denied,
		} {
			w.Agent.Take()
			params := `{"noteOf":"task-` + who + `"}`
			got := invoke(w, who, w.Base, s, "notes/add", params, "task-"+who, proxytest.AskEveryURI)
			what := s.String() + ": " + who
			if want == nil {
				proxytest.WantStatus(t, what, got, http.StatusOK)
				w.Agent.One(t)
				continue
			}
			w.Agent.Silent(t, what)
			if !strings.Contains(got.Body, want.Reason) && !strings.Contains(got.Body, fmt.Sprint(want.Code)) {
				t.Errorf("%s: %d %s", what, got.Status, got.Body)
			}
		}
	}
}
