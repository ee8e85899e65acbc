package failure

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// checkFromAgent holds what every error that is read from an agent promises.
func checkFromAgent(t *testing.T, e *wire.Error) {
	t.Helper()
	if e.Kind == nil || e.Code == 0 || e.HTTP < 400 || !utf8.ValidString(e.Text()) {
		t.Fatalf("%+v", e)
	}
	forms := errorForms()
	for _, f := range append(grpcForms(), forms[0], forms[1], forms[len(forms)-4]) {
		text := rendered(f, e)
		if f.event && strings.Count(text, "\n\n") != 1 {
			t.Fatalf("not one frame: %q", text)
		}
		if body := text[strings.IndexAny(text+"{", "{"):]; f.call != nil && f.call.Binding == wire.JSONRPC && !jsontext.Value(body).IsValid() {
			t.Fatalf("%s: %q", f.name, body)
		}
	}
}

func FuzzReadStatus(f *testing.F) {
	f.Add("5", "no%20task", "CAMSFEludmFsaWQgSlNPTiBwYXlsb2Fk")
	f.Add("0", "", "")
	f.Add("99", "%", "=")
	f.Fuzz(func(t *testing.T, code, message, bin string) {
		h := http.Header{"Grpc-Status": {code}, "Grpc-Message": {message}, "Grpc-Status-Details-Bin": {bin}}
		if e := ReadStatus(nil, h); e != nil {
			checkFromAgent(t, e)
		}
		raw := http.Header{"Grpc-Status": {code}, "Grpc-Status-Details-Bin": {base64.RawStdEncoding.EncodeToString([]byte(bin))}}
		if e := ReadStatus(raw, nil); e != nil {
			checkFromAgent(t, e)
		}
		if got := percentDecode(percentEncode(message)); got != strings.ToValidUTF8(message, "\ufffd") {
			t.Fatalf("%q came back as %q", message, got)
		}
	})
}

func FuzzReadError(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"m","data":[`+notFoundInfo+`,`+violations+`,7]}}`), uint16(200))
	f.Add([]byte(`{"error":{"code":404,"status":"NOT_FOUND","details":[]}}`), uint16(404))
	f.Add([]byte(`{"type":"https://a2a-protocol.org/errors/task-not-found","detail":"d"}`), uint16(400))
	f.Add([]byte(`{"code":7,"message":"m","data":"a\n"}`), uint16(500))
	f.Fuzz(func(t *testing.T, body []byte, status uint16) {
		for _, s := range []wire.Side{{Version: wire.V10, Binding: wire.JSONRPC}, {Version: wire.V03, Binding: wire.JSONRPC}, {Version: wire.V01, Binding: wire.JSONRPC}, {Version: wire.V10, Binding: wire.HTTPJSON}, {Version: wire.V03, Binding: wire.HTTPJSON}} {
			checkFromAgent(t, ReadError(s, int(status), body))
		}
	})
}
