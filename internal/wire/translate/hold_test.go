package translate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// spoken makes an event of a word: the kind, behind a colon the state, behind that "final", or
// what the status' message says.
func spoken(side wire.Side, word string) string {
	f := append(strings.Split(word, ":"), "", "")
	state, said, final := f[1], "", "false"
	switch f[2] {
	case "":
	case "final":
		final = "true"
	default:
		said = fmt.Sprintf(`,"message":{"kind":"message","role":"agent","messageId":%q,"parts":[]}`, f[2])
	}
	ids := `"taskId":"T","contextId":"C"`
	switch {
	case side.Version == wire.V01:
		ids = `"id":"T"`
	case side == http03 && state != "":
		state = "TASK_STATE_" + strings.ToUpper(strings.ReplaceAll(state, "-", "_"))
	}
	status := fmt.Sprintf(`"status":{"state":%q%s}`, state, said)
	event, name := "", ""
	switch f[0] {
	case "task":
		name, event = "task", `{"kind":"task","id":"T","contextId":"C",`+status+`,"artifacts":[{"artifactId":"t","parts":[]}]}`
	case "status":
		name, event = "statusUpdate", `{"kind":"status-update",`+ids+`,`+status+`,"final":`+final+`}`
	case "artifact":
		name, event = "artifactUpdate", `{"kind":"artifact-update",`+ids+`,"artifact":{"artifactId":"a","parts":[]}}`
	case "message":
		name, event = "message", `{"kind":"message","role":"agent","messageId":"m","taskId":"T","contextId":"C","parts":[]}`
	}
	if side == http03 {
		return fmt.Sprintf(`{%q:%s}`, name, event)
	}
	return event
}

// heard makes a word of what the caller gets.
func heard(t *testing.T, event string) string {
	t.Helper()
	type status struct {
		State   string `json:"state"`
		Message *struct {
			MessageID string `json:"messageId"`
		} `json:"message"`
	}
	type thing struct {
		Kind     string         `json:"kind"`
		Status   *status        `json:"status"`
		Artifact map[string]any `json:"artifact"`
		Role     string         `json:"role"`
		Final    bool           `json:"final"`
		Task     *thing         `json:"task"`
		Said     *thing         `json:"message"`
		Update   *thing         `json:"statusUpdate"`
		Chunk    *thing         `json:"artifactUpdate"`
		TaskID   string         `json:"taskId"`
		ID       string         `json:"id"`
	}
	var o thing
	if err := json.Unmarshal([]byte(event), &o); err != nil {
		t.Fatalf("%s: %v", event, err)
	}
	for _, inner := range []*thing{o.Task, o.Said, o.Update, o.Chunk} {
		if inner != nil {
			whole := o
			o = *inner
			o.Task = whole.Task
		}
	}
	word := "status"
	switch {
	case o.Role != "":
		return "message"
	case o.Artifact != nil:
		return "artifact"
	case o.Kind == "task" || o.Task != nil:
		word = "task"
	}
	if o.ID != "T" && o.TaskID != "T" {
		t.Errorf("of which task? %s", event)
	}
	word += ":" + strings.ToLower(strings.TrimPrefix(o.Status.State, "TASK_STATE_"))
	if o.Final {
		word += ":final"
	}
	if m := o.Status.Message; m != nil {
		word += ":" + m.MessageID
	}
	return word
}

