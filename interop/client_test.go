package interop_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// outcome is one operation as a client program prints it.
type outcome struct {
	Operation string   `json:"operation"`
	Ticks     bool     `json:"ticks"`
	Lines     []string `json:"lines"`
}

// client is an SDK's client of one side.
type client struct {
	id   string // "js-v1-grpc"
	name string // of the SDK
	side side
	run  func(t *testing.T, base string, headers map[string]string) []outcome
}

// clients are the clients of an SDK, which share a process.
func clients(t *testing.T, s sdk) []client {
	t.Helper()
	w := &worker{command: s.client}
	t.Cleanup(w.stop)
	var all []client
	for _, side := range s.sides {
		c := client{id: s.id + "-" + side.id(), name: s.name, side: side}
		c.run = func(t *testing.T, base string, headers map[string]string) []outcome {
			t.Helper()
			if headers == nil {
				headers = map[string]string{}
			}
			return read(t, c, w.run(t, job{Base: base, Binding: side.binding, Headers: headers}))
		}
		all = append(all, c)
	}
	return all
}

func read(t *testing.T, c client, lines [][]byte) []outcome {
	t.Helper()
	var outcomes []outcome
	for _, line := range lines {
		var o outcome
		if err := json.Unmarshal(line, &o); err != nil {
			t.Fatalf("%s printed %q: %v", c.id, line, err)
		}
		if len(o.Lines) > 0 { // what this version of the protocol does not have is empty
			outcomes = append(outcomes, o)
		}
	}
	if len(outcomes) < 15 {
		t.Fatalf("%s did %d operations only", c.id, len(outcomes))
	}
	return outcomes
}

// goSDK names the Go SDK, and our own of 0.1.
const goSDK = "a2a-go"

// goClients are clients of the Go SDK, one for each side, by the same interface;
// 0.1 has no SDK, its client is gatewaytest's own.
func goClients() map[side]client {
	all := map[side]client{}
	for _, s := range sides() {
		c := client{id: "go-v" + strings.Replace(s.version, ".", "", 1) + "-" + s.id(), name: goSDK, side: s}
		kind := gatewaytest.Go10
		if s.version == "0.1" {
			kind = gatewaytest.Hand01
		}
		c.run = func(t *testing.T, base string, headers map[string]string) []outcome {
			t.Helper()
			header := http.Header{}
			for name, value := range headers {
				header.Set(name, value)
			}
			sdk, _ := gatewaytest.Dial(t, kind, gatewaytest.HTTPClient(t, header, nil), base,
				a2a.ProtocolVersion(s.version), a2a.TransportProtocol(s.binding))
			return converse(t, sdk, s)
		}
		all[s] = c
	}
	return all
}
