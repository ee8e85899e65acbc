package console

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/a2a-gateway/a2a-gateway/internal/console/deliveries"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// page asks for a list.
func (w *world) page(query string) deliveries.Page {
	w.t.Helper()
	got := w.ask("GET", "/api/v1/push/deliveries?"+query, nil)
	var p deliveries.Page
	if err := json.Unmarshal([]byte(got.body), &p); err != nil || got.status != http.StatusOK {
		w.t.Fatal(got, err)
	}
	return p
}

// TestDeliveries takes some from waiting through being given up to waiting again and gone.
func TestDeliveries(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.enqueue("n-1")
	w.enqueue("n-2")
	w.bury()
	w.enqueue("n-3")
	given := func(id, status string, attempts int, failure string) deliveries.Delivery {
		return deliveries.Delivery{
			ID: id, State: status, Agent: "billing", Task: "task-" + id, Config: "c-1", Owner: "alice",
			Target: "https://hooks.example:8443", Attempts: attempts, Failure: failure,
		}
	}
	times := cmpopts.IgnoreTypes(time.Time{})
	want := deliveries.Page{Deliveries: []deliveries.Delivery{given("n-1", deliveries.Dead, 3, "status 410"), given("n-2", deliveries.Dead, 3, "status 410")}}
	if diff := cmp.Diff(want, w.page("state=dead"), times); diff != "" {
		t.Errorf("dead (-want +got):\n%s", diff)
	}
	if got := w.ask("POST", "/api/v1/push/deliveries/n-2/retry", nil); got.body != `{"id":"n-2","state":"waiting"}` {
		t.Error(got)
	}
	want = deliveries.Page{Deliveries: []deliveries.Delivery{given("n-2", deliveries.Waiting, 0, ""), given("n-3", deliveries.Waiting, 0, "")}}
	if diff := cmp.Diff(want, w.page("state=waiting"), times); diff != "" {
		t.Errorf("waiting (-want +got):\n%s", diff)
	}
	for _, id := range []string{"n-1", "n-3"} {
		if got := w.ask("DELETE", "/api/v1/push/deliveries/"+id, nil); got.body != `{"id":"`+id+`","state":"dropped"}` {
			t.Error(got)
		}
	}
	got := w.ask("GET", "/api/v1/push", nil)
	var d deliveries.Depth
	if err := json.Unmarshal([]byte(got.body), &d); err != nil || d.Waiting != 1 || d.Dead != 0 || d.Oldest.IsZero() {
		t.Error(got, err)
	}
	for _, ask := range [][2]string{
		{"POST", "/api/v1/push/deliveries/n-1/retry"}, {"POST", "/api/v1/push/deliveries/n-2/retry"}, {"DELETE", "/api/v1/push/deliveries/n-1"},
	} {
		if got := w.ask(ask[0], ask[1], nil); got.status != 404 || !strings.Contains(got.body, "NO_SUCH_DELIVERY") {
			t.Errorf("%s: %s", ask, got)
		}
	}
}

// TestPages: every delivery is on exactly one page, and the last page says that it is.
func TestPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	var want []string
	for n := range 25 {
		want = append(want, fmt.Sprintf("n-%02d", n))
		w.enqueue(want[n])
	}
	for _, limit := range []int{1, 7, 24, 25, 26, 1000} {
		var got []string
		after, pages := "", 0
		for {
			p := w.page(fmt.Sprintf("state=waiting&limit=%d%s", limit, after))
			for i := range p.Deliveries {
				got = append(got, p.Deliveries[i].ID)
			}
			pages++
			if p.Next == "" {
				break
			}
			after = "&cursor=" + p.Next
		}
		if diff := cmp.Diff(want, got); diff != "" || pages != (25+limit-1)/limit {
			t.Errorf("limit %d: %d pages (-want +got):\n%s", limit, pages, diff)
		}
	}
}

func TestParameters(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, target := range []string{
		"/deliveries", "/deliveries?state=", "/deliveries?state=alive", "/deliveries?state=dead&state=waiting",
		"/deliveries?state=dead&limit=0", "/deliveries?state=dead&limit=1001", "/deliveries?state=dead&limit=x",
		"/deliveries?state=dead&limit=", "/deliveries?state=dead&befor=n-1", "/deliveries?State=dead", "?state=dead",
		"/deliveries?state=dead&cursor=n-1", "/deliveries?state=dead&cursor=***",
	} {
		if got := w.ask("GET", "/api/v1/push"+target, nil); got.status != http.StatusBadRequest {
			t.Errorf("%s: %s", target, got)
		}
	}
	body := func(r *http.Request) { r.Body, r.ContentLength = io.NopCloser(strings.NewReader("{}")), -1 }
	if got := w.ask("POST", "/api/v1/push/deliveries/n-1/retry", body); got.status != http.StatusBadRequest {
		t.Error(got)
	}
}

// A queue that is away is not the operator's fault, and its words are the log's.
func TestStateIsAway(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err    error
		status int
	}{
		{fmt.Errorf("%w: dial canary", state.ErrUnavailable), 503}, {errors.New("canary"), 500},
	} {
		w := newWorld(t, func(c *Config) { c.Content = true })
		w.away, w.cards.away, w.machine.away = tt.err, tt.err, tt.err
		for i := range operations {
			op := &operations[i]
			if op.Tag == "profiles" || op.Tag == "api" || op.Tag == "session" || op.Tag == "gateway" || op.Tag == "policy" || op.Tag == "extensions" || op.Tag == "try" || op.Tag == "identities" || op.Tag == "streams" || op.ID == "view-card" || op.Media != "" { // which need no state
				continue
			}
			got := w.ask(op.Method, asked[op.Method+" "+op.Path], nil)
			if got.status != tt.status || strings.Contains(got.body, "canary") {
				t.Errorf("%s: %s", op.Path, got)
			}
		}
		if !strings.Contains(w.log.String(), "canary") {
			t.Error("the log does not say why")
		}
		for i, e := range w.recorded() {
			if want := []string{"", "failed"}[i%2]; e["outcome"] != want {
				t.Errorf("event %d: %v", i, e)
			}
		}
	}
}

// What is sealed with a key that is gone is listed, and can be dropped.
func TestSealedDelivery(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.enqueue("n-1")
	w.cipher = newCipher(t)
	list := w.page("state=waiting").Deliveries
	if len(list) != 1 || !list[0].Sealed || list[0].ID != "n-1" || list[0].Agent != "" {
		t.Errorf("%+v", list)
	}
	if got := w.ask("DELETE", "/api/v1/push/deliveries/n-1", nil); got.status != 200 {
		t.Error(got)
	}
}
