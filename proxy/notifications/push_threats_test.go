package notifications_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// hooked is a world where alice has a task and a webhook for it.
func hooked(t *testing.T, edit ...func(*proxytest.Setup)) (w *proxytest.Gateway, task string, g proxytest.Given) {
	t.Helper()
	w = proxytest.NewGateway(t, append([]func(*proxytest.Setup){proxytest.WithRelay}, edit...)...)
	task = w.NewTask("alice")
	w.Agent.Answers(proxytest.KeepConfigs)
	g, _ = w.Webhook(proxytest.WebhookCalls["1.0 create"], task)
	return w, task, g
}

func atWork(task string) string {
	return `{"statusUpdate":{"taskId":"` + task + `","contextId":"` + strings.Replace(task, "task", "context", 1) +
		`","status":{"state":"TASK_STATE_WORKING"}}}`
}

// turnedAway makes sure that a delivery was refused without a word, recorded, and that
// nobody is going to hear of it.
func turnedAway(t *testing.T, w *proxytest.Gateway, what string, got proxytest.Response, status int) {
	t.Helper()
	if got.Status != status || got.Body != "" {
		t.Errorf("%s: %d %q, want %d and no body", what, got.Status, got.Body, status)
	}
	if mail := w.Mail.All(""); len(mail) > 0 {
		t.Errorf("%s: %s is going to be delivered", what, mail[0].Body)
	}
	records := w.Audited("call")
	if last := records[len(records)-1]; last["method"] != "PushNotification" || last["reason"] == "" || last["reason"] == nil {
		t.Errorf("%s: recorded as %v", what, last)
	}
}

// TestA19_Unsigned: whoever knows the address alone delivers nothing.
func TestA19_Unsigned(t *testing.T) {
	t.Parallel()
	w, task, g := hooked(t)
	turnedAway(t, w, "unsigned", w.Notify(g, atWork(task), "X-Nothing: x"), 401)
}

// TestA19_WrongToken: none of what an agent shows may be wrong, and an address that is
// almost one of the gateway's is none.
func TestA19_WrongToken(t *testing.T) {
	t.Parallel()
	w, task, g := hooked(t)
	for _, header := range [][]string{
		{"X-A2A-Notification-Token: wrong"}, {"A2A-Notification-Token: " + g.Token + "x"}, {"Authorization: Bearer wrong"},
		{"Authorization: Basic " + g.Authentication.Credentials}, {"Authorization: Bearer " + g.Token},
		{"X-A2A-Notification-Token: " + g.Token, "Authorization: Bearer wrong"},
		{"X-A2A-Notification-Token: wrong", g.Headers()[1]},
		{"X-A2A-Notification-Token: " + g.Token, "X-A2A-Notification-Token: wrong"},
		{"X-A2A-Notification-Token: "},
	} {
		turnedAway(t, w, fmt.Sprint(header), w.Notify(g, atWork(task), header...), 401)
	}
	for _, path := range []string{"", "x", g.Path(t)[6:] + "x", g.Path(t)[6:] + "/", strings.ToLower(g.Path(t)[6:])} {
		wrong := g
		wrong.URL = w.URL + "/push/" + path
		turnedAway(t, w, path, w.Notify(wrong, atWork(task)), 404)
	}
}

// TestNotificationProofs: SDKs differ in what they send of what they were given.
func TestNotificationProofs(t *testing.T) {
	t.Parallel()
	w, task, g := hooked(t)
	for i, header := range [][]string{
		{"X-A2A-Notification-Token: " + g.Token}, {"A2A-Notification-Token: " + g.Token}, {g.Headers()[1]}, g.Headers(),
		{"authorization: bearer " + g.Authentication.Credentials},
	} {
		doc := strings.Replace(atWork(task), `"status":`, fmt.Sprintf(`"metadata":{"n":%d},"status":`, i), 1)
		proxytest.WantStatus(t, fmt.Sprint(header), w.Notify(g, doc, header...), 200)
	}
	if mail := w.Mail.All(""); len(mail) != 5 {
		t.Errorf("%d deliveries", len(mail))
	}
}

