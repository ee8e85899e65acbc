package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/console/trials"
	"github.com/a2a-gateway/a2a-gateway/internal/demo"
	eventstream "github.com/a2a-gateway/a2a-gateway/internal/sse"
)

// workshop is a gateway at which calls are tried, with an agent of A2A 1.0 and one of 0.3.
type workshop struct {
	*world
	admin http.Header
	url   string
}

func newWorkshop(t *testing.T, server, policy string) *workshop {
	t.Helper()
	w := newWorld(t)
	modern, err := demo.Agent10(demo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	older, err := demo.Agent03(demo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.Background()
		_, _ = modern.Close(ctx), older.Close(ctx) // nobody waits for them
	})
	if server == "tls" {
		server, _ = w.secure()
	}
	g := w.start(w.yaml(server, policy+fmt.Sprintf(`agents: [{id: modern, card: %q}, {id: older, card: %q}, {id: owned, card: %[1]q, hosts: [owned.example]}]
admin: {address: "127.0.0.1:0", try: {timeout: 2s, answer: 64KiB}}
`, modern.CardURL, older.CardURL)))
	shop := &workshop{world: w, admin: adminOf(t, w.dir), url: g.AdminURL() + "/api/v1/"}
	shop.admin.Set("Content-Type", "application/json")
	for _, id := range []string{"modern", "older"} {
		eventually(t, "there is a card of "+id, func() bool {
			_, body := fetch(t, shop.url+"cards/"+id, shop.admin)
			return strings.Contains(body, `"accepted"`)
		})
	}
	return shop
}

// try makes a call, which must be answered.
func (s *workshop) try(a *trials.Attempt) *trials.Trial {
	s.t.Helper()
	status, body := s.post(a)
	if status != http.StatusOK {
		s.t.Fatalf("%d %s", status, body)
	}
	var got trials.Trial
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		s.t.Fatal(err)
	}
	return &got
}

func (s *workshop) post(a *trials.Attempt) (int, string) {
	s.t.Helper()
	doc, err := json.Marshal(a)
	if err != nil {
		s.t.Fatal(err)
	}
	status, body, err := try(client(s.t), http.MethodPost, s.url+"try", s.admin, string(doc))
	if err != nil {
		s.t.Fatal(err)
	}
	return status, body
}

const (
	trialText10 = `{"message":{"messageId":"m-1","role":"ROLE_USER","parts":[{"text":%q}]}}`
	trialText03 = `{"message":{"kind":"message","messageId":"m-1","role":"user","parts":[{"kind":"text","text":%q}]}}`
)

// TestTry: an operator sees what a caller sends and gets, in each version and binding, to
// agents of either version; the call is authorized and recorded as the caller's.
func TestTry(t *testing.T) {
	t.Parallel()
	for _, server := range []string{plain, "tls"} {
		s := newWorkshop(t, server, openPolicy)
		token := bearer(s.token("alice"))
		for _, agent := range []string{"modern", "older"} {
			for _, version := range []string{"1.0", "0.3"} {
				for _, binding := range []string{"JSONRPC", "HTTP+JSON"} {
					for _, method := range []string{"SendMessage", "SendStreamingMessage"} {
						params := fmt.Sprintf(trialText10, "hello")
						if version == "0.3" {
							params = fmt.Sprintf(trialText03, "hello")
						}
						got := s.try(&trials.Attempt{
							Agent: agent, Version: version, Binding: binding, Method: method, Params: []byte(params), Bearer: token,
							Extensions: []string{demo.CostCentre},
						})
						check(t, fmt.Sprint(agent, version, binding, method), got, token, method)
					}
				}
			}
		}
	}
}

// sentBelow reports whether a request went to the base URL of an agent, which has a slash at
// its end, or to a path below it.
func sentBelow(sent string) bool {
	path, _, _ := strings.Cut(strings.TrimPrefix(sent, "POST /agents/"), " ")
	return strings.Contains(path, "/")
}