// TestHold: what would have a client stop reading waits until it is known whether the
// stream goes on, and nothing that an agent says is lost by it.
func TestHold(t *testing.T) {
	t.Parallel()
	type sides struct{ from, to wire.Side }
	to10 := []sides{{rpc03, rpc10}, {rpc03, http10}, {http03, rpc10}}
	for _, test := range []struct {
		name     string
		of       []sides
		in, want string
	}{
		{"an artifact behind the state", to10, "task:working status:completed artifact status:completed:final",
			"task:working artifact status:completed"},
		{"and nothing more", to10, "task:working status:completed artifact", "task:working artifact status:completed"},
		{"the agent just closes", to10, "task:working status:failed", "task:working status:failed"},
		{"in order", to10, "task:submitted status:working artifact status:completed:final", "task:submitted status:working artifact status:completed"},
		{"another end", to10, "task:working status:completed artifact status:failed:final", "task:working artifact status:failed"},
		{"what it says is not lost", to10, "task:working status:completed:words artifact status:completed:final",
			"task:working artifact status:working:words status:completed"},
		{"but not said twice", to10, "task:working status:completed:words status:completed:words", "task:working status:completed:words"},
		{"two that are not final", to10, "task:working status:completed:a status:failed:b artifact", "task:working status:working:a artifact status:failed:b"},
		{"it goes on", to10, "task:working status:completed status:working artifact status:completed:final", "task:working status:working artifact status:completed"},
		{"no task first", to10, "status:completed artifact", "task:submitted artifact status:completed"},
		{"a task that has ended", to10, "task:completed", "task:completed"},
		{"a task that has ended, too early", to10, "task:completed artifact", "task:working artifact status:completed"},
		{"and its message", to10, "task:completed:words artifact status:completed:final", "task:working:words artifact status:completed"},
		{"a task that has ended, in between", to10, "task:working artifact task:completed artifact status:completed:final",
			"task:working artifact task:working artifact status:completed"},
		{"two tasks that have ended", to10, "task:completed task:completed", "task:working task:completed"},
		{"messages in between", to10, "task:working message status:completed message artifact", "task:working message message artifact status:completed"},
		{"a message first", to10, "message task:working artifact status:completed:final", "message task:working artifact status:completed"},
		{"a message before an update", to10, "message status:working", "message task:working status:working"},
		{"the user's turn", to10, "task:working status:input-required", "task:working status:input_required"},

		{"0.1 to 1.0", []sides{{rpc01, rpc10}}, "status:completed artifact status:completed:final", "task:submitted artifact status:completed"},
		{"0.1 to 0.3 tells all", []sides{{rpc01, rpc03}}, "status:completed artifact status:completed:final", "status:completed artifact status:completed:final"},

		{"0.3 to 0.1", []sides{{rpc03, rpc01}}, "task:working status:completed artifact status:completed:final",
			"status:working artifact status:completed artifact status:completed:final"},
		{"0.3 to 0.1 without final", []sides{{rpc03, rpc01}}, "status:completed", "status:completed:final"},
		{"0.3 to 0.1 without final, and more", []sides{{rpc03, rpc01}, {http03, rpc03}}, "status:completed artifact", "status:completed artifact status:completed:final"},
		{"a task to 0.1", []sides{{rpc03, rpc01}}, "task:completed", "artifact status:completed:final"},
		{"a task to 0.1, too early", []sides{{rpc03, rpc01}}, "task:completed artifact status:completed:final", "artifact status:completed artifact status:completed:final"},
		{"a task to 0.1, too early and no word more", []sides{{rpc03, rpc01}}, "task:completed artifact", "artifact status:completed artifact status:completed:final"},
		{"a message to 0.1", []sides{{rpc03, rpc01}}, "message", "status:completed:final:"},
		{"a message among updates to 0.1", []sides{{rpc03, rpc01}}, "message status:working message artifact", "status:working: status:working status:working: artifact"},
		{"ProtoJSON to 0.3", []sides{{http03, rpc03}}, "task:working status:completed artifact status:completed:final", "task:working status:completed artifact status:completed:final"},
		{"0.3 as it is", []sides{{rpc03, http03}}, "task:completed artifact status:completed:final", "task:completed artifact status:completed:final"},
	} {
		for _, of := range test.of {
			r := Retelling{From: of.from, Holds: true, Call: callOf(of.to, wire.SendStreamingMessage, wire.Call{TaskID: "T", ContextID: "C"})}
			var in []string
			for _, word := range strings.Fields(test.in) {
				in = append(in, spoken(of.from, word))
			}
			got := retellStream(t, &r, in)
			for range 2 { // of which the second has nothing to say
				if err := r.End(func(event []byte) error { got = append(got, resultOf(t, &r, event)); return nil }); err != nil {
					t.Fatal(err)
				}
			}
			words := make([]string, len(got))
			for i, event := range got {
				words[i] = heard(t, event)
			}
			if !slices.Equal(words, strings.Fields(test.want)) {
				t.Errorf("%s, %v to %v:\ngot  %s\nwant %s\n%s", test.name, of.from, of.to, strings.Join(words, " "), test.want, strings.Join(got, "\n"))
			}
		}
	}
}

