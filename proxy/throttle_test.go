package proxy_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/telemetry/anomaly"
)

// watch looks for what the setup's anomalies say, nil for nothing.
func (w *world) watch(s *setup) *anomaly.Watch {
	w.Helper()
	if s.anomalies == nil {
		return nil
	}
	watch, err := anomaly.New(w.Context(), anomaly.Options{
		Config: *s.anomalies, Tell: func(anomaly.Event) {}, Values: s.values, Log: w.tel.Log,
	})
	must(w, err)
	w.Cleanup(watch.Close)
	return watch
}

// throttling refuses calls for an hour when there have been a few.
func throttling(threshold int) anomaly.Detector {
	return anomaly.Detector{
		Reported: anomaly.Reported{Action: "throttle", Threshold: threshold, Window: secret.Duration(time.Hour)},
		Throttle: secret.Duration(time.Hour),
	}
}

// heldBack fails the test unless a call was refused for what its caller did before, in
// words that do not say what that was.
func heldBack(t *testing.T, what string, got said) {
	t.Helper()
	got.refused(t, what, wire.RateLimited)
	headed(t, what, got, "Retry-After", `^3(600|5\d\d)$`)
	if got.err == nil || got.err.Message != "rate limited" || strings.Contains(got.body, "probing") {
		t.Errorf("%s: %+v %s", what, got.err, got.body)
	}
}

// TestA04_HeldBackOnEverySide: who has tried ids of tasks is answered alike for its own, for
// somebody else's and for one that is not there, by every operation that names a task, in
// any version and binding. The gateway asks its store for none, the agent hears of nothing,
// and others go on.
func TestA04_HeldBackOnEverySide(t *testing.T) {
	t.Parallel()
	var store *countingStore
	w := build(t, func(s *setup) {
		store = &countingStore{Ledger: s.store}
		s.store, s.anomalies = store, &anomaly.Config{Probing: throttling(3)}
		s.bound = map[string]string{"tied": "rec", "thief": "rec"}
		s.policy.Rules[0].Subjects = append(s.policy.Rules[0].Subjects, "thief")
	})
	w.given("tied", w.base, w.agent, "somebody-s", "", "")
	w.given("thief", w.base, w.agent, "his-own---", "", "")
	for i, method := range []string{wire.GetTask, wire.CancelTask, wire.SendMessage} {
		tried := w.speak("thief", w.base, rpc10, ask{method: method, task: fmt.Sprint("try-", i)})
		tried.refused(t, "a try", wire.TaskNotFound)
	}
	eventually(t, "the third try is seen", func() bool { // a record may follow its answer by a moment
		got := w.speak("thief", w.base, rpc10, ask{method: wire.GetTask, task: "try-2"})
		return got.err != nil && got.err.Kind == wire.RateLimited
	})
	ids, checked := store.ids.Load(), 0
	for _, m := range wire.Methods() {
		if m.Subject == wire.OfCaller || m.Subject == wire.OfAgent {
			continue // they name no task
		}
		for _, side := range sides {
			if side.Version == wire.V03 && m.V03 == "" || side.Version == wire.V01 && (m.V01 == "" || m.Subject == wire.OfMessage) ||
				m.Subject == wire.OfConfig && (side.Binding == wire.HTTPJSON || side == grpc03) {
				continue
			}
			for _, id := range []string{"his-own---", "somebody-s", "nobody-s--"} {
				a := ask{method: m.Name, task: id}
				if m.Subject == wire.OfConfig {
					a.more = fmt.Sprintf(`,"taskId":%q,"id":%[1]q`, id)
				}
				heldBack(t, fmt.Sprint(side, m.Name, id), w.speak("thief", w.base, side, a))
				checked++
			}
		}
	}
	refers := ask{method: wire.SendMessage, inMessage: `,"referenceTaskIds":["somebody-s"]`}
	heldBack(t, "a reference", w.speak("thief", w.base, rpc10, refers))
	w.agent.silent(t, "what is held back")
	if n := store.ids.Load(); n != ids || checked < 50 {
		t.Errorf("%d ids were looked up for %d calls", n-ids, checked)
	}
	w.speak("thief", w.base, rpc10, ask{method: wire.SendMessage}).ok(t, "what names no task")
	w.speak("tied", w.base, rpc10, ask{method: wire.GetTask, task: "somebody-s"}).ok(t, "somebody else")
	r := w.audited("call")
	i := slices.IndexFunc(r, func(r map[string]any) bool { return text(r["reason"]) == wire.RateLimited.Reason })
	if text(r[i]["limit"]) != "telemetry.anomalies.probing" || text(r[i]["cause"]) != "throttled by telemetry.anomalies.probing" {
		t.Errorf("record %v", r[i])
	}
	if n := w.measured("anomalies_throttled_total")[`detector="probing"`]; n == "" {
		t.Errorf("metrics %v", w.measured("anomalies_throttled_total"))
	}
}