func check(t *testing.T, what string, got *trials.Trial, token, method string) {
	t.Helper()
	switch {
	case got.Status != http.StatusOK || got.Ended != "complete" || got.Failure != "" || got.Request == "" || len(got.Pieces) == 0:
		t.Errorf("%s: %+v", what, got)
	case !strings.HasPrefix(got.Sent, "POST /agents/") || !strings.Contains(got.Sent, "Bearer [redacted]") || strings.Contains(fmt.Sprint(*got), token):
		t.Errorf("%s: sent %s", what, got.Sent)
	case !sentBelow(got.Sent):
		t.Errorf("%s: not below the base URL as clients are given it: %s", what, got.Sent)
	case !strings.HasPrefix(got.Received, "HTTP/1.1 200 OK\r\n"):
		t.Errorf("%s: received %s", what, got.Received)
	case !slices.Equal(got.Active, []string{demo.CostCentre}) || len(got.Forms) != 4:
		t.Errorf("%s: %+v", what, got)
	}
	callers, agents := 0, 0
	for _, f := range got.Forms {
		if f.Caller {
			callers++
		}
		if f.Agent {
			agents++
		}
		if f.Problem != "" || f.Verb != http.MethodPost || !strings.Contains(f.Body, "hello") || len(f.Answers) == 0 {
			t.Errorf("%s: as %s %s: %+v", what, f.Version, f.Binding, f)
			continue
		}
		if modern := strings.Contains(f.Body, "ROLE_USER"); modern == (f.Version == "0.3" && f.Binding == "JSONRPC") {
			t.Errorf("%s: as %s %s the role is %s", what, f.Version, f.Binding, f.Body)
		}
		if method == "SendMessage" && len(f.Answers) != 1 {
			t.Errorf("%s: %q", what, f.Answers)
		}
	}
	if callers != 1 || agents == 0 {
		t.Errorf("%s: %d callers, %d forms of the agent's", what, callers, agents)
	}
}

const trialText01 = `{"id":"trial-%s","message":{"role":"user","parts":[{"type":"text","text":%q}]}}`

// TestTry01: callers of A2A 0.1 are tried too, and their calls and answers retold in what came
// after.
func TestTry01(t *testing.T) {
	t.Parallel()
	s := newWorkshop(t, plain, openPolicy)
	for _, agent := range []string{"modern", "older"} {
		for _, method := range []string{"SendMessage", "SendStreamingMessage"} {
			got := s.try(&trials.Attempt{
				Agent: agent, Version: "0.1", Binding: "JSONRPC", Method: method, Params: []byte(fmt.Sprintf(trialText01, agent+method, "hello")),
				Bearer: bearer(s.token("alice")),
			})
			what := agent + " " + method
			if got.Status != http.StatusOK || got.Ended != "complete" || len(got.Forms) != 5 || !got.Forms[0].Caller || got.Forms[0].Version != "0.1" {
				t.Errorf("%s: %+v", what, got)
				continue
			}
			for _, f := range got.Forms {
				if f.Problem != "" || !strings.Contains(f.Body, "hello") || len(f.Answers) == 0 {
					t.Errorf("%s: as %s %s: %+v", what, f.Version, f.Binding, f)
				}
			}
		}
	}
}