// TestA19_OtherTasks: a token is good for one task; with that of another, or for a task
// that is somebody else's, nothing is delivered.
func TestA19_OtherTasks(t *testing.T) {
	t.Parallel()
	w, _, g := hooked(t)
	w.Agent.Answers(proxytest.Agreeable)
	other, bobs := w.NewTask("alice"), w.NewTask("bob")
	w.Agent.Answers(proxytest.KeepConfigs)
	g2, _ := w.Webhook(proxytest.WebhookCalls["1.0 create"], other)
	swapped := g
	swapped.Token, swapped.Authentication = g2.Token, g2.Authentication
	turnedAway(t, w, "another config's credentials", w.Notify(swapped, atWork(other)), 401)
	turnedAway(t, w, "another task", w.Notify(g, atWork(other)), 403)
	turnedAway(t, w, "bob's task", w.Notify(g, atWork(bobs)), 403)
}

// TestA19_UnboundWebhook: one that came with a send learns its task from the first
// delivery, which cannot make somebody else's task the caller's.
func TestA19_UnboundWebhook(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, proxytest.WithRelay)
	bobs := w.NewTask("bob")
	got := make(chan proxytest.Given, 1)
	release := make(chan struct{})
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		got <- proxytest.GivenIn(t, r)
		<-release
		proxytest.Agreeable(rw, r)
	})
	done := make(chan proxytest.Response, 1)
	go func() {
		done <- w.Do("alice", "POST", "", proxytest.WebhookCalls["1.0 send"].Body, "A2A-Version: 1.0")
	}()
	g := <-got
	turnedAway(t, w, "bob's task", w.Notify(g, atWork(bobs)), 403)
	proxytest.WantStatus(t, "the first word of a task", w.Notify(g, atWork("task-new")), 200)
	proxytest.WantStatus(t, "another task", w.Notify(g, atWork("task-other")), 403)
	close(release)
	<-done
	if mail := w.Mail.All(""); len(mail) != 1 || mail[0].Task != "task-new" {
		t.Errorf("delivered %v", mail)
	}
	if got := w.Call("bob", "GetTask", `{"id":"task-new"}`); !strings.Contains(got.Body, "-32001") {
		t.Errorf("bob sees alice's task: %s", got.Body)
	}
}

// TestA19_Replay: the same again, by its id, is taken and goes nowhere, whatever its body.
func TestA19_Replay(t *testing.T) {
	t.Parallel()
	w, task, g := hooked(t)
	first := append(g.Headers(), "Webhook-Id: one")
	other := strings.Replace(atWork(task), "WORKING", "INPUT_REQUIRED", 1)
	for _, doc := range []string{atWork(task), atWork(task), other} {
		proxytest.WantStatus(t, "replay", w.Notify(g, doc, first...), 200)
	}
	wantMail(w, atWork(task))
	proxytest.WantStatus(t, "another", w.Notify(g, other, append(g.Headers(), "Webhook-Id: two")...), 200)
	wantMail(w, atWork(task), other)
}

// TestEqualNotifications: equal bodies are so many notifications, in their order, unless
// they come under one id, or from an agent that is known to repeat itself.
func TestEqualNotifications(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ids     []string
		repeats bool
		want    string
	}{
		"without ids":                  {[]string{"", "", "", "", ""}, false, "wwiww"},
		"under ids of their own":       {[]string{"1", "2", "3", "4", "5"}, false, "wwiww"},
		"under one id":                 {[]string{"1", "1", "1", "1", "1"}, false, "w"},
		"some under an id":             {[]string{"", "1", "", "1", ""}, false, "wwiw"},
		"of an agent that repeats":     {[]string{"", "", "", "", ""}, true, "wi"},
		"of one that has ids as well":  {[]string{"1", "2", "3", "4", "4"}, true, "wwiw"},
		"of one that has ids at times": {[]string{"1", "", "", "", "2"}, true, "wwiw"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, task, g := hooked(t, func(s *proxytest.Setup) { s.Agent.RepeatsNotifications = c.repeats })
			docs := map[byte]string{'w': atWork(task), 'i': strings.Replace(atWork(task), "WORKING", "INPUT_REQUIRED", 1)}
			for i, id := range c.ids {
				header := g.Headers()
				if id != "" {
					header = append(header, "Webhook-Id: "+id)
				}
				proxytest.WantStatus(t, fmt.Sprint(i), w.Notify(g, docs["wwiww"[i]], header...), 200)
			}
			var want []string
			for _, c := range []byte(c.want) {
				want = append(want, docs[c])
			}
			wantMail(w, want...)
		})
	}
}

