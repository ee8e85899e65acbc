package interop_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// TestSubscriptionsFollow: whoever subscribes to a task that waits for its user is shown it in
// the same words as everybody else, and gets what the next message makes of it, at agents of
// every SDK but one; also where that message names the task alone, for which some make up a
// context.
func TestSubscriptionsFollow(t *testing.T) {
	if os.Getenv("A2A_GATEWAY_TEST_INTEROP") == "" {
		t.Skip("run by `make interop`")
	}
	t.Parallel()
	there := present(t)
	token := accessToken(t, startProgram(t, nil, "node", "js/issuer.mjs"))
	var all []agent
	for _, agents := range startAgents(t, there) {
		all = append(all, agents...)
	}
	g := startGateway(t, all, token)
	for _, a := range all {
		if only(a.id) {
			t.Run(a.id, func(t *testing.T) {
				t.Parallel()
				g.follows(t, a)
			})
		}
	}
}

func (g *gateway) follows(t *testing.T, a agent) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	task := g.says(ctx, t, a, `"parts":[{"text":"input"}]`)
	var streams []*bufio.Scanner
	var shown []string
	for range 2 {
		s := g.call(ctx, t, a, "SubscribeToTask", fmt.Sprintf(`{"id":%q}`, task))
		event := next(s)
		if !strings.Contains(event, "TASK_STATE_INPUT_REQUIRED") {
			t.Fatalf("the subscription begins with %q", event)
		}
		streams, shown = append(streams, s), append(shown, event)
	}
	if shown[0] != shown[1] {
		t.Errorf("one was shown\n%s\nthe other\n%s", shown[0], shown[1])
	}
	if got := g.says(ctx, t, a, fmt.Sprintf(`"taskId":%q,"parts":[{"text":"this"}]`, task)); got != task {
		t.Errorf("the message went on with %s instead of %s", got, task)
	}
	// An agent on the JavaScript SDK 0.3 shows the task once more and ends the stream, and so
	// does the gateway: a client that wants what comes of the message subscribes again.
	ends := strings.HasPrefix(a.id, "js-v03-")
	for _, s := range streams {
		var events []string
		for event := next(s); event != ""; event = next(s) {
			events = append(events, event)
		}
		if ends && len(events) == 0 {
			continue
		}
		if ends || len(events) == 0 || !strings.Contains(events[len(events)-1], "TASK_STATE_COMPLETED") {
			t.Errorf("who subscribed got %s", events)
		}
	}
}

// says sends a message and gives the id of the task that came of it.
func (g *gateway) says(ctx context.Context, t *testing.T, a agent, members string) string {
	t.Helper()
	s := g.call(ctx, t, a, "SendMessage",
		fmt.Sprintf(`{"message":{"messageId":"m-%d","role":"ROLE_USER",%s}}`, time.Now().UnixNano(), members))
	var answer struct {
		Result struct {
			Task struct {
				ID string `json:"id"`
			} `json:"task"`
		} `json:"result"`
	}
	var doc []byte // of several lines at some agents
	for s.Scan() {
		doc = append(append(doc, s.Bytes()...), '\n')
	}
	if err := json.Unmarshal(doc, &answer); err != nil || answer.Result.Task.ID == "" {
		t.Fatalf("the answer to a message: %v %s", err, doc)
	}
	return answer.Result.Task.ID
}

// call makes a JSON-RPC call of A2A 1.0, and gives the lines of the answer.
func (g *gateway) call(ctx context.Context, t *testing.T, a agent, method, params string) *bufio.Scanner {
	t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, g.base(a.id), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("A2A-Version", "1.0")
	r.Header.Set("Authorization", "Bearer "+g.token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	return lines
}

// next is the data of the next event; "" at the end.
func next(s *bufio.Scanner) string {
	for s.Scan() {
		if data, ok := strings.CutPrefix(s.Text(), "data: "); ok {
			return data
		}
	}
	return ""
}
