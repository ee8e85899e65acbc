package gateway_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
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
}