// TestA26_OpenTasksHeldBack: who leaves tasks open may open no more for a while, on any
// side, and may answer and cancel those.
func TestA26_OpenTasksHeldBack(t *testing.T) {
	t.Parallel()
	w := build(t, func(s *setup) {
		s.anomalies = &anomaly.Config{OpenTasks: throttling(2)}
		s.bound = map[string]string{"tied": "rec", "thief": "rec"}
		s.policy.Rules[0].Subjects = append(s.policy.Rules[0].Subjects, "thief")
	})
	w.given("thief", w.base, w.agent, "first", "", "")
	w.given("thief", w.base, w.agent, "second", "", "")
	eventually(t, "the second is seen", func() bool {
		got := w.speak("thief", w.base, rpc10, ask{method: wire.SendMessage})
		return got.err != nil && got.err.Kind == wire.RateLimited
	})
	w.agent.take()
	for _, side := range sides {
		a := ask{method: wire.SendMessage}
		if side.Version == wire.V01 {
			a.task = "named-by-me"
		}
		heldBack(t, side.String(), w.speak("thief", w.base, side, a))
	}
	w.agent.silent(t, "what is held back")
	w.speak("tied", w.base, rpc10, ask{method: wire.SendMessage}).ok(t, "somebody else")
	w.speak("thief", w.base, rpc10, ask{method: wire.SendMessage, task: "first"}).ok(t, "an answer")
	w.speak("thief", w.base, rpc10, ask{method: wire.CancelTask, task: "second"}).ok(t, "a cancellation")
}

// TestUnusualSkillHeldBack: who has only ever read may write once, and is refused then;
// what it always did it may do.
func TestUnusualSkillHeldBack(t *testing.T) {
	t.Parallel()
	w := build(t, func(s *setup) {
		skills := anomaly.Learned{Detector: throttling(1), Learning: secret.Duration(24 * time.Hour)}
		s.anomalies = &anomaly.Config{Skills: skills}
		// Alice has been known for a month, and read an hour ago.
		key := sha256.Sum256(slices.Concat(binary.BigEndian.AppendUint64(nil, uint64(len("api-keys"))), []byte("api-keysalice")))
		reads := fnv.New64a()
		_, _ = reads.Write([]byte("rec\xffread"))
		data, now := []byte{1}, time.Now()
		for _, at := range []time.Time{now.Add(-30 * 24 * time.Hour), now.Add(-time.Hour), {}} {
			data = binary.BigEndian.AppendUint64(data, uint64(max(at.Unix(), 0))) // not below 0
		}
		data = binary.BigEndian.AppendUint64(data, reads.Sum64())
		data = binary.BigEndian.AppendUint64(data, uint64(now.Add(-time.Hour).Unix())) // after 1970
		must(t, s.values.Put(t.Context(), "habits", hex.EncodeToString(key[:16]), data, 0))
	})
	w.agent.answers(fluent)
	use := func(who, skill string) said {
		return w.speak(who, w.base+"/skills/"+skill, rpc10, ask{method: wire.SendMessage})
	}
	for range 3 {
		use("alice", "read").ok(t, "what is usual")
	}
	use("alice", "write%20it").ok(t, "what is unusual, once")
	eventually(t, "it is seen", func() bool {
		got := use("alice", "write%20it")
		return got.err != nil && got.err.Kind == wire.RateLimited
	})
	w.agent.take()
	heldBack(t, "what is unusual", use("alice", "write%20it"))
	w.agent.silent(t, "what is held back")
	use("alice", "read").ok(t, "what is usual, still")
	use("bob", "write%20it").ok(t, "somebody else")
}
