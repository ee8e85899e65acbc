package gatewaytest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// ear is a transport that keeps all that a client is answered, byte for byte. What
// differs from call to call by itself is left out: the date, the id of the request,
// and the JSON-RPC id that came back.
type ear struct {
	*tape

	mu    sync.Mutex // guards what follows
	heard bytes.Buffer
	ids   []string // of the JSON-RPC calls
}

// take gives what was heard since the last take.
func (e *ear) take() string {
	e.tape.take()
	e.mu.Lock()
	defer e.mu.Unlock()
	text := e.heard.String()
	for _, id := range e.ids {
		text = strings.ReplaceAll(text, id, "<call>")
	}
	e.heard.Reset()
	e.ids = nil
	return text
}

func (e *ear) hear(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	fmt.Fprintf(&e.heard, format, args...)
}

// RoundTrip implements http.RoundTripper.
func (e *ear) RoundTrip(r *http.Request) (*http.Response, error) {
	if id := callID(r); strings.HasPrefix(id, `"`) { // a number does not change
		e.mu.Lock()
		e.ids = append(e.ids, id)
		e.mu.Unlock()
	}
	resp, err := e.tape.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	e.hear("%s\n%s", resp.Status, constant(resp.Header))
	resp.Body = &heardBody{resp.Body, e}
	return resp, nil
}

// heardBody hands on what it hears.
type heardBody struct {
	io.ReadCloser
	ear *ear
}

// Read implements io.Reader.
func (b *heardBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.ear.hear("%s", p[:n])
	return n, err
}

// callID is the id of a JSON-RPC call; "" of any other.
func callID(r *http.Request) string {
	if r.GetBody == nil {
		return ""
	}
	body, err := r.GetBody()
	if err != nil {
		return ""
	}
	defer body.Close()
	var call struct {
		ID json.RawMessage `json:"id"`
		V  string          `json:"jsonrpc"`
	}
	if json.NewDecoder(body).Decode(&call) != nil || call.V == "" {
		return ""
	}
	return string(call.ID)
}

// constant writes the fields that do not differ from answer to answer, in order.
func constant(h map[string][]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(h)) {
		switch http.CanonicalHeaderKey(name) {
		case "Date", "X-Request-Id":
		default:
			fmt.Fprintf(&b, "%s: %q\n", name, h[name])
		}
	}
	return b.String()
}

// dialOptions are the tape's, with the ear behind it.
func (e *ear) dialOptions() []grpc.DialOption {
	return append(e.tape.dialOptions(), grpc.WithChainUnaryInterceptor(e.unary), grpc.WithChainStreamInterceptor(e.stream))
}

func (e *ear) unary(
	ctx context.Context, method string, in, out any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker,
	opts ...grpc.CallOption,
) error {
	var header, trailer metadata.MD
	opts = append(opts[:len(opts):len(opts)], grpc.Header(&header), grpc.Trailer(&trailer))
	err := invoke(ctx, method, in, out, conn, opts...)
	e.message(out, err, header, trailer)
	return err
}

// message keeps a message, or the status in its place with all that came with it.
func (e *ear) message(m any, err error, header, trailer metadata.MD) {
	if err == nil {
		text, _ := proto.Marshal(m.(proto.Message))
		e.hear("%q\n", text)
		return
	}
	text, _ := proto.Marshal(status.Convert(err).Proto())
	e.hear("%q\n%s--\n%s", text, constant(header), constant(trailer))
}

func (e *ear) stream(
	ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer,
	opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	stream, err := open(ctx, desc, conn, method, opts...)
	if err != nil {
		e.message(nil, err, nil, nil)
		return nil, err
	}
	return &heardStream{stream, e}, nil
}

type heardStream struct {
	grpc.ClientStream
	ear *ear
}

// RecvMsg implements grpc.ClientStream.
func (s *heardStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if errors.Is(err, io.EOF) {
		return err
	}
	header, _ := s.Header() // it failed where the message did
	s.ear.message(m, err, header, s.Trailer())
	return err
}
