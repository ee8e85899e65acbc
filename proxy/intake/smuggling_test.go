package intake_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// TestL17_SmuggledCalls: a call that is hidden in or behind another one's body, for who
// reads that body's end somewhere else, reaches no agent, and neither does the call that
// hid it. Where nothing is ambiguous, what looks like a call inside of a body is text.
func TestL17_SmuggledCalls(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	call := proxytest.RPCBody("SendMessage", proxytest.Message(""))
	head := func(lines ...string) string {
		return w.Head("POST /agents/rec HTTP/1.1", append(lines, "A2A-Version: 1.0", "Content-Type: application/json")...)
	}
	size := func(body string) string { return fmt.Sprint("Content-Length: ", len(body)) }
	hidden := head(size(call)) + call
	chunk := func(data string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(data), data) }
	const chunked = "Transfer-Encoding: chunked"
	for name, sent := range map[string]string{
		"CL.TE":                head(size(chunk(call)+"0\r\n\r\n"+hidden), chunked) + chunk(call) + "0\r\n\r\n" + hidden,
		"TE.CL":                head(chunked, "Content-Length: 4") + chunk(hidden) + "0\r\n\r\n",
		"TE.TE":                head(chunked, "Transfer-Encoding: identity") + chunk(call) + "0\r\n\r\n" + hidden,
		"CL.CL":                head(size(call), size(call+hidden)) + call + hidden,
		"CL.CL, the same":      head(size(call), size(call)) + call + hidden,
		"0.CL":                 head("Content-Length : 0", size(call)) + call + hidden,
		"space in the name":    head("Transfer-Encoding : chunked") + chunk(call) + "0\r\n\r\n" + hidden,
		"folded":               head("Transfer-Encoding:\r\n chunked") + chunk(call) + "0\r\n\r\n" + hidden,
		"bare LF":              head("X-A: b\nTransfer-Encoding: chunked") + chunk(call) + "0\r\n\r\n" + hidden,
		"bare CR":              head("X-A: b\rTransfer-Encoding: chunked", size(call)) + call + hidden,
		"extension":            head(chunked) + "1;\n" + chunk(call) + "0\r\n\r\n" + hidden,
		"extension at the end": head(chunked) + chunk(call) + "0;a=b\r\n\r\n" + hidden,
		"long size":            head(chunked) + "1" + strings.Repeat("0", 16) + chunk(call)[2:] + "0\r\n\r\n" + hidden,
		"LF behind a size":     head(chunked) + strings.Replace(chunk(call), "\r\n", "\n", 1) + "0\r\n\r\n" + hidden,
		"trailers":             head(chunked) + chunk(call) + "0\r\nContent-Length : 5\r\n\r\n" + hidden,
		"HTTP/1.0":             strings.Replace(head(chunked), "1.1", "1.0", 1) + chunk(call) + "0\r\n\r\n" + hidden,
	} {
		got := w.Raw(sent)
		proxytest.WantStatus(t, name, got, 400)
		w.Agent.Silent(t, name)
	}
	text := proxytest.RPCBody("SendMessage", proxytest.Message(fmt.Sprintf(`,"metadata":{"x":%q}`, hidden)))
	proxytest.WantStatus(t, "text", w.Raw(head(size(text))+text), 200)
	if seen := w.Agent.One(t); string(seen.Content) != text {
		t.Errorf("the agent saw %s", seen.Content)
	}
}
