package strict

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// startNode runs a server on Node's parser and returns its address.
func startNode(t *testing.T) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		testenv.Missing(t, "node is not installed")
	}
	cmd := exec.Command(node, "testdata/llhttp.cjs")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close() // it ends by itself then
		_ = cmd.Wait()
	})
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return net.JoinHostPort("127.0.0.1", strings.TrimSpace(port))
}

// asNode is what Node reads of the bytes, until it refuses one request or closes the
// connection after the last.
func asNode(t *rapid.T, address, sent string) (all []seen, refused bool) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	_, _ = io.WriteString(c, sent) // it may refuse and close before it has been told everything
	for br := bufio.NewReader(c); ; {
		resp, err := http.ReadResponse(br, nil)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			t.Fatalf("%q: node waits for more after %v", sent, all)
		case err != nil:
			return all, false
		case resp.StatusCode != http.StatusOK:
			return all, true
		}
		var said []string
		if err := json.NewDecoder(resp.Body).Decode(&said); err != nil || len(said) != 3 {
			t.Fatalf("%q: node answers %q, %v", sent, said, err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		body, err := base64.StdEncoding.DecodeString(said[2])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, seen{method: said[0], target: said[1], body: string(body)})
	}
}

// TestL17_NodeAgrees: what passes here is read by Node's parser as the same requests,
// with the same bodies, as by net/http; or Node refuses it. Requests are in order at
// first, and then a few bytes of them are not.
func TestL17_NodeAgrees(t *testing.T) {
	testenv.Long(t, "too few of the requests that rapid draws then are compared")
	t.Parallel()
	address := startNode(t)
	compared := 0
	rapid.Check(t, func(t *rapid.T) {
		var data []byte
		for range rapid.IntRange(1, 3).Draw(t, "requests") {
			text, _ := message(t)
			_, rest, _ := strings.Cut(text, " ")
			rest = strings.Replace(rest, "HTTP/1.0\r\n", "HTTP/1.1\r\n", 1) // after the other one, connections end
			data = append(data, rapid.SampledFrom([]string{"GET ", "POST ", "PUT "}).Draw(t, "verb")+rest...)
		}
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			at := rapid.IntRange(0, len(data)-1).Draw(t, "at")
			with := rapid.SampledFrom([]string{"\r", "\n", "\r\n", " ", "\t", ":", ";", ",", "0", "1", "a", "\x00", "\x0b", "\x7f", "\xff"}).Draw(t, "with")
			data = append(data[:at:at], append([]byte(with), data[at+rapid.IntRange(0, 1).Draw(t, "replaces"):]...)...)
		}
		sent := string(data) + "GET /end HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
		ours := read([]string{sent})
		if _, broken := passed(t, []string{sent}, false); broken != "" || len(ours) == 0 || ours[len(ours)-1].target != "/end" {
			return // nobody else is asked
		}
		compared++
		theirs, refused := asNode(t, address, sent)
		if len(theirs) != len(ours) && !refused {
			t.Fatalf("%q: node reads %v, net/http %v", sent, theirs, ours)
		}
		for i, got := range theirs {
			want := seen{method: ours[i].method, target: ours[i].target, body: ours[i].body}
			if got != want {
				t.Fatalf("%q: node reads %v, net/http %v", sent, got, want)
			}
		}
	})
	if compared < 20 {
		t.Errorf("only %d were compared", compared)
	}
}
