package gateway_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
	frames "github.com/a2a-gateway/a2a-gateway/internal/sse"
)

// TestRecordsByAPI: what somebody did is found a moment later, page by page and by its
// number, and the log is verified with the gateway's own keys.
func TestRecordsByAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.start(w.yaml(plain, openPolicy))
	token, err := os.ReadFile(filepath.Join(w.dir, "admin.token"))
	if err != nil {
		t.Fatal(err)
	}
	credential := http.Header{"Authorization": {"Bearer " + strings.TrimSpace(string(token))}}
	ask := func(verb, path string, into any) string {
		t.Helper()
		_, body, err := try(client(t), verb, g.AdminURL()+"/api/v1/"+path, credential, "")
		if err == nil && into != nil {
			err = json.Unmarshal([]byte(body), into)
		}
		if err != nil {
			t.Fatalf("%s %s: %s, %v", verb, path, body, err)
		}
		return body
	}
	for _, id := range []string{"one", "two", "three"} {
		ask("DELETE", "push/deliveries/"+id, nil) // on record, and so is that it is not there
	}
	var page struct {
		Records []struct {
			Seq   int               `json:"seq"`
			Attrs map[string]string `json:"attrs"`
		} `json:"records"`
		Next string `json:"next"`
	}
	var ids []string
	for query := "audit/records?event=push.drop&caller=admin-token&limit=4"; query != ""; {
		page.Records, page.Next = nil, ""
		ask("GET", query, &page)
		for _, r := range page.Records {
			ids = append(ids, r.Attrs["id"])
		}
		if query = ""; page.Next != "" {
			query = "audit/records?event=push.drop&caller=admin-token&limit=4&cursor=" + page.Next
		}
	}
	if got := strings.Join(ids, " "); got != "three three two two one one" {
		t.Error(got)
	}
	ask("GET", "audit/records?limit=1", &page)
	if got := ask("GET", "audit/records/1", nil); !strings.Contains(got, `"seq":1,`) && !strings.Contains(got, "NO_SUCH_RECORD") {
		t.Error(got)
	}
	if got := ask("POST", "audit/verify", nil); !strings.Contains(got, `"intact":true`) {
		t.Error(got)
	}
	if got := ask("POST", "audit/verify?from=2199-01-01", nil); !strings.Contains(got, `"intact":true,"empty":true,"records":0`) {
		t.Error(got)
	}
}

// TestLiveByAPI: whoever looks sees a call when it begins and when it has ended, and either
// record leads to both.
func TestLiveByAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent, err := demo.Agent10(demo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = agent.Close(context.Background()) })
	g := w.start(w.yaml(plain, openPolicy+fmt.Sprintf("agents: [{id: a, card: %q}]\n", agent.CardURL)))
	admin := adminOf(t, w.dir)
	call := func() bool {
		status, _, err := try(client(t), http.MethodPost, g.URL()+"/agents/a", sendHeader(w.token("alice")), sendBody("SendMessage", "1"))
		return err == nil && status == http.StatusOK
	}
	eventually(t, "the agent answers", call)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.AdminURL()+"/api/v1/live?agent=a", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = admin.Clone()
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	events := frames.NewReader(resp.Body, 1<<20)
	if e, err := events.Next(); err != nil || e.Name != "open" {
		t.Fatalf("%+v, %v", e, err)
	}
	if !call() {
		t.Fatal("the call was not answered")
	}
	var lines []string
	for _, want := range []string{"intent", "call"} {
		e, err := events.Next()
		if err != nil || e.Name != "record" || !strings.Contains(string(e.Data), `"type":"`+want+`"`) || !strings.Contains(string(e.Data), `"principal":"alice"`) {
			t.Fatalf("%s: %s %s, %v", want, e.Name, e.Data, err)
		}
		lines = append(lines, string(e.Data))
	}
	for _, line := range lines {
		seq := strings.TrimPrefix(line[:strings.Index(line, ",")], `{"seq":`)
		if _, got := fetch(t, g.AdminURL()+"/api/v1/audit/records/"+seq, admin); got != line {
			t.Errorf("record %s: %s, want %s", seq, got, line)
		}
		if _, got := fetch(t, g.AdminURL()+"/api/v1/audit/records/"+seq+"/pair", admin); got != `{"intent":`+lines[0]+`,"call":`+lines[1]+`}` {
			t.Errorf("of record %s: %s", seq, got)
		}
	}
}
