package gateway_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync/atomic"

	"google.golang.org/grpc/codes"
)

type object = map[string]any

// transport is one 1.0 binding, spoken without any SDK. Parameters and results
// are documents, so that one check does for all bindings.
type transport interface {
	// call makes a unary call. err is what the binding itself forbids in the answer.
	call(ctx context.Context, method string, params object) (result any, refused *refusal, err error)
	// open begins a streaming call.
	open(ctx context.Context, method string, params object) (*eventStream, *refusal, error)
}

// refusal is an error answer of any binding.
type refusal struct {
	code    int        // JSON-RPC
	http    int        // HTTP+JSON
	grpc    codes.Code // gRPC, and the word of it in HTTP+JSON
	reason  string     // ErrorInfo
	domain  string
	message string
}

func (r *refusal) String() string {
	if r == nil {
		return "no refusal"
	}
	return fmt.Sprintf("code %d, HTTP %d, gRPC %v, reason %q, domain %q: %s",
		r.code, r.http, r.grpc, r.reason, r.domain, r.message)
}

// eventStream gives one event after the other, io.EOF at the end.
type eventStream struct {
	next  func() (any, *refusal, error)
	close func()
}

// details finds the ErrorInfo among the details of a JSON error.
func (r *refusal) details(list any) error {
	if list == nil {
		return nil
	}
	all, ok := list.([]any)
	if !ok {
		return fmt.Errorf("details are %T, not an array", list)
	}
	for _, d := range all {
		kind, _ := at(d, "@type").(string)
		if kind == "" {
			return errors.New("a detail has no @type")
		}
		if kind == "type.googleapis.com/google.rpc.ErrorInfo" {
			r.reason, r.domain = text(d, "reason"), text(d, "domain")
		}
	}
	return nil
}

// overHTTP is what both JSON bindings have in common.
type overHTTP struct {
	client *http.Client
	base   string
	tenant string
}

func (o *overHTTP) do(ctx context.Context, verb, url, accept string, body any) (*http.Response, error) {
	var content io.Reader = http.NoBody
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, verb, url, content)
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("A2A-Version", "1.0")
	req.Header.Set("Accept", accept)
	return o.client.Do(req)
}

// readJSON takes a whole answer and checks its media type.
func readJSON(resp *http.Response, types ...string) (any, error) {
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	media, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil || !strings.Contains(strings.Join(types, " "), media) {
		return nil, fmt.Errorf("HTTP %d with Content-Type %q: %.200s", resp.StatusCode, resp.Header.Get("Content-Type"), raw)
	}
	var doc any
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, fmt.Errorf("HTTP %d: %w: %.200s", resp.StatusCode, err, raw)
	}
	return doc, nil
}

// events reads Server-Sent Events, each made a result or a refusal by read.
func events(resp *http.Response, read func(doc any) (any, *refusal, error)) *eventStream {
	lines := bufio.NewReader(resp.Body)
	var data []string
	return &eventStream{
		close: func() { _ = resp.Body.Close() },
		next: func() (any, *refusal, error) {
			for {
				line, err := lines.ReadString('\n')
				line = strings.TrimRight(line, "\r\n")
				switch value, isData := strings.CutPrefix(line, "data:"); {
				case isData:
					data = append(data, strings.TrimPrefix(value, " "))
				case line == "" && err == nil && data != nil:
					raw := strings.Join(data, "\n")
					data = nil
					var doc any
					if err := json.Unmarshal([]byte(raw), &doc); err != nil {
						return nil, nil, fmt.Errorf("event: %w: %.200s", err, raw)
					}
					return read(doc)
				}
				if err != nil {
					return nil, nil, err
				}
			}
		},
	}
}

// isStream reports whether the answer is one of Server-Sent Events.
func isStream(resp *http.Response) bool {
	media, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return err == nil && media == "text/event-stream"
}

// overJSONRPC is A2A 1.0 §9.
type overJSONRPC struct {
	overHTTP
	calls atomic.Int64
}

// request makes an envelope; ids are strings and numbers in turn.
func (o *overJSONRPC) request(method string, params object) (id any, body object) {
	n := o.calls.Add(1)
	id = float64(n)
	if n%2 == 0 {
		id = fmt.Sprintf("call %d", n)
	}
	if o.tenant != "" {
		params["tenant"] = o.tenant
	}
	return id, object{"jsonrpc": "2.0", "id": id, "method": method, "params": params}
}

// read takes an envelope apart.
func (o *overJSONRPC) read(doc, id any) (any, *refusal, error) {
	envelope, ok := doc.(object)
	if !ok || envelope["jsonrpc"] != "2.0" || envelope["id"] != id {
		return nil, nil, fmt.Errorf("not a JSON-RPC response to %v: %v", id, doc)
	}
	result, isResult := envelope["result"]
	failure, isError := envelope["error"]
	if isResult == isError || len(envelope) != 3 {
		return nil, nil, fmt.Errorf("not exactly one of result and error: %v", doc)
	}
	if isResult {
		return result, nil, nil
	}
	code, isNumber := at(failure, "code").(float64)
	r := &refusal{code: int(code), message: text(failure, "message")}
	if !isNumber || float64(r.code) != code || r.message == "" {
		return nil, nil, fmt.Errorf("not an error object: %v", failure)
	}
	return nil, r, r.details(at(failure, "data"))
}

func (o *overJSONRPC) call(ctx context.Context, method string, params object) (any, *refusal, error) {
	id, body := o.request(method, params)
	resp, err := o.do(ctx, http.MethodPost, o.base, "application/json", body)
	if err != nil {
		return nil, nil, err
	}
	doc, err := readJSON(resp, "application/json")
	if err != nil {
		return nil, nil, err
	}
	return o.read(doc, id)
}

func (o *overJSONRPC) open(ctx context.Context, method string, params object) (*eventStream, *refusal, error) {
	id, body := o.request(method, params)
	resp, err := o.do(ctx, http.MethodPost, o.base, "text/event-stream", body)
	if err != nil {
		return nil, nil, err
	}
	if isStream(resp) {
		return events(resp, func(doc any) (any, *refusal, error) { return o.read(doc, id) }), nil, nil
	}
	doc, err := readJSON(resp, "application/json")
	if err != nil {
		return nil, nil, err
	}
	if _, r, err := o.read(doc, id); err != nil || r != nil {
		return nil, r, err
	}
	return nil, nil, fmt.Errorf("a stream is answered with %v", doc)
}