// TestNotificationSentAgain: what an agent sends again, since it was told that it was not
// taken, is delivered under the id of before, as it may have been queued all the same.
func TestNotificationSentAgain(t *testing.T) {
	t.Parallel()
	w, task, g := hooked(t)
	var ids []string
	for _, status := range []int{503, 503, 200, 503, 200, 200} {
		if fail(w.Mail, nil); status == 503 {
			fail(w.Mail, state.ErrFull)
		}
		proxytest.WantStatus(t, "again", w.Notify(g, atWork(task)), status)
		ids = append(ids, latest(w.Mail))
	}
	if ids[0] != ids[2] || ids[1] != ids[2] || ids[3] == ids[2] || ids[4] != ids[3] || ids[5] == ids[4] {
		t.Errorf("delivered as %q", ids)
	}
}

// TestA19_Late: a delivery that names its time does so within push.age.
func TestA19_Late(t *testing.T) {
	t.Parallel()
	w, task, g := hooked(t)
	for _, at := range []time.Time{time.Now().Add(-time.Hour), time.Now().Add(time.Hour)} {
		header := append(g.Headers(), fmt.Sprint("Webhook-Timestamp: ", at.Unix()))
		turnedAway(t, w, at.String(), w.Notify(g, atWork(task), header...), 403)
	}
	turnedAway(t, w, "no time", w.Notify(g, atWork(task), append(g.Headers(), "Webhook-Timestamp: now")...), 403)
	proxytest.WantStatus(t, "in time", w.Notify(g, atWork(task), append(g.Headers(), fmt.Sprint("Webhook-Timestamp: ", time.Now().Unix()))...), 200)
}

// TestA19_AfterDelete: what comes after the config was deleted is unknown.
func TestA19_AfterDelete(t *testing.T) {
	t.Parallel()
	w, task, g := hooked(t)
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) { proxytest.Respond(rw, r, `{}`) })
	got := w.Call("bob", "DeleteTaskPushNotificationConfig", `{"taskId":"`+task+`","id":"c"}`)
	if !strings.Contains(got.Body, "-32001") {
		t.Errorf("bob deletes alice's: %s", got.Body)
	}
	got = w.Call("alice", "DeleteTaskPushNotificationConfig", `{"taskId":"`+task+`","id":"c"}`)
	proxytest.WantStatus(t, "delete", got, 200)
	turnedAway(t, w, "after delete", w.Notify(g, atWork(task)), 404)
}

// TestA19_AfterTheEnd: push.age after the task's end nothing is taken any more.
func TestA19_AfterTheEnd(t *testing.T) {
	t.Parallel()
	w, task, g := hooked(t, func(s *proxytest.Setup) { s.Relay.Age = quantity.Duration(50 * time.Millisecond) })
	end := strings.Replace(atWork(task), "WORKING", "COMPLETED", 1)
	proxytest.WantStatus(t, "the end", w.Notify(g, end), 200)
	proxytest.Eventually(t, "end of push.age", func() bool { return w.Notify(g, atWork(task)).Status == 410 })
	for _, d := range w.Mail.All("") {
		if string(d.Body) != end && string(d.Body) != atWork(task) {
			t.Errorf("delivered %s", d.Body)
		}
	}
	w.Mail = &proxytest.Mailbox{}
	turnedAway(t, w, "after the end", w.Notify(g, atWork(task)), 410)
}

