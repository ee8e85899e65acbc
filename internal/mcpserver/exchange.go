//go:build !minimal

package mcpserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/sse"
)

// fault is an A2A error: what the gateway or the agent says in the place of a result.
type fault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    []struct {
		Reason string `json:"reason"`
	} `json:"data"`
}

// Error implements error.
func (f *fault) Error() string { return f.Message }

// reason is the word for the error in docs/errors.md; "" for one of an agent's own.
func (f *fault) reason() string {
	for _, d := range f.Data {
		if d.Reason != "" {
			return d.Reason
		}
	}
	return ""
}

// response is one of JSON-RPC.
type response struct {
	Result jsontext.Value `json:"result"`
	Error  *fault         `json:"error"`
}

// errBroken is for an answer that ended before it was one.
var errBroken = errors.New("the answer broke off")

// exchange makes a call of A2A 1.0 and gives its result, or each event of its stream, until next says
// to stop. It returns when nothing of the call is left.
func (v *visit) exchange(ctx context.Context, agent, skill, method string, params any, next func(result jsontext.Value) (more bool, err error)) error {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return fmt.Errorf("write the call: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	read, write := io.Pipe()
	w := &answerWriter{header: http.Header{}, begun: make(chan struct{}), pipe: write}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer w.end()
		v.Call(ctx, w, agent, skill, body)
	}()
	defer func() {
		cancel()
		_ = read.Close() // never fails
		<-ended
	}()
	<-w.begun
	if !w.stream {
		answer, err := io.ReadAll(read) // within server.limits.answer
		if err != nil {
			return errBroken
		}
		_, err = deliver(answer, next)
		return err
	}
	events := sse.NewReader(read, int(v.Proxy.Server.Limits.Answer))
	for {
		event, err := events.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return errBroken
		case !event.HasData || event.Comment:
			continue
		}
		more, err := deliver(bytes.Clone(event.Data), next)
		switch {
		case err != nil:
			return err
		case !more:
			// The stream ends by itself nearly always. To hang up would be on record as a client that was lost.
			defer time.AfterFunc(farewell, cancel).Stop()
			_, _ = io.Copy(io.Discard, read) // nothing of it is of interest
			return nil
		}
	}
}

// farewell is how long a stream may take to end after what was waited for.
const farewell = 200 * time.Millisecond

// deliver reads a response and gives its result on.
func deliver(text []byte, next func(jsontext.Value) (bool, error)) (more bool, err error) {
	var r response
	switch {
	case json.Unmarshal(text, &r) != nil:
		return false, errBroken
	case r.Error != nil:
		return false, r.Error
	}
	return next(r.Result)
}

// answerWriter is the response of a call in the same process: what is written to it is read from the
// other end of the pipe, as fast as it is read there.
type answerWriter struct {
	header http.Header
	once   sync.Once
	begun  chan struct{} // closed with the header
	stream bool          // the answer is an event stream; known with the header
	pipe   *io.PipeWriter
}

// Header implements http.ResponseWriter.
func (w *answerWriter) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter. The reader never looks at the header, which is the
// writer's.
func (w *answerWriter) WriteHeader(int) {
	w.once.Do(func() {
		w.stream = strings.HasPrefix(w.header.Get("Content-Type"), "text/event-stream")
		close(w.begun)
	})
}

// Write implements io.Writer.
func (w *answerWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.pipe.Write(b)
}

// Flush implements http.Flusher: nothing is held back.
func (w *answerWriter) Flush() { w.WriteHeader(http.StatusOK) }

// end says that nothing more comes. What cuts off a connection (http.ErrAbortHandler) is a panic,
// which here has none to cut off; all others the request path has dealt with.
func (w *answerWriter) end() {
	err := error(nil)
	if recover() != nil {
		err = errBroken
	}
	w.WriteHeader(http.StatusOK)
	_ = w.pipe.CloseWithError(err) // never fails
}
