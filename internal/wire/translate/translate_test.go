package translate

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

var (
	rpc01  = wire.Side{Version: wire.V01, Binding: wire.JSONRPC}
	rpc03  = wire.Side{Version: wire.V03, Binding: wire.JSONRPC}
	http03 = wire.Side{Version: wire.V03, Binding: wire.HTTPJSON}
	grpc03 = wire.Side{Version: wire.V03, Binding: wire.GRPC}
	rpc10  = wire.Side{Version: wire.V10, Binding: wire.JSONRPC}
	http10 = wire.Side{Version: wire.V10, Binding: wire.HTTPJSON}
	grpc10 = wire.Side{Version: wire.V10, Binding: wire.GRPC}
)

func sides() []wire.Side { return []wire.Side{rpc01, rpc03, http03, grpc03, rpc10, http10, grpc10} }

// exchange is a call as a test writes it: on JSON-RPC with params, on HTTP+JSON as a
// request line and a body, on gRPC with the document of the message.
type exchange struct {
	side   wire.Side
	method string // 1.0 name
	line   string // HTTP+JSON: "GET /tasks/T?historyLength=1"
	doc    string
}

// decode reads the call as the proxy does.
func decode(t *testing.T, x exchange) (*wire.Call, url.Values) {
	t.Helper()
	c, q, e := tryDecode(x)
	if e != nil {
		t.Fatalf("the call of the test is none: %v", e)
	}
	return c, q
}

func tryDecode(x exchange) (*wire.Call, url.Values, *wire.Error) {
	c := new(wire.Call)
	m := methodNamed(x.method)
	switch x.side.Binding {
	case wire.JSONRPC:
		body := `{"jsonrpc":"2.0","id":1,"method":"` + nameIn(m, x.side.Version) + `"`
		if x.doc != "" {
			body += `,"params":` + x.doc
		}
		header := x.side.Version // tells 0.1 from 0.3 where they share a name
		return c, nil, c.DecodeJSONRPC([]byte(body+"}"), header, wire.Limits{})
	case wire.HTTPJSON:
		verb, target, _ := strings.Cut(x.line, " ")
		u, err := url.Parse(target)
		if err != nil {
			return nil, nil, wire.Errorf(wire.Internal, "%v", err)
		}
		route, ok := wire.ByRoute(verb, u.EscapedPath())
		if !ok {
			return nil, nil, wire.Errorf(wire.Internal, "no route %s", x.line)
		}
		q := u.Query()
		return c, q, c.DecodeHTTP(route, q, []byte(x.doc), "", wire.Limits{})
	}
	message, err := wire.RequestMessage(m, x.side.Version, []byte(x.doc))
	if err != nil {
		return nil, nil, wire.Errorf(wire.Internal, "%v", err)
	}
	return c, nil, c.DecodeGRPC(m, x.side.Version, message, "", wire.Limits{})
}

// equal compares JSON documents; numbers by their digits.
func equal(t *testing.T, what, want string, got []byte) {
	t.Helper()
	if want == "" && len(got) == 0 {
		return
	}
	if diff := cmp.Diff(parse(t, []byte(want)), parse(t, got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s\nwhole: %s", what, diff, got)
	}
}

func parse(t *testing.T, doc []byte) any {
	t.Helper()
	var v any
	if err := unmarshal(doc, &v); err != nil {
		t.Fatalf("not JSON: %v: %s", err, doc)
	}
	return v
}

// unmarshal reads one document and keeps numbers as they are written.
func unmarshal(doc []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		return err
	}
	if d.More() {
		return errors.New("more than one document")
	}
	return nil
}

// answerOf retells an answer of a side, given what the method returned, and returns
// what the caller's document has as the result.
func answerOf(t *testing.T, r *Retelling, result string) (string, error) {
	t.Helper()
	out, err := r.Answer([]byte("x"), envelopeFor(t, r, result))
	if len(out) == 0 || out[0] != 'x' {
		t.Fatalf("what was in dst is gone: %s", out)
	}
	if err != nil {
		return "", err
	}
	return resultOf(t, r, out[1:]), nil
}

func envelopeFor(t *testing.T, r *Retelling, result string) []byte {
	t.Helper()
	if r.From.Binding == wire.JSONRPC && result != "" {
		return []byte(`{"id":"g1","jsonrpc":"2.0","result":` + result + `}`)
	}
	return []byte(result)
}

func resultOf(t *testing.T, r *Retelling, out []byte) string {
	t.Helper()
	switch r.Call.Binding {
	case wire.JSONRPC:
		var got struct {
			Version string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Result  json.RawMessage `json:"result"`
		}
		if err := json.Unmarshal(out, &got); err != nil || got.Version != "2.0" || !bytes.Equal(got.ID, r.Call.ID) {
			t.Fatalf("not a response to %s: %v: %s", r.Call.ID, err, out)
		}
		return string(got.Result)
	case wire.GRPC:
		doc, err := wire.ResponseJSON(r.Call.Method, r.Call.Version, out)
		if err != nil {
			t.Fatalf("not the message of an answer: %v", err)
		}
		return string(doc)
	}
	return string(out)
}

func query(t *testing.T, raw string) url.Values {
	t.Helper()
	q, err := url.ParseQuery(raw)
	if err != nil {
		t.Fatal(err)
	}
	return q
}
