package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// hooked is a world where alice has a task and a webhook for it.
func hooked(t *testing.T, edit ...func(*setup)) (w *world, task string, g given) {
	t.Helper()
	w = build(t, append([]func(*setup){relayed}, edit...)...)
	task = w.newTask("alice")
	w.agent.answers(keeper)
	g, _ = w.hook(hookCalls["1.0 create"], task)
	return w, task, g
}

func atWork(task string) string {
	return `{"statusUpdate":{"taskId":"` + task + `","contextId":"` + strings.Replace(task, "task", "context", 1) +
		`","status":{"state":"TASK_STATE_WORKING"}}}`
}

// turnedAway makes sure that a delivery was refused without a word, recorded, and that
// nobody is going to hear of it.
func turnedAway(t *testing.T, w *world, what string, got answer, status int) {
	t.Helper()
	if got.status != status || got.body != "" {
		t.Errorf("%s: %d %q, want %d and no body", what, got.status, got.body, status)
	}
	if mail := w.mail.all(""); len(mail) > 0 {
		t.Errorf("%s: %s is going to be delivered", what, mail[0].Body)
	}
	records := w.audited("call")
	if last := records[len(records)-1]; last["method"] != "PushNotification" || last["reason"] == "" || last["reason"] == nil {
		t.Errorf("%s: recorded as %v", what, last)
	}
}

// TestA19_Unsigned: whoever knows the address alone delivers nothing.
func TestA19_Unsigned(t *testing.T) {
	t.Parallel()
	w, task, g := hooked(t)
	turnedAway(t, w, "unsigned", w.notify(g, atWork(task), "X-Nothing: x"), 401)
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
		{"X-A2A-Notification-Token: wrong", g.headers()[1]},
		{"X-A2A-Notification-Token: " + g.Token, "X-A2A-Notification-Token: wrong"},
		{"X-A2A-Notification-Token: "},
	} {
		turnedAway(t, w, fmt.Sprint(header), w.notify(g, atWork(task), header...), 401)
	}
	for _, path := range []string{"", "x", g.path(t)[6:] + "x", g.path(t)[6:] + "/", strings.ToLower(g.path(t)[6:])} {
		wrong := g
		wrong.URL = w.url + "/push/" + path
		turnedAway(t, w, path, w.notify(wrong, atWork(task)), 404)
	}
}

// TestNotificationProofs: SDKs differ in what they send of what they were given.
func TestNotificationProofs(t *testing.T) {
	t.Parallel()
	w, task, g := hooked(t)
	for i, header := range [][]string{
		{"X-A2A-Notification-Token: " + g.Token}, {"A2A-Notification-Token: " + g.Token}, {g.headers()[1]}, g.headers(),
		{"authorization: bearer " + g.Authentication.Credentials},
	} {
		doc := strings.Replace(atWork(task), `"status":`, fmt.Sprintf(`"metadata":{"n":%d},"status":`, i), 1)
		wantStatus(t, fmt.Sprint(header), w.notify(g, doc, header...), 200)
	}
	if mail := w.mail.all(""); len(mail) != 5 {
		t.Errorf("%d deliveries", len(mail))
	}
}

// TestA19_OtherTasks: a token is good for one task; with that of another, or for a task
// that is somebody else's, nothing is delivered.
func TestA19_OtherTasks(t *testing.T) {
	t.Parallel()
	w, _, g := hooked(t)
	w.agent.answers(agreeable)
	other, bobs := w.newTask("alice"), w.newTask("bob")
	w.agent.answers(keeper)
	g2, _ := w.hook(hookCalls["1.0 create"], other)
	swapped := g
	swapped.Token, swapped.Authentication = g2.Token, g2.Authentication
	turnedAway(t, w, "another config's credentials", w.notify(swapped, atWork(other)), 401)
	turnedAway(t, w, "another task", w.notify(g, atWork(other)), 403)
	turnedAway(t, w, "bob's task", w.notify(g, atWork(bobs)), 403)
}

