package guard_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/policy/guard"
	"github.com/a2a-gateway/a2a-gateway/policy/guard/service"
)

// operator is a service that speaks the protocol of hooks: it denies what has "no" in it, and hides names.
type operator struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func newOperator(t *testing.T) *operator {
	t.Helper()
	o := &operator{}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		o.mu.Lock()
		o.asked = append(o.asked, string(body))
		o.mu.Unlock()
		_, document, _ := strings.Cut(strings.TrimSuffix(string(body), "}"), `"document":`)
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.Contains(document, "no"):
			_, _ = io.WriteString(w, `{"action":"deny","message":"I say so"}`)
		case strings.Contains(document, "Jane"):
			_, _ = io.WriteString(w, `{"action":"mutate","document":`+strings.ReplaceAll(document, "Jane", "somebody")+`}`)
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	t.Cleanup(o.Close)
	return o
}

// TestPlaces: with action redact, what a service has a place for is cut, and what it has none for is
// refused; where it was said before, all of its message is cut. Texts of one part go together, and those that were said before apart.
func TestPlaces(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	s := set(t, guard.Guard{Name: "own", Use: "hook", Action: "redact", Service: service.Config{URL: secret.URL(o.URL)}})
	t.Cleanup(s.Close)
	for _, tt := range []struct {
		texts         []guard.Text
		refused       string
		cuts, records string
	}{
		{[]guard.Text{{Value: "hi"}, {Value: "I am Jane, hi"}}, "<nil>", "map[1:[{5 9 changed}]]", "[{own answer changed 0 1 redact false}]"},
		{[]guard.Text{{Value: "Jane"}, {Value: "no", Part: 1}}, "guard own found denied in the answer, part 1", "map[0:[{0 4 changed}]]", "[{own answer changed 0 1 redact false} {own answer denied 1 1 refuse false}]"},
		{[]guard.Text{{Value: "no", Old: true}, {Value: "hi", Of: 1}}, "<nil>", "map[0:[{0 2 denied}]]", "[{own answer denied 0 1 redact false}]"},
	} {
		r := s.Of("billing").Inspect(t.Context(), &guard.Content{Phase: guard.Answer, Who: "alice", Texts: tt.texts})
		refused := "<nil>"
		if r.Refused != nil {
			refused = r.Refused.Error()
		}
		if refused != tt.refused || fmt.Sprint(r.Cuts) != tt.cuts || fmt.Sprint(r.Findings) != tt.records {
			t.Errorf("%v: %s, %v, %v", tt.texts, refused, r.Cuts, r.Findings)
		}
	}
	if want := `{"phase":"response","guard":"own","document":{"texts":["hi","I am Jane, hi"]}}`; o.asked[0] != want {
		t.Errorf("asked %s", o.asked[0])
	}
	if len(o.asked) != 5 {
		t.Errorf("asked %q", o.asked)
	}
}
