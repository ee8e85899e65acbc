package gatewaytest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

const call = `{"jsonrpc":"2.0","id":12345678901234567890,"method":"GetTask","params":{"id":"t"}}`

// exchange writes a raw request and reads what comes until the other end closes
// or the request asked for that.
func exchange(t *testing.T, r *gatewaytest.Recorder, request string) string {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil && !errors.Is(err, net.ErrClosed) {
		t.Fatal(err)
	}
	return string(answer)
}

func post(body string) string {
	return "POST / HTTP/1.1\r\nhOsT: gw\r\nX-Odd:  two  spaces \r\nContent-Type: application/json\r\n" +
		"Transfer-Encoding: chunked\r\n\r\n" + chunks(body) + "0\r\n\r\n"
}

func chunks(body string) string {
	half := len(body) / 2
	return hex(half) + "\r\n" + body[:half] + "\r\n" + hex(len(body)-half) + "\r\n" + body[half:] + "\r\n"
}

func hex(n int) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[n/16], digits[n%16]})
}

func TestRecorderKeepsBytes(t *testing.T) {
	t.Parallel()
	r := gatewaytest.NewRecorder(t, "1.0")
	answer := exchange(t, r, post(call))
	if want := `{"jsonrpc":"2.0","id":12345678901234567890,"result":{}}`; !strings.HasSuffix(answer, want) {
		t.Errorf("answer is %q", answer)
	}
	got := r.Wait(t, t.Context(), 1)[0]
	if diff := cmp.Diff(post(call), string(got.Raw)); diff != "" {
		t.Errorf("raw (-want +got):\n%s", diff)
	}
	if string(got.Body) != call || !bytes.HasSuffix(got.Head, []byte("\r\n\r\n")) || got.Host != "gw" {
		t.Errorf("recorded %q, host %q", got.Body, got.Host)
	}
	exchange(t, r, "GARBAGE\x00\r\n\r\n")
	if all := r.Requests(); len(all) != 2 || !strings.HasPrefix(string(all[1].Raw), "GARBAGE") {
		t.Errorf("what does not parse was not recorded: %d requests", len(all))
	}
	r.Reset()
	if len(r.Requests()) != 0 || r.Dials() != 2 {
		t.Errorf("after reset: %d requests, %d dials", len(r.Requests()), r.Dials())
	}
}

func TestReplies(t *testing.T) {
	t.Parallel()
	next := make(chan struct{}, 1)
	next <- struct{}{}
	close(next)
	tests := []struct {
		name   string
		reply  gatewaytest.Reply
		want   []string // parts of the answer, in order
		absent string
	}{
		{name: "failure", reply: gatewaytest.Failure(-32001, "gone"), want: []string{`"code":-32001`}},
		{name: "HTML", reply: gatewaytest.HTML(502), want: []string{"HTTP/1.1 502", "text/html", "<h1>"}},
		{name: "wrong id", reply: gatewaytest.WrongID("1"), want: []string{`"id":"another"`}},
		{name: "nothing", reply: gatewaytest.CloseEarly(), absent: "HTTP"},
		{name: "truncated", reply: gatewaytest.Truncated(), want: []string{"Length: 1000", `{"jsonrpc"`}},
		{name: "evil", reply: gatewaytest.EvilHeaders("1"), want: []string{"Set-Cookie", "Connection: X-Secret"}},
		{
			name: "two", reply: gatewaytest.TwoResponses("1", "2"),
			want: []string{`"result":1}`, "HTTP/1.1", `"result":2}`},
		},
		{
			name: "events", reply: gatewaytest.Events("data: %ID%\n\n", "data: b\n\n"),
			want: []string{"event-stream", "data: 12345678901234567890", "data: b", "\r\n0\r\n\r\n"},
		},
		{
			name: "events cut", reply: gatewaytest.EventsThenClose("data: a\n\n"),
			want: []string{"data: a"}, absent: "\r\n0\r\n",
		},
		{
			name: "gated", reply: gatewaytest.Gated(next, "data: a\n\n", "data: b\n\n", "data: c\n\n"),
			want: []string{"data: a", "data: b", "\r\n0\r\n"}, absent: "data: c",
		},
		{name: "hang", reply: gatewaytest.Hang(), absent: "HTTP"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := gatewaytest.NewRecorder(t, "0.3", tt.reply)
			answer := exchange(t, r, post(call))
			if tt.absent != "" && strings.Contains(answer, tt.absent) {
				t.Errorf("answer has %q: %q", tt.absent, answer)
			}
			rest := answer
			for _, part := range tt.want {
				_, after, found := strings.Cut(rest, part)
				if !found {
					t.Fatalf("no %q in order in %q", part, answer)
				}
				rest = after
			}
		})
	}
}

// The SDK reads the recorder's cards.
func TestRecorderCard(t *testing.T) {
	t.Parallel()
	for _, version := range []a2a.ProtocolVersion{"1.0", "0.3"} {
		for _, binding := range []a2a.TransportProtocol{
			a2a.TransportProtocolJSONRPC, a2a.TransportProtocolHTTPJSON,
		} {
			r := gatewaytest.NewRecorder(t, string(version), gatewaytest.Document(200, "application/json", "{}"))
			client, card := gatewaytest.Dial(t, gatewaytest.Go10,
				gatewaytest.HTTPClient(t, http.Header{"X-Api-Key": {"k"}}, nil), r.URL, version, binding)
			if len(card.Skills) != 2 {
				t.Errorf("%s: card has skills %v", version, card.Skills)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			_, _ = client.GetTask(ctx, &a2a.GetTaskRequest{ID: "t"})
			cancel()
			if got := r.Requests(); len(got) != 1 || got[0].Header.Get("X-Api-Key") != "k" {
				t.Errorf("%s %s: the call did not arrive with its credential: %v", version, binding, got)
			}
		}
	}
}
