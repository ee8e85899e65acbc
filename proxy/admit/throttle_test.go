package admit_test

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

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
	"github.com/a2a-gateway/a2a-gateway/telemetry/anomaly"
)

// throttling refuses calls for an hour when there have been a few.
func throttling(threshold int) anomaly.Detector {
	return anomaly.Detector{
		Reported: anomaly.Reported{Action: "throttle", Threshold: threshold, Window: quantity.Duration(time.Hour)},
		Throttle: quantity.Duration(time.Hour),
	}
}

// heldBack fails the test unless a call was refused for what its caller did before, in
// words that do not say what that was.
func heldBack(t *testing.T, what string, got proxytest.Reply) {
	t.Helper()
	got.Refused(t, what, wire.RateLimited)
	proxytest.WantHeader(t, what, got, "Retry-After", `^3(600|5\d\d)$`)
	if got.Err == nil || got.Err.Message != "rate limited" || strings.Contains(got.Body, "probing") {
		t.Errorf("%s: %+v %s", what, got.Err, got.Body)
	}
}

// TestA04_HeldBackOnEverySide: who has tried ids of tasks is answered alike for its own, for
// somebody else's and for one that is not there, by every operation that names a task, in
// any version and binding. The gateway asks its store for none, the agent hears of nothing,
// and others go on.
func TestA04_HeldBackOnEverySide(t *testing.T) {
	t.Parallel()
	var store *proxytest.CountingStore
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) {
		store = &proxytest.CountingStore{Ledger: s.Store}
		s.Store, s.Anomalies = store, &anomaly.Config{Probing: throttling(3)}
		s.Bound = map[string]string{"tied": "rec", "thief": "rec"}
		s.Policy.Rules[0].Subjects = append(s.Policy.Rules[0].Subjects, "thief")
	})
	w.Given("tied", w.Base, w.Agent, "somebody-s", "", "")
	w.Given("thief", w.Base, w.Agent, "his-own---", "", "")
	for i, method := range []string{wire.GetTask, wire.CancelTask, wire.SendMessage} {
		tried := w.Speak("thief", w.Base, proxytest.RPC10, proxytest.Ask{Method: method, Task: fmt.Sprint("try-", i)})
		tried.Refused(t, "a try", wire.TaskNotFound)
	}
	proxytest.Eventually(t, "the third try is seen", func() bool { // a record may follow its answer by a moment
		got := w.Speak("thief", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.GetTask, Task: "try-2"})
		return got.Err != nil && got.Err.Kind == wire.RateLimited
	})
	ids, checked := store.IDs.Load(), 0
	for _, m := range wire.Methods() {
		if m.Subject == wire.OfCaller || m.Subject == wire.OfAgent {
			continue // they name no task
		}
		for _, side := range proxytest.Sides {
			if side.Version == wire.V03 && m.V03 == "" || side.Version == wire.V01 && (m.V01 == "" || m.Subject == wire.OfMessage) ||
				m.Subject == wire.OfConfig && (side.Binding == wire.HTTPJSON || side == proxytest.GRPC03) {
				continue
			}
			for _, id := range []string{"his-own---", "somebody-s", "nobody-s--"} {
				a := proxytest.Ask{Method: m.Name, Task: id}
				if m.Subject == wire.OfConfig {
					a.More = fmt.Sprintf(`,"taskId":%q,"id":%[1]q`, id)
				}
				heldBack(t, fmt.Sprint(side, m.Name, id), w.Speak("thief", w.Base, side, a))
				checked++
			}
		}
	}
	refers := proxytest.Ask{Method: wire.SendMessage, InMessage: `,"referenceTaskIds":["somebody-s"]`}
	heldBack(t, "a reference", w.Speak("thief", w.Base, proxytest.RPC10, refers))
	w.Agent.Silent(t, "what is held back")
	if n := store.IDs.Load(); n != ids || checked < 50 {
		t.Errorf("%d ids were looked up for %d calls", n-ids, checked)
	}
	w.Speak("thief", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.SendMessage}).OK(t, "what names no task")
	w.Speak("tied", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.GetTask, Task: "somebody-s"}).OK(t, "somebody else")
	r := w.Audited("call")
	i := slices.IndexFunc(r, func(r map[string]any) bool { return proxytest.TextOf(r["reason"]) == wire.RateLimited.Reason })
	if proxytest.TextOf(r[i]["limit"]) != "telemetry.anomalies.probing" || proxytest.TextOf(r[i]["cause"]) != "throttled by telemetry.anomalies.probing" {
		t.Errorf("record %v", r[i])
	}
	if n := w.Measured("anomalies_throttled_total")[`detector="probing"`]; n == "" {
		t.Errorf("metrics %v", w.Measured("anomalies_throttled_total"))
	}
}

// TestA26_OpenTasksHeldBack: who leaves tasks open may open no more for a while, on any
// side, and may answer and cancel those.
func TestA26_OpenTasksHeldBack(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) {
		s.Anomalies = &anomaly.Config{OpenTasks: throttling(2)}
		s.Bound = map[string]string{"tied": "rec", "thief": "rec"}
		s.Policy.Rules[0].Subjects = append(s.Policy.Rules[0].Subjects, "thief")
	})
	w.Given("thief", w.Base, w.Agent, "first", "", "")
	w.Given("thief", w.Base, w.Agent, "second", "", "")
	proxytest.Eventually(t, "the second is seen", func() bool {
		got := w.Speak("thief", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.SendMessage})
		return got.Err != nil && got.Err.Kind == wire.RateLimited
	})
	w.Agent.Take()
	for _, side := range proxytest.Sides {
		a := proxytest.Ask{Method: wire.SendMessage}
		if side.Version == wire.V01 {
			a.Task = "named-by-me"
		}
		heldBack(t, side.String(), w.Speak("thief", w.Base, side, a))
	}
	w.Agent.Silent(t, "what is held back")
	w.Speak("tied", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.SendMessage}).OK(t, "somebody else")
	w.Speak("thief", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.SendMessage, Task: "first"}).OK(t, "an answer")
	w.Speak("thief", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.CancelTask, Task: "second"}).OK(t, "a cancellation")
}

// TestUnusualSkillHeldBack: who has only ever read may write once, and is refused then;
// what it always did it may do.
func TestUnusualSkillHeldBack(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) {
		skills := anomaly.Learned{Detector: throttling(1), Learning: quantity.Duration(24 * time.Hour)}
		s.Anomalies = &anomaly.Config{Skills: skills}
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
		proxytest.Must(t, s.Values.Put(t.Context(), "habits", hex.EncodeToString(key[:16]), data, 0))
	})
	w.Agent.Answers(proxytest.Fluent)
	use := func(who, skill string) proxytest.Reply {
		return w.Speak(who, w.Base+"/skills/"+skill, proxytest.RPC10, proxytest.Ask{Method: wire.SendMessage})
	}
	for range 3 {
		use("alice", "read").OK(t, "what is usual")
	}
	use("alice", "write%20it").OK(t, "what is unusual, once")
	proxytest.Eventually(t, "it is seen", func() bool {
		got := use("alice", "write%20it")
		return got.Err != nil && got.Err.Kind == wire.RateLimited
	})
	w.Agent.Take()
	heldBack(t, "what is unusual", use("alice", "write%20it"))
	w.Agent.Silent(t, "what is held back")
	use("alice", "read").OK(t, "what is usual, still")
	use("bob", "write%20it").OK(t, "somebody else")
}