// TestA19_UnboundWebhook: one that came with a send learns its task from the first
// delivery, which cannot make somebody else's task the caller's.
func TestA19_UnboundWebhook(t *testing.T) {
	t.Parallel()
	w := build(t, relayed)
	bobs := w.newTask("bob")
	got := make(chan given, 1)
	release := make(chan struct{})
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		got <- givenIn(t, r)
		<-release
		agreeable(rw, r)
	})
	done := make(chan answer, 1)
	go func() {
		done <- w.do("alice", "POST", "", hookCalls["1.0 send"].body, "A2A-Version: 1.0")
	}()
	g := <-got
	turnedAway(t, w, "bob's task", w.notify(g, atWork(bobs)), 403)
	wantStatus(t, "the first word of a task", w.notify(g, atWork("task-new")), 200)
	wantStatus(t, "another task", w.notify(g, atWork("task-other")), 403)
	close(release)
	<-done
	if mail := w.mail.all(""); len(mail) != 1 || mail[0].Task != "task-new" {
		t.Errorf("delivered %v", mail)
	}
	if got := w.call("bob", "GetTask", `{"id":"task-new"}`); !strings.Contains(got.body, "-32001") {
		t.Errorf("bob sees alice's task: %s", got.body)
	}
}

// TestA19_Replay: the same again, by its id, is taken and goes nowhere, whatever its body.
func TestA19_Replay(t *testing.T) {
	t.Parallel()
	w, task, g := hooked(t)
	first := append(g.headers(), "Webhook-Id: one")
	other := strings.Replace(atWork(task), "WORKING", "INPUT_REQUIRED", 1)
	for _, doc := range []string{atWork(task), atWork(task), other} {
		wantStatus(t, "replay", w.notify(g, doc, first...), 200)
	}
	w.wantMail(atWork(task))
	wantStatus(t, "another", w.notify(g, other, append(g.headers(), "Webhook-Id: two")...), 200)
	w.wantMail(atWork(task), other)
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
			w, task, g := hooked(t, func(s *setup) { s.agent.RepeatsNotifications = c.repeats })
			docs := map[byte]string{'w': atWork(task), 'i': strings.Replace(atWork(task), "WORKING", "INPUT_REQUIRED", 1)}
			for i, id := range c.ids {
				header := g.headers()
				if id != "" {
					header = append(header, "Webhook-Id: "+id)
				}
				wantStatus(t, fmt.Sprint(i), w.notify(g, docs["wwiww"[i]], header...), 200)
			}
			var want []string
			for _, c := range []byte(c.want) {
				want = append(want, docs[c])
			}
			w.wantMail(want...)
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
		if w.mail.fail(nil); status == 503 {
			w.mail.fail(state.ErrFull)
		}
		wantStatus(t, "again", w.notify(g, atWork(task)), status)
		ids = append(ids, w.mail.latest())
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
		header := append(g.headers(), fmt.Sprint("Webhook-Timestamp: ", at.Unix()))
		turnedAway(t, w, at.String(), w.notify(g, atWork(task), header...), 403)
	}
	turnedAway(t, w, "no time", w.notify(g, atWork(task), append(g.headers(), "Webhook-Timestamp: now")...), 403)
	wantStatus(t, "in time", w.notify(g, atWork(task), append(g.headers(), fmt.Sprint("Webhook-Timestamp: ", time.Now().Unix()))...), 200)
}

// TestA19_AfterDelete: what comes after the config was deleted is unknown.
func TestA19_AfterDelete(t *testing.T) {
	t.Parallel()
	w, task, g := hooked(t)
	w.agent.answers(func(rw http.ResponseWriter, r *record) { reply(rw, r, `{}`) })
	got := w.call("bob", "DeleteTaskPushNotificationConfig", `{"taskId":"`+task+`","id":"c"}`)
	if !strings.Contains(got.body, "-32001") {
		t.Errorf("bob deletes alice's: %s", got.body)
	}
	got = w.call("alice", "DeleteTaskPushNotificationConfig", `{"taskId":"`+task+`","id":"c"}`)
	wantStatus(t, "delete", got, 200)
	turnedAway(t, w, "after delete", w.notify(g, atWork(task)), 404)
}

