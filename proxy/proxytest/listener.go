package proxytest

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
)

// Listener is a client's open stream.
type Listener struct {
	*Gateway
	Resp *http.Response
	In   *bufio.Reader
	Last string // id of the event it had last
}

// Listen opens a stream with a call of version 1.0.
func (w *Gateway) Listen(who, method, params string, header ...string) *Listener {
	w.Helper()
	resp, err := w.Client.Do(w.Request(who, "POST", "", RPCBody(method, params), append(header, "A2A-Version: 1.0")...))
	Must(w, err)
	l := &Listener{Gateway: w, Resp: resp, In: bufio.NewReader(resp.Body)}
	w.Cleanup(l.Leave)
	return l
}

// Leave breaks the client's connection.
func (l *Listener) Leave() { _ = l.Resp.Body.Close() }

// Next is the next event in short: the state, the text of chunks, or the reason of an
// error; "" at the end of the stream.
func (l *Listener) Next() string {
	l.Helper()
	for {
		line, err := l.In.ReadString('\n')
		if err != nil {
			return ""
		}
		line = strings.TrimSuffix(line, "\n")
		if id, ok := strings.CutPrefix(line, "id:"); ok {
			l.Last = strings.TrimPrefix(id, " ")
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			return short(l, data)
		}
	}
}

func short(t *Listener, data string) string {
	t.Helper()
	type status struct {
		State string `json:"state"`
	}
	type artifact struct {
		Parts []struct {
			Text string `json:"text"`
		} `json:"parts"`
	}
	var e struct {
		Result struct {
			Task *struct {
				Status    status     `json:"status"`
				Artifacts []artifact `json:"artifacts"`
			} `json:"task"`
			Status *struct {
				Status status `json:"status"`
			} `json:"statusUpdate"`
			Artifact *struct {
				Artifact artifact `json:"artifact"`
			} `json:"artifactUpdate"`
		} `json:"result"`
		Error *struct {
			Code int `json:"code"`
		} `json:"error"`
	}
	Must(t, json.Unmarshal([]byte(data), &e))
	text := func(as ...artifact) (s string) {
		for _, a := range as {
			for _, p := range a.Parts {
				s += p.Text
			}
		}
		return s
	}
	state := func(s status) string { return strings.ToLower(strings.TrimPrefix(s.State, "TASK_STATE_")) }
	switch r := e.Result; {
	case e.Error != nil:
		return fmt.Sprintf("error %d", e.Error.Code)
	case r.Task != nil:
		return "task " + state(r.Task.Status) + " " + text(r.Task.Artifacts...)
	case r.Status != nil:
		return state(r.Status.Status)
	case r.Artifact != nil:
		return "+" + text(r.Artifact.Artifact)
	}
	return data
}

// Hears reads events until all of want have come.
func (l *Listener) Hears(want ...string) {
	l.Helper()
	for i, w := range want {
		if got := l.Next(); got != w {
			l.Fatalf("event %d is %q, want %q of %q; %v", i+1, got, w, want, l.Audited("call"))
		}
	}
}

// Data is the next event as it came; "" at the end.
func (l *Listener) Data() string {
	l.Helper()
	for {
		line, err := l.In.ReadString('\n')
		if err != nil {
			return ""
		}
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			l.Last = strings.TrimSpace(id)
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			return strings.TrimSpace(data)
		}
	}
}