// TestTryIsACall: what is refused is refused as anybody's is, is on record under the
// caller's name, and what the operator did under the operator's.
func TestTryIsACall(t *testing.T) {
	t.Parallel()
	s := newWorkshop(t, plain, "policy: {rules: [{name: alices, effect: allow, subjects: [alice]}]}\n")
	a := trials.Attempt{Agent: "modern", Version: "1.0", Binding: "JSONRPC", Method: "SendMessage", Params: []byte(fmt.Sprintf(trialText10, "hello"))}
	if got := s.try(&a); got.Status != http.StatusUnauthorized || !strings.Contains(got.Received, "Www-Authenticate") && !strings.Contains(got.Received, "WWW-Authenticate") {
		t.Errorf("without a credential: %d %s", got.Status, got.Received)
	}
	a.Bearer = bearer(s.token("bob"))
	if got := s.try(&a); got.Status != http.StatusNotFound {
		t.Errorf("bob, who is not told that it is there: %d %s", got.Status, got.Received)
	}
	a.Bearer = bearer(s.token("alice"))
	a.Params = []byte(`{"message":7}`)
	if got := s.try(&a); !strings.Contains(got.Received, "-32602") || got.Forms[1].Problem == "" {
		t.Errorf("no message: %s, %+v", got.Received, got.Forms)
	}
	a.Params = []byte(fmt.Sprintf(trialText10, "hello"))
	if got := s.try(&a); got.Status != http.StatusOK {
		t.Errorf("alice: %d %s", got.Status, got.Received)
	}
	files, _ := filepath.Glob(filepath.Join(s.dir, "audit", "*"))
	var records strings.Builder
	for _, path := range files {
		data, _ := os.ReadFile(path)
		records.Write(data)
	}
	for _, want := range []string{`"event":"call.tried"`, `"who":"admin-token"`, `"principal":"alice"`, `"user_agent":"a2a-gateway-console"`} {
		if !strings.Contains(records.String(), want) {
			t.Errorf("no record has %s", want)
		}
	}
	if strings.Contains(records.String()+s.log.String(), a.Bearer) {
		t.Error("a credential is in the log")
	}
}

// TestTryRefuses: what makes no call is told from one that fails.
func TestTryRefuses(t *testing.T) {
	t.Parallel()
	s := newWorkshop(t, plain, openPolicy)
	good := trials.Attempt{Agent: "modern", Version: "1.0", Binding: "JSONRPC", Method: "SendMessage"}
	for _, tt := range []struct {
		change func(*trials.Attempt)
		want   string
	}{
		{func(a *trials.Attempt) { a.Agent = "never" }, `agent: there is no agent`},
		{func(a *trials.Attempt) { a.Version, a.Binding = "0.1", "HTTP+JSON" }, `binding: A2A 0.1 has JSONRPC alone`},
		{func(a *trials.Attempt) { a.Version = "" }, `version: want 1.0, 0.3 or 0.1`},
		{func(a *trials.Attempt) { a.Version = "2.0" }, `version: want 1.0, 0.3 or 0.1`},
		{func(a *trials.Attempt) { a.Version, a.Method = "0.1", "ListTasks" }, `method: A2A 0.1 has no ListTasks`},
		{func(a *trials.Attempt) { a.Binding = "SOAP" }, `binding: want JSONRPC, HTTP+JSON or GRPC`},
		{func(a *trials.Attempt) { a.Binding = "" }, `binding: want JSONRPC, HTTP+JSON or GRPC`},
		{func(a *trials.Attempt) {
			a.Binding, a.Version, a.Params = "GRPC", "0.3", []byte(fmt.Sprintf(trialText03, "hello"))
		}, `binding: A2A 0.3 over gRPC names no agent`},
		{func(a *trials.Attempt) { a.Binding, a.Params = "GRPC", []byte(`{"message":7}`) }, `params: they make no request`},
		{func(a *trials.Attempt) { a.Method = "message/send" }, `method: A2A has no`},
		{func(a *trials.Attempt) { a.Version, a.Method = "0.3", "ListTasks" }, `method: A2A 0.3 has no ListTasks`},
		{func(a *trials.Attempt) { a.Binding, a.Params = "HTTP+JSON", []byte(`{"message":7}`) }, `params: they make no request`},
		{func(a *trials.Attempt) { a.Bearer = "a\r\nX: y" }, `bearer: want printable ASCII`},
		{func(a *trials.Attempt) { a.Extensions = []string{"urn:\n"} }, `extensions: want printable ASCII`},
		{func(a *trials.Attempt) { a.APIKey, a.Bearer = "a", "b" }, `bearer: there is an API key already`},
	} {
		a := good
		tt.change(&a)
		if status, body := s.post(&a); status != http.StatusBadRequest || !strings.Contains(body, `"INVALID_CALL"`) || !strings.Contains(body, tt.want) {
			t.Errorf("%+v: %d %s, want %s", a, status, body, tt.want)
		}
	}
}