// TestA19_AfterTheEnd: push.age after the task's end nothing is taken any more.
func TestA19_AfterTheEnd(t *testing.T) {
	t.Parallel()
	w, task, g := hooked(t, func(s *setup) { s.relay.Age = secret.Duration(50 * time.Millisecond) })
	end := strings.Replace(atWork(task), "WORKING", "COMPLETED", 1)
	wantStatus(t, "the end", w.notify(g, end), 200)
	eventually(t, "end of push.age", func() bool { return w.notify(g, atWork(task)).status == 410 })
	for _, d := range w.mail.all("") {
		if string(d.Body) != end && string(d.Body) != atWork(task) {
			t.Errorf("delivered %s", d.Body)
		}
	}
	w.mail = &mailbox{}
	turnedAway(t, w, "after the end", w.notify(g, atWork(task)), 410)
}

// TestA19_Flood: one config is taken so many deliveries of and no more; the refusal names
// the limit in the record, and says when to come back.
func TestA19_Flood(t *testing.T) {
	t.Parallel()
	w, task, g := hooked(t, func(s *setup) { s.relay.PerConfig = 5 })
	taken, limited := 0, 0
	for i := range 1000 {
		doc := strings.Replace(atWork(task), `"status":`, fmt.Sprintf(`"metadata":{"n":%d},"status":`, i), 1)
		switch got := w.notify(g, doc); got.status {
		case 200:
			taken++
		case 429:
			limited++
			if got.header.Get("Retry-After") == "" || got.body != "" {
				t.Fatalf("limited: %+v", got)
			}
		default:
			t.Fatalf("%+v", got)
		}
	}
	// What comes back in a second is taken while the test runs.
	if mail := len(w.mail.all("")); taken != mail || taken < 50 || limited == 0 {
		t.Errorf("%d taken, %d limited, %d delivered", taken, limited, mail)
	}
	named := 0
	for _, r := range w.audited("call") {
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
	w, task, g := hooked(t, func(s *setup) { s.relay.Body = 4096 })
	large := strings.Replace(atWork(task), `"status":`, `"metadata":{"x":"`+strings.Repeat("x", 5000)+`"},"status":`, 1)
	turnedAway(t, w, "too large", w.notify(g, large), 413)
	for _, doc := range []string{
		`{`, `[]`, `null`, `7`, `{}`, `{"task":{}}`, `{"tasks":[{"id":"` + task + `"}]}`, atWork(task) + atWork(task),
		`{"task":{"id":"` + task + `"},"message":{"messageId":"m"}}`, `{"task":{"id":"` + task + `","id":"x"}}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"x"}}`,
	} {
		turnedAway(t, w, doc, w.notify(g, doc), 400)
	}
	r := w.request("", "POST", w.url+g.path(t), atWork(task), g.headers()...)
	r.Header.Set("Content-Type", "text/plain")
	resp, err := w.http.Do(r)
	must(t, err)
	turnedAway(t, w, "another media type", answer{status: resp.StatusCode}, 415)
	must(t, resp.Body.Close())
	turnedAway(t, w, "another verb", w.do("", "GET", w.url+g.path(t), "", g.headers()...), 405)
}

// TestA21_ConfigsOfATask: a task has no more than push.perTask; the error names the key,
// and the agent does not hear of what was refused.
func TestA21_ConfigsOfATask(t *testing.T) {
	t.Parallel()
	w, task, _ := hooked(t, func(s *setup) { s.relay.PerTask = 2 })
	body := func(n int) string {
		return fmt.Sprintf(`{"taskId":%q,"id":"c%d",%s}`, task, n, config10)
	}
	wantStatus(t, "second", w.call("alice", "CreateTaskPushNotificationConfig", body(1)), 200)
	w.agent.take()
	got := w.call("alice", "CreateTaskPushNotificationConfig", body(2))
	if got.status != 429 || !strings.Contains(got.body, "push.perTask") {
		t.Errorf("third: %d %s", got.status, got.body)
	}
	w.agent.silent(t, "third")
	wantStatus(t, "the second again", w.call("alice", "CreateTaskPushNotificationConfig", body(1)), 200)
}
