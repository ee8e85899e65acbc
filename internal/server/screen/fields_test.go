package screen

import (
	"bufio"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// FuzzRequestFields: of fields that net/http has read, those pass of which no name is two
// to a backend that spells it otherwise, of which none is there twice that decides
// something, and which make no proxy drop or change any of the others.
func FuzzRequestFields(f *testing.F) {
	for _, seed := range []string{
		"Connection: close, keep-alive\r\n", "Connection: A2A-Extensions\r\n", "connection: close\r\nConnection: X-A\r\n",
		"X_Forwarded_For: 1\r\n", "X.Y: 1\r\n", "Content-Type: a\r\ncontent-type: b\r\n", "Expect: 100-continue, x\r\n",
		"Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\nConnection: Upgrade, HTTP2-Settings\r\n", "Upgrade: websocket\r\n",
		"Connection: upgrade\r\n", "TE: trailers\r\nConnection: te\r\n", "Connection: x-tenant\r\nX-Tenant: a\r\n",
		"Connection: connection, authorization\r\nAuthorization: Bearer a\r\n", "Connection: X-B\r\nX-B: 1\r\nx-b: 2\r\n",
		"Connection: upgrade authorization\r\n", "Connection: ,,Keep-Alive,\r\nKeep-Alive: timeout=5\r\n",
		"Content-Encoding: identity,\tgzip\r\n", "Trailer: X_A\r\nTransfer-Encoding: chunked\r\n", "A2A-Version: 1.0\r\nA2A-Version: 0.3\r\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, lines string) {
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader("POST / HTTP/1.1\r\nHost: localhost\r\n" + lines + "\r\n")))
		if err != nil || checkFields(r, 10, []string{"X-Tenant"}) != nil {
			return
		}
		count := 0
		for name, values := range r.Header {
			count += len(values)
			if strings.ContainsAny(name, "_.") || len(values) > 1 && isSingleton(name) {
				t.Errorf("%q: %q", name, values)
			}
			for _, token := range tokens(values) {
				want := map[string][]string{"Expect": {"100-continue"}, "Content-Encoding": {"identity"}}[name]
				if want != nil && !slices.Contains(want, token) {
					t.Errorf("%q says %q", name, token)
				}
				if name == "Connection" && token != "close" && token != "keep-alive" && (r.Header.Values(token) != nil || decisive(token)) {
					t.Errorf("%q is named by Connection", token)
				}
			}
		}
		if count > 10 {
			t.Errorf("%d fields pass", count)
		}
	})
}

// decisive tells of some fields that nobody may have taken off.
func decisive(token string) bool {
	return slices.Contains([]string{"authorization", "x-api-key", "host", "connection", "transfer-encoding", "x-tenant"}, token) ||
		strings.HasPrefix(token, "a2a-") || strings.HasPrefix(token, "x-a2a-") || strings.HasPrefix(token, "content-")
}

// tokens are those of a list, in small letters.
func tokens(lines []string) (all []string) {
	for _, token := range strings.Split(strings.ToLower(strings.Join(lines, ",")), ",") {
		if token = strings.Trim(token, " \t"); token != "" {
			all = append(all, token)
		}
	}
	return all
}