// TestTold: a client that has been shown the task is not shown it again, but told as updates what it holds. The
// state comes behind the artifacts, and waits like any other.
func TestTold(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		from, to wire.Side
		in, want string
	}{
		{rpc03, rpc03, "task:working status:completed:final", "artifact status:working status:completed:final"},
		{rpc03, rpc03, "task:completed", "artifact status:completed:final"},
		{rpc03, rpc03, "task:input-required", "artifact status:input-required:final"},
		{rpc03, rpc03, "task:auth-required:words", "artifact status:auth-required:words"},
		{http03, http03, "task:completed", "artifact status:completed:final"},
		{rpc03, http03, "task:working task:completed", "artifact status:working artifact status:completed:final"},
		{http03, rpc03, "task:completed", "artifact status:completed:final"},
		{rpc03, rpc10, "task:working artifact status:completed:final", "artifact status:working artifact status:completed"},
		{rpc03, rpc10, "task:completed artifact", "artifact artifact status:completed"},
		{rpc03, rpc10, "status:working", "status:working"},
		{rpc01, rpc10, "status:completed artifact status:completed:final", "artifact status:completed"},
		{rpc03, rpc01, "task:completed", "artifact status:completed:final"},
		{rpc03, rpc10, "message", "message"},
	} {
		r := Retelling{From: test.from, Holds: true, Told: true, Call: callOf(test.to, wire.SendStreamingMessage, wire.Call{TaskID: "T", ContextID: "C"})}
		var in, words []string
		for _, word := range strings.Fields(test.in) {
			in = append(in, spoken(test.from, word))
		}
		got := retellStream(t, &r, in)
		if err := r.End(func(event []byte) error { got = append(got, resultOf(t, &r, event)); return nil }); err != nil {
			t.Fatal(err)
		}
		for _, event := range got {
			words = append(words, heard(t, event))
		}
		if strings.Join(words, " ") != test.want {
			t.Errorf("%s, %v to %v: %s, want %s\n%s", test.in, test.from, test.to, words, test.want, strings.Join(got, "\n"))
		}
	}
}

// TestRecall: a stream that is gone on with behind an early end still comes to it.
func TestRecall(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ before, behind, want string }{
		{"status:completed", "artifact", "task:submitted artifact status:completed"},
		{"status:completed", "", "task:submitted status:completed"},
		{"status:completed", "status:completed:final", "task:submitted status:completed"},
		{"task:completed", "artifact", "task:submitted artifact status:completed"},
		{"status:working", "", ""},
		{"message", "", ""},
	} {
		r := Retelling{From: rpc03, Holds: true, Call: callOf(rpc10, wire.SendStreamingMessage, wire.Call{TaskID: "T"})}
		r.Recall(envelopeFor(t, &r, spoken(rpc03, test.before)))
		var in []string
		if test.behind != "" {
			in = append(in, spoken(rpc03, test.behind))
		}
		got := retellStream(t, &r, in)
		if err := r.End(func(event []byte) error { got = append(got, resultOf(t, &r, event)); return nil }); err != nil {
			t.Fatal(err)
		}
		words := make([]string, len(got))
		for i, event := range got {
			words[i] = heard(t, event)
		}
		if strings.Join(words, " ") != test.want {
			t.Errorf("%s, then %s: %s, want %s", test.before, test.behind, words, test.want)
		}
	}
}