// TestA19_Flood: one config is taken so many deliveries of and no more; the refusal names
// the limit in the record, and says when to come back.
func TestA19_Flood(t *testing.T) {
	t.Parallel()
	w, task, g := hooked(t, func(s *proxytest.Setup) { s.Relay.PerConfig = 5 })
	taken, limited := 0, 0
	for i := range 1000 {
		doc := strings.Replace(atWork(task), `"status":`, fmt.Sprintf(`"metadata":{"n":%d},"status":`, i), 1)
		switch got := w.Notify(g, doc); got.Status {
		case 200:
			taken++
		case 429:
			limited++
			if got.Header.Get("Retry-After") == "" || got.Body != "" {
				t.Fatalf("limited: %+v", got)
			}
		default:
			t.Fatalf("%+v", got)
		}
	}
	// What comes back in a second is taken while the test runs.
	if mail := len(w.Mail.All("")); taken != mail || taken < 50 || limited == 0 {
		t.Errorf("%d taken, %d limited, %d delivered", taken, limited, mail)
	}
	named := 0
	for _, r := range w.Audited("call") {
		if r["limit"] == "push.perConfig" {
			named++
		}
	}
	if named != limited {
		t.Errorf("%d records name the limit", named)
	}
}

// TestA19_OddDeliveries: what is too large, not JSON, or none of A2A's is refused.
func TestA19_OddDeliveries(t *testing.T) {
	t.Parallel()
	w, task, g := hooked(t, func(s *proxytest.Setup) { s.Relay.Body = 4096 })
	large := strings.Replace(atWork(task), `"status":`, `"metadata":{"x":"`+strings.Repeat("x", 5000)+`"},"status":`, 1)
	turnedAway(t, w, "too large", w.Notify(g, large), 413)
	for _, doc := range []string{
		`{`, `[]`, `null`, `7`, `{}`, `{"task":{}}`, `{"tasks":[{"id":"` + task + `"}]}`, atWork(task) + atWork(task),
		`{"task":{"id":"` + task + `"},"message":{"messageId":"m"}}`, `{"task":{"id":"` + task + `","id":"x"}}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"x"}}`,
	} {
		turnedAway(t, w, doc, w.Notify(g, doc), 400)
	}
	r := w.Request("", "POST", w.URL+g.Path(t), atWork(task), g.Headers()...)
	r.Header.Set("Content-Type", "text/plain")
	resp, err := w.Client.Do(r)
	proxytest.Must(t, err)
	turnedAway(t, w, "another media type", proxytest.Response{Status: resp.StatusCode}, 415)
	proxytest.Must(t, resp.Body.Close())
	turnedAway(t, w, "another verb", w.Do("", "GET", w.URL+g.Path(t), "", g.Headers()...), 405)
}

// TestA21_ConfigsOfATask: a task has no more than push.perTask; the error names the key,
// and the agent does not hear of what was refused.
func TestA21_ConfigsOfATask(t *testing.T) {
	t.Parallel()
	w, task, _ := hooked(t, func(s *proxytest.Setup) { s.Relay.PerTask = 2 })
	body := func(n int) string {
		return fmt.Sprintf(`{"taskId":%q,"id":"c%d",%s}`, task, n, proxytest.Config10)
	}
	proxytest.WantStatus(t, "second", w.Call("alice", "CreateTaskPushNotificationConfig", body(1)), 200)
	w.Agent.Take()
	got := w.Call("alice", "CreateTaskPushNotificationConfig", body(2))
	if got.Status != 429 || !strings.Contains(got.Body, "push.perTask") {
		t.Errorf("third: %d %s", got.Status, got.Body)
	}
	w.Agent.Silent(t, "third")
	proxytest.WantStatus(t, "the second again", w.Call("alice", "CreateTaskPushNotificationConfig", body(1)), 200)
}