// endless is an agent whose streams have one event, large where the message says so, and then
// go on until the caller leaves, which left is told of.
func endless(t *testing.T) (agent *httptest.Server, left chan struct{}) {
	left = make(chan struct{}, 10)
	agent = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/card" {
			rw.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(rw, `{"name":"Endless","description":"Goes on.","version":"1","supportedInterfaces":[{"url":"%s/rpc","protocolBinding":"JSONRPC",`+
				`"protocolVersion":"1.0"}],"capabilities":{"streaming":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],`+
				`"skills":[{"id":"go","name":"Go","description":"Goes on.","tags":["x"]}]}`, agent.URL)
			return
		}
		body, _ := io.ReadAll(r.Body)
		var call struct {
			ID jsontext.Value `json:"id"`
		}
		if err := json.Unmarshal(body, &call); err != nil {
			http.Error(rw, err.Error(), http.StatusBadRequest)
			return
		}
		rw.Header().Set("Content-Type", "text/event-stream")
		said := "small"
		if strings.Contains(string(body), "large") {
			said = strings.Repeat("x", 200<<10)
		}
		if _, rest, ok := strings.Cut(string(body), "echo "); ok {
			said, _, _ = strings.Cut(rest, `"`)
		}
		_, _ = fmt.Fprintf(rw, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"task\":{\"id\":\"t-%d\",\"contextId\":\"c-1\",\"status\":{\"state\":"+
			"\"TASK_STATE_WORKING\",\"message\":{\"messageId\":\"a-1\",\"role\":\"ROLE_AGENT\",\"parts\":[{\"text\":%q}]}}}}}\n\n", call.ID, time.Now().UnixNano(), said)
		_ = http.NewResponseController(rw).Flush()
		<-r.Context().Done()
		left <- struct{}{}
	}))
	t.Cleanup(agent.Close)
	return agent, left
}

// newEndless is a gateway in front of such an agent, which tells the agent at once that the
// last client has gone.
func newEndless(t *testing.T, try string) (s *workshop, left chan struct{}) {
	t.Helper()
	w := newWorld(t)
	agent, left := endless(t)
	g := w.start(w.yaml(plain, openPolicy+fmt.Sprintf(`streams: {linger: 0s}
agents: [{id: endless, card: "%s/card"}]
admin: {address: "127.0.0.1:0", try: {%s}}
`, agent.URL, try)))
	s = &workshop{world: w, admin: adminOf(t, w.dir), url: g.AdminURL() + "/api/v1/"}
	s.admin.Set("Content-Type", "application/json")
	eventually(t, "there is a card", func() bool {
		_, body := fetch(t, s.url+"cards/endless", s.admin)
		return strings.Contains(body, `"accepted"`)
	})
	return s, left
}

// TestTryEnds: a stream that goes on is shown as far as the time and the size for it reach.
func TestTryEnds(t *testing.T) {
	t.Parallel()
	s, _ := newEndless(t, "timeout: 1s, answer: 64KiB")
	a := trials.Attempt{Agent: "endless", Version: "1.0", Binding: "JSONRPC", Method: "SendStreamingMessage", Bearer: bearer(s.token("alice"))}
	for text, want := range map[string]string{"small": "admin.try.timeout", "large": "admin.try.answer"} {
		a.Params = []byte(fmt.Sprintf(trialText10, text))
		var got *trials.Trial
		// On a busy machine the second may be over before anything of the answer has come.
		eventually(t, "the agent is there, and answers", func() bool { got = s.try(&a); return got.Status == http.StatusOK && len(got.Pieces) > 0 })
		size := 0
		for _, p := range got.Pieces {
			size += len(p.Text)
		}
		if got.Ended != want || got.Failure != "" || size == 0 || size > 64<<10 {
			t.Errorf("%s: %s, %s, %d bytes", text, got.Ended, got.Failure, size)
		}
	}
}

