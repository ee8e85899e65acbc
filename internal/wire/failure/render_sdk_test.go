package failure_test

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/failure"
)

// refuseAll answers every call with e, decoding it as far as it takes to know its
// shape; after says that the stream has begun when it happens.
func refuseAll(b wire.Binding, v wire.Version, e *wire.Error, after bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &wire.Call{Binding: b, Version: v, ID: []byte(`"1"`), Accept: r.Header.Get("Accept")}
		c.Streaming = strings.Contains(c.Accept, "text/event-stream")
		if after && c.Streaming {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write(failure.Event(c, e))
			return
		}
		failure.Write(w, c, e)
	})
}

// sdkClient is the Go SDK's transport for a binding and version.
func sdkClient(t *testing.T, b wire.Binding, v wire.Version, target string) a2aclient.Transport {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	switch {
	case b == wire.JSONRPC && v == wire.V10:
		return a2aclient.NewJSONRPCTransport(target, client)
	case b == wire.JSONRPC:
		return a2av0.NewJSONRPCTransport(a2av0.JSONRPCTransportConfig{URL: target, Client: client})
	case v == wire.V10:
		return a2aclient.NewRESTTransport(u, client)
	}
	rest, err := a2av0.NewRESTTransport(a2av0.RESTTransportConfig{URL: target, Client: client})
	if err != nil {
		t.Fatal(err)
	}
	return rest
}

// firstError is the first error of a stream; a stream that ends without one lost it.
func firstError(events iter.Seq2[a2a.Event, error]) error {
	for _, err := range events {
		if err != nil {
			return err
		}
	}
	return errors.New("the stream ended without an error")
}

// TestErrorsReachGoClients: the Go SDK's clients of both versions and bindings
// recognise what Write and Event write, on unary calls, on streaming
// calls before the first event, and within a stream.
func TestErrorsReachGoClients(t *testing.T) {
	t.Parallel()
	kinds := map[*wire.Kind]error{
		wire.TaskNotFound:  a2a.ErrTaskNotFound,
		wire.NotCancelable: a2a.ErrTaskNotCancelable,
		wire.Unsupported:   a2a.ErrUnsupportedOperation,
		wire.InvalidParams: a2a.ErrInvalidParams,
	}
	msg := &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("go"))}
	for _, b := range []wire.Binding{wire.JSONRPC, wire.HTTPJSON} {
		for _, v := range []wire.Version{wire.V10, wire.V03} {
			for kind, want := range kinds {
				t.Run(b.String()+" "+string(v)+" "+kind.Reason, func(t *testing.T) {
					t.Parallel()
					ctx := context.Background()
					for _, after := range []bool{false, true} {
						srv := httptest.NewServer(refuseAll(b, v, wire.Errorf(kind, ""), after))
						t.Cleanup(srv.Close)
						c := sdkClient(t, b, v, srv.URL)
						if _, err := c.SendMessage(ctx, nil, msg); !errors.Is(err, want) {
							t.Errorf("unary: %v, want %v", err, want)
						}
						if err := firstError(c.SendStreamingMessage(ctx, nil, msg)); !errors.Is(err, want) {
							t.Errorf("streaming, stream begun %v: %v, want %v", after, err, want)
						}
					}
				})
			}
		}
	}
}
