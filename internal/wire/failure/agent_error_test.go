package failure

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

const (
	notFoundInfo = `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org",` +
		`"metadata":{"taskId":"nope","n":7}}`
	otherInfo  = `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"QUOTA","domain":"x"}`
	violations = `{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"f","description":"d"}]}`
	structType = `"@type":"type.googleapis.com/google.protobuf.Struct"`
)

// TestReadError has every shape in which an agent says no.
func TestReadError(t *testing.T) {
	t.Parallel()
	rpcError := func(inner string) string { return `{"jsonrpc":"2.0","id":1,"error":{` + inner + `}}` }
	rpc10, rpc03, rpc01 := wire.Side{Version: wire.V10, Binding: wire.JSONRPC}, wire.Side{Version: wire.V03, Binding: wire.JSONRPC}, wire.Side{Version: wire.V01, Binding: wire.JSONRPC}
	rest10, rest03 := wire.Side{Version: wire.V10, Binding: wire.HTTPJSON}, wire.Side{Version: wire.V03, Binding: wire.HTTPJSON}
	unknown := func(code int) *wire.Kind {
		return &wire.Kind{Reason: "UNKNOWN", Code: code, HTTP: 500, RPC: 200, GRPC: "UNKNOWN", Text: "Unknown error"}
	}
	for _, tt := range []struct {
		name   string
		side   wire.Side
		status int
		body   string
		kind   *wire.Kind
		text   string
		meta   string // JSON
		detail []string
	}{
		{
			name: "1.0 as the SDKs write it", side: rpc10, status: 200,
			body: rpcError(`"code":-32001,"message":"Task not found: nope","data":[` + notFoundInfo + `]`),
			kind: wire.TaskNotFound, text: "Task not found: nope", meta: `{"taskId":"nope"}`,
		},
		{
			name: "the reason goes before the code", side: rpc10, status: 200,
			body: rpcError(`"data":[` + notFoundInfo + `],"message":"m","code":-32603`),
			kind: wire.TaskNotFound, text: "m", meta: `{"taskId":"nope"}`,
		},
		{
			name: "other details are kept", side: rpc10, status: 200,
			body: rpcError(`"code":-32602,"message":"m","data":[ ` + violations + ` , ` + otherInfo + `]`),
			kind: wire.InvalidParams, text: "m", detail: []string{violations, otherInfo},
		},
		{
			name: "a second reason is a detail", side: rpc10, status: 200,
			body: rpcError(`"code":-32001,"data":[` + notFoundInfo + `,` + `{"@type":"t","reason":"INTERNAL_ERROR"}]`),
			kind: wire.TaskNotFound, text: wire.TaskNotFound.Text, meta: `{"taskId":"nope"}`, detail: []string{`{"@type":"t","reason":"INTERNAL_ERROR"}`},
		},
		{
			name: "0.3", side: rpc03, status: 200, body: rpcError(`"code":-32002,"message":"too late"`),
			kind: wire.NotCancelable, text: "too late",
		},
		{
			name: "0.3 with data", side: rpc03, status: 200, body: rpcError(`"code":-32603,"message":"m","data":{"why": {"a":[1, 2]}}`),
			kind: wire.Internal, text: "m", detail: []string{`{` + structType + `,"value":{"why":{"a":[1,2]}}}`},
		},
		{
			name: "0.3 with a string as data", side: rpc03, status: 200, body: rpcError(`"code":-32603,"message":"m","data":"why\n"`),
			kind: wire.Internal, text: "m", detail: []string{`{` + structType + `,"value":{"data":"why\n"}}`},
		},
		{
			name: "0.3 with a list that is no list of details", side: rpc03, status: 200,
			body: rpcError(`"code":-32603,"message":"m","data":[{"loc":["a"]},7]`),
			kind: wire.Internal, text: "m",
			detail: []string{`{` + structType + `,"value":{"loc":["a"]}}`, `{` + structType + `,"value":{"data":7}}`},
		},
		{
			name: "null data", side: rpc03, status: 200, body: rpcError(`"code":-32603,"message":null,"data":null`),
			kind: wire.Internal, text: wire.Internal.Text,
		},
		{name: "unknown code", side: rpc10, status: 200, body: rpcError(`"code":-32042,"message":"m"`), kind: unknown(-32042), text: "m"},
		{name: "a code of an extension", side: rpc03, status: 200, body: rpcError(`"code":402`), kind: unknown(402), text: "Unknown error"},
		{name: "the SDK's own", side: rpc10, status: 200, body: rpcError(`"code":-31401,"message":"m"`), kind: wire.Unauthenticated, text: "m"},
		{
			name: "status of a shared code", side: rpc03, status: 429, body: rpcError(`"code":-32603,"message":"slow"`),
			kind: wire.RateLimited, text: "slow",
		},
		{name: "0.1 -32005", side: rpc01, status: 200, body: rpcError(`"code":-32005,"message":"m"`), kind: wire.ContentType, text: "m"},
		{name: "0.1 -32001", side: rpc01, status: 200, body: rpcError(`"code":-32001,"message":"m"`), kind: wire.TaskNotFound, text: "m"},
		{
			name: "0.1 -32007 is not a card", side: rpc01, status: 200, body: rpcError(`"code":-32007,"message":"m"`),
			kind: wire.Internal, text: "m", detail: []string{`{` + structType + `,"value":{"code":-32007}}`},
		},
		{
			name: "REST 1.0", side: rest10, status: 404,
			body: `{"error":{"code":404,"status":"NOT_FOUND","message":"m","details":[` + notFoundInfo + `]}}`,
			kind: wire.TaskNotFound, text: "m", meta: `{"taskId":"nope"}`,
		},
		{
			name: "REST 1.0 by its status word", side: rest10, status: 400,
			body: `{"error":{"code":400,"status":"FAILED_PRECONDITION","message":"m"}}`, kind: wire.NotCancelable, text: "m",
		},
		{name: "REST 1.0 by its code", side: rest10, status: 200, body: `{"error":{"code":403,"message":"m"}}`, kind: wire.Denied, text: "m"},
		{name: "JavaScript's REST 0.3", side: rest03, status: 404, body: `{"code":-32001,"message":"m","data":{"a":1}}`,
			kind: wire.TaskNotFound, text: "m", detail: []string{`{` + structType + `,"value":{"a":1}}`}},
		{name: "Python's REST 0.3", side: rest03, status: 409, body: `{"message":"m"}`, kind: wire.NotCancelable, text: "m"},
		{
			name: "this gateway's REST 0.3", side: rest03, status: 400,
			body: `{"code":-32004,"message":"m","error":{"code":400,"status":"FAILED_PRECONDITION","message":"m","details":[]}}`,
			kind: wire.Unsupported, text: "m",
		},
		{
			name: "the release candidate's problem", side: rest10, status: 400,
			body: `{"type":"https://a2a-protocol.org/errors/push-notification-not-supported","title":"t","status":400,"detail":"d"}`,
			kind: wire.PushUnsupported, text: "d",
		},
		{name: "a problem of nothing known", side: rest10, status: 503, body: `{"type":"about:blank","title":"t","status":503}`, kind: wire.Unavailable, text: "t"},
		{name: "nested and bare message", side: rest03, status: 500, body: `{"message":"outer","error":{"message":"inner"}}`, kind: wire.Internal, text: "inner"},

		{name: "a result", side: rpc10, status: 200, body: `{"jsonrpc":"2.0","id":1,"result":{}}`, kind: wire.BadAgentResponse},
		{name: "an error of null", side: rpc10, status: 200, body: `{"jsonrpc":"2.0","id":1,"error":null}`, kind: wire.BadAgentResponse},
		{name: "an error without code", side: rpc10, status: 200, body: rpcError(`"message":"m"`), kind: wire.BadAgentResponse},
		{name: "a code that is no integer", side: rpc10, status: 200, body: rpcError(`"code":1.5`), kind: wire.BadAgentResponse},
		{name: "a page", side: rest10, status: 502, body: `<html>`, kind: wire.BadAgentResponse},
		{name: "nothing", side: rest10, status: 404, body: ``, kind: wire.BadAgentResponse},
		{name: "an array", side: rest10, status: 404, body: `[]`, kind: wire.BadAgentResponse},
		{name: "a task", side: rest10, status: 200, body: `{"id":"t","status":{"state":"TASK_STATE_WORKING"}}`, kind: wire.BadAgentResponse},
		{name: "two errors", side: rpc10, status: 200, body: `{"error":{"code":-32001},"error":{"code":-32002}}`, kind: wire.BadAgentResponse},
		{name: "invalid UTF-8", side: rpc10, status: 200, body: rpcError("\"code\":-32001,\"message\":\"\xff\""), kind: wire.BadAgentResponse},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			body := []byte(tt.body)
			e := ReadError(tt.side, tt.status, body)
			if e == nil || cmp.Diff(*tt.kind, *e.Kind) != "" {
				t.Fatalf("%v, want %s", e, tt.kind.Reason)
			}
			if tt.kind == wire.BadAgentResponse {
				if e.Err == nil || e.Message != "" {
					t.Errorf("the client gets %q, the log %v", e.Message, e.Err)
				}
				return
			}
			clear(body) // nothing may be a piece of it
			if e.Text() != tt.text {
				t.Errorf("text %q, want %q", e.Text(), tt.text)
			}
			var meta map[string]string
			if tt.meta != "" && json.Unmarshal([]byte(tt.meta), &meta) != nil {
				t.Fatal(tt.meta)
			}
			var details []string
			for _, d := range e.Details {
				details = append(details, string(d))
			}
			if diff := cmp.Diff(meta, e.Meta); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.detail, details); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestReadErrorReadsBack: an error that was written for one side and read there is
// the same error again, as far as the side can say it.
func TestReadErrorReadsBack(t *testing.T) {
	t.Parallel()
	for _, s := range []wire.Side{{Version: wire.V10, Binding: wire.JSONRPC}, {Version: wire.V03, Binding: wire.JSONRPC}, {Version: wire.V10, Binding: wire.HTTPJSON}, {Version: wire.V03, Binding: wire.HTTPJSON}} {
		for _, k := range wire.Kinds() {
			want := &wire.Error{Kind: k, Message: "why"}
			if s.Version == wire.V10 {
				want.Meta = map[string]string{"a": "b"}
				want.Details = []jsontext.Value{jsontext.Value(violations)}
			}
			rec := httptest.NewRecorder()
			Write(rec, &wire.Call{Binding: s.Binding, Version: s.Version, ID: []byte("1")}, want)
			got := ReadError(s, rec.Code, rec.Body.Bytes())
			if k == wire.VersionUnsupported && s.Version == wire.V03 && s.Binding == wire.JSONRPC {
				want.Kind = wire.InvalidRequest // 0.3 has no code for it
			}
			if k == wire.Duplicate && s.Version == wire.V03 && s.Binding == wire.JSONRPC {
				want.Kind = wire.InvalidParams // whose code it has
			}
			if k == wire.ContentRefused && s.Version == wire.V03 && s.Binding == wire.JSONRPC {
				want.Kind = wire.Denied // whose code it has
			}
			if (k == wire.OutcomeUnknown || k == wire.AnswerRefused) && s.Version == wire.V03 && s.Binding == wire.JSONRPC {
				want.Kind = wire.Internal // neither its code nor its status says more
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %s: %s", s, k.Reason, diff)
			}
		}
	}
}

// TestErrorDetails: 1.0 has the details behind the ErrorInfo, older versions have
// none, and no detail can break the line of an event.
func TestErrorDetails(t *testing.T) {
	t.Parallel()
	e := &wire.Error{Kind: wire.Internal, Details: []jsontext.Value{
		jsontext.Value("{\n\"@type\":\"t\"\n}"), jsontext.Value(`7`), jsontext.Value(`{"a":`), jsontext.Value(violations),
	}}
	for _, f := range errorForms() {
		text := rendered(f, e)
		shown := f.call == nil || f.call.Version == wire.V10 || f.call.Version == ""
		if strings.Contains(text, `{"@type":"t"},`+violations+"]") != shown || strings.Contains(text, "\n\"@type\"") {
			t.Errorf("%s: %q", f.name, text)
		}
	}
}

// TestReadStatus has the ways in which gRPC servers end a call.
func TestReadStatus(t *testing.T) {
	t.Parallel()
	info, err := anypb.New(&errdetails.ErrorInfo{Reason: "UNSUPPORTED_OPERATION", Metadata: map[string]string{"a": "b"}})
	if err != nil {
		t.Fatal(err)
	}
	unresolved := &anypb.Any{TypeUrl: "type.googleapis.com/no.such.Message"}
	raw, err := proto.Marshal(&spb.Status{Code: 9, Details: []*anypb.Any{unresolved, info}})
	if err != nil {
		t.Fatal(err)
	}
	md := func(code, message, bin string) http.Header {
		h := http.Header{}
		for name, value := range map[string]string{"Grpc-Status": code, "Grpc-Message": message, "Grpc-Status-Details-Bin": bin} {
			if value != "" {
				h.Set(name, value)
			}
		}
		return h
	}
	none := http.Header{}
	for name, tt := range map[string]struct {
		header, trailer http.Header
		want            *wire.Error
	}{
		"OK":              {none, md("0", "", ""), nil},
		"OK at once":      {md("0", "", ""), nil, nil},
		"refused at once": {md("5", "no%20task%", ""), none, &wire.Error{Kind: wire.TaskNotFound, Message: "no task%"}},
		"trailer first":   {md("0", "", ""), md("16", "who?", ""), &wire.Error{Kind: wire.Unauthenticated, Message: "who?"}},
		"details": {none, md("9", "m", base64.RawStdEncoding.EncodeToString(raw)),
			&wire.Error{Kind: wire.Unsupported, Message: "m", Meta: map[string]string{"a": "b"}}},
		"padded details": {none, md("9", "m", base64.StdEncoding.EncodeToString(raw)),
			&wire.Error{Kind: wire.Unsupported, Message: "m", Meta: map[string]string{"a": "b"}}},
		"broken details":       {none, md("9", "m", "%%%"), &wire.Error{Kind: wire.NotCancelable, Message: "m"}},
		"details of no status": {none, md("9", "m", "AAAA"), &wire.Error{Kind: wire.NotCancelable, Message: "m"}},
		"unknown code":         {none, md("99", "", ""), &wire.Error{Kind: wire.Internal}},
		"invalid UTF-8":        {none, md("13", "a%FFb", ""), &wire.Error{Kind: wire.Internal, Message: "a\ufffdb"}},
	} {
		if diff := cmp.Diff(tt.want, ReadStatus(tt.header, tt.trailer)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for _, broken := range []http.Header{nil, none, md("", "m", ""), md("-1", "", ""), md("x", "", ""), md("0 ", "", "")} {
		if e := ReadStatus(none, broken); e == nil || e.Kind != wire.BadAgentResponse || e.Err == nil {
			t.Errorf("%v: %v", broken, e)
		}
	}
}

// TestKindsOfCodes: every code and status has a kind, and the words are gRPC's.
func TestKindsOfCodes(t *testing.T) {
	t.Parallel()
	for _, k := range wire.Kinds() {
		if kindOfReason(k.Reason) != k {
			t.Errorf("%s is not found by its reason", k.Reason)
		}
		if kindOfCode(wire.V10, k.Code, k.RPC).Code != k.Code {
			t.Errorf("%s is not found by its code", k.Reason)
		}
		for _, v := range []wire.Version{wire.V10, wire.V03} {
			if n := grpcIn(v, k); n == grpcUnknown || n == 0 {
				t.Errorf("%s: %q is no code of gRPC", k.Reason, k.GRPC)
			}
		}
	}
	for n, name := range grpcCodes {
		if n > 0 && kindOfGRPC(name) == nil {
			t.Error(name)
		}
	}
	for status := range 600 {
		if kindOfStatus(status) == nil {
			t.Error(status)
		}
	}
}