// watch begins a call that is shown as it goes on, until the test leaves.
func (s *workshop) watch(a *trials.Attempt) (next func() (name, data string), leave func()) {
	s.t.Helper()
	doc, err := json.Marshal(a)
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, leave := context.WithCancel(s.t.Context())
	s.t.Cleanup(leave)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"try", strings.NewReader(string(doc)))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header = s.admin.Clone()
	r.Header.Set("Accept", "text/event-stream")
	resp, err := client(s.t).Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(resp.Body)
		s.t.Fatalf("%d %s", resp.StatusCode, body)
	}
	stream := eventstream.NewReader(resp.Body, 8<<20)
	return func() (string, string) {
		s.t.Helper()
		for {
			e, err := stream.Next()
			if err != nil {
				s.t.Fatal(err)
			}
			if !e.Comment {
				return e.Name, string(e.Data)
			}
		}
	}, leave
}

// TestTryShowsWhatComes: the first event of an agent is shown while its stream is open, in
// each binding; who leaves ends the call, which the agent notices; the credential is shown
// nowhere, even where the agent repeats it.
func TestTryShowsWhatComes(t *testing.T) {
	t.Parallel()
	s, left := newEndless(t, "answer: 64KiB")
	token := bearer(s.token("alice"))
	for _, binding := range []string{"JSONRPC", "HTTP+JSON", "GRPC"} {
		next, leave := s.watch(&trials.Attempt{
			Agent: "endless", Version: "1.0", Binding: binding, Method: "SendStreamingMessage", Bearer: token, Params: []byte(fmt.Sprintf(trialText10, "echo "+token)),
		})
		name, sent := next()
		if name != "sent" || !strings.Contains(sent, "[redacted]") || strings.Contains(sent, token) {
			t.Errorf("%s: %s %s", binding, name, sent)
		}
		if name, head := next(); name != "head" || !strings.Contains(head, `"status":200,"request":"`) {
			t.Errorf("%s: %s %s", binding, name, head)
		}
		name, piece := next() // the agent has not ended
		if name != "piece" || !strings.Contains(piece, "TASK_STATE_WORKING") || !strings.Contains(piece, "[redacted]") || strings.Contains(piece, token) {
			t.Errorf("%s: %s %s", binding, name, piece)
		}
		select {
		case <-left:
			t.Errorf("%s: the call has ended by itself", binding)
		default:
		}
		leave()
		select {
		case <-left:
		case <-time.After(10 * time.Second):
			t.Errorf("%s: the agent's stream goes on", binding)
		}
	}
	if strings.Contains(s.log.String(), token) {
		t.Error("the credential is in the log")
	}
}

// TestTryStreamEnds: a stream ends with its own time, and with as much of an answer as is
// shown; the last event has all of it.
func TestTryStreamEnds(t *testing.T) {
	t.Parallel()
	s, left := newEndless(t, "timeout: 1s, streamTimeout: 2s, answer: 64KiB")
	a := trials.Attempt{Agent: "endless", Version: "1.0", Binding: "JSONRPC", Method: "SendStreamingMessage", Bearer: bearer(s.token("alice"))}
	for text, want := range map[string]string{"small": "admin.try.streamTimeout", "large": "admin.try.answer"} {
		a.Params = []byte(fmt.Sprintf(trialText10, text))
		next, _ := s.watch(&a)
		var pieces []trials.Piece
		for {
			name, data := next()
			if name == "piece" {
				var p trials.Piece
				if err := json.Unmarshal([]byte(data), &p); err != nil {
					t.Fatal(err)
				}
				pieces = append(pieces, p)
			}
			if name != "trial" {
				continue
			}
			var got trials.Trial
			if err := json.Unmarshal([]byte(data), &got); err != nil {
				t.Fatal(err)
			}
			if got.Ended != want || got.Status != http.StatusOK || !slices.Equal(got.Pieces, pieces) || len(pieces) == 0 {
				t.Errorf("%s: %s, %d, %d pieces of %d", text, got.Ended, got.Status, len(got.Pieces), len(pieces))
			}
			if want == "admin.try.streamTimeout" && got.Took < 1900 {
				t.Errorf("it ended after %v ms", got.Took)
			}
			break
		}
		select {
		case <-left:
		case <-time.After(10 * time.Second):
			t.Errorf("%s: the agent's stream goes on", text)
		}
	}
}

func bearer(h http.Header) string { return strings.TrimPrefix(h.Get("Authorization"), "Bearer ") }
