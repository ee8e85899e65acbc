package agents_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// naively answers with a task, in a stream with an update as well, whose times have no zone.
func naively(w http.ResponseWriter, r *proxytest.Request) {
	const naive, other = `"timestamp":"2026-11-27T02:26:04.5"`, `,"metadata":{"status":{"timestamp":"2026-11-27T02:26:04.5"}}`
	s := r.Side()
	task := strings.Replace(proxytest.TaskIn(s, "t", "c", "working", other), `"state":`, naive+`,"state":`, 1)
	update := proxytest.StatusIn(s, "t", "c", "completed", ","+naive)
	if s != proxytest.RPC03 && r.Called().Name != wire.GetTask {
		task = `{"task":` + task + `}`
	}
	if !r.Called().Streams {
		update = ""
	}
	r.Say(w, strings.Fields(task+" "+update)...)
}

// TestZonelessTimes: timestamps without a zone are in UTC for every caller of an agent that
// writes ProtoJSON, other content is as it was, and record and metric say so.
func TestZonelessTimes(t *testing.T) {
	t.Parallel()
	for _, agent := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.REST03} {
		for _, caller := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.GRPC10, proxytest.RPC03, proxytest.REST03, proxytest.GRPC03} {
			for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage, wire.GetTask} {
				t.Run(agent.String()+" for "+caller.String()+" "+method, func(t *testing.T) {
					t.Parallel()
					w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), proxytest.WithTied)
					task, calls := "", 1
					if method == wire.GetTask {
						task, calls = "t", 2
						w.SpeakTask("tied", "t", "c")
					}
					w.Agent.Answers(naively)
					got := w.Speak("tied", w.Base, caller, proxytest.Ask{Method: method, Task: task}).OK(t, "naive")
					if method != wire.SendMessage && len(got.Docs) == 0 {
						t.Errorf("nothing came: %s", got.Body)
					}
					for _, doc := range got.Docs {
						if !strings.Contains(doc, `"timestamp":"2026-11-27T02:26:04.500Z"`) && !strings.Contains(doc, `"timestamp":"2026-11-27T02:26:04.5Z"`) {
							t.Errorf("no time with a zone: %s", doc)
						}
						if strings.Contains(doc, "metadata") && !strings.Contains(doc, `"timestamp":"2026-11-27T02:26:04.5"`) {
							t.Errorf("metadata is another: %s", doc)
						}
					}
					wantQuirk(t, w, calls, "zoneless-times")
				})
			}
		}
	}
}

// wantQuirk wants that of the last of n calls the record has the quirk, and the metric one use of it.
func wantQuirk(t *testing.T, w *proxytest.Gateway, n int, q agents.Quirk) {
	t.Helper()
	record := w.RecordOf(n)
	if list, _ := record["quirks"].([]any); len(list) != 1 || list[0] != string(q) {
		t.Errorf("the record has the quirks %v", record["quirks"])
	}
	if n := w.Metric("quirks_total"); n != "1" {
		t.Errorf("the metric has %q uses", n)
	}
}

// TestZonelessTimesOff: where the quirk is not listed, and where every time has its zone,
// bytes pass as they came and nothing is noted.
func TestZonelessTimesOff(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		quirks []agents.Quirk
		time   string
	}{
		"off":         {[]agents.Quirk{}, `"2026-11-27T02:26:04.5"`},
		"with a zone": {nil, `"2026-11-27T02:26:04.5Z"`},
	} {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithTied, func(s *proxytest.Setup) { s.Agent.Quirks = tt.quirks })
		said := `{"task": {"id":"t","contextId":"c" ,"status":{"state":"TASK_STATE_COMPLETED","timestamp": ` + tt.time + `}}}`
		w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) { r.Say(rw, said) })
		got := w.Speak("tied", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.SendMessage}).OK(t, name)
		if !strings.Contains(got.Body, said) {
			t.Errorf("%s: %s", name, got.Body)
		}
		if record := w.RecordOf(1); record["quirks"] != nil || w.Metric("quirks_total") != "" {
			t.Errorf("%s: %v, and in the metric %q", name, record["quirks"], w.Metric("quirks_total"))
		}
	}
}

// TestQuirksOfTheConfiguration: a quirk that nobody knows, or one twice, is an error that
// names what there is.
func TestQuirksOfTheConfiguration(t *testing.T) {
	t.Parallel()
	for want, quirks := range map[string][]agents.Quirk{
		`quirks[1]: "clocks" is none of zoneless-times, mixed-objects, method-paths`: {"zoneless-times", "clocks"},
		`quirks[1]: "zoneless-times" is listed twice`:                                {"zoneless-times", "zoneless-times"},
	} {
		if err := (agents.Config{ID: "a", Quirks: quirks}).Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", quirks, err, want)
		}
	}
}
