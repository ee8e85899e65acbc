package failure

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

const errorsDoc = "../../../docs/errors.md"

// olderCode is a kind whose JSON-RPC code is not the same in every version.
type olderCode struct {
	Reason        string
	V10, V03, V01 int
}

// olderStatus is a kind whose gRPC code is not the same in 0.3.
type olderStatus struct{ Reason, V10, V03 string }

// errorShape is one form of one error as the document shows it.
type errorShape struct{ Name, Text string }

// errorsPage renders docs/errors.md from the table of kinds and from what render.go
// makes of one of them.
func errorsPage(t *testing.T) string {
	t.Helper()
	var data struct {
		Kinds  []*wire.Kind
		Older  []olderCode
		Status []olderStatus
		Shapes []errorShape
	}
	data.Kinds = wire.Kinds()
	for _, k := range wire.Kinds() {
		o := olderCode{k.Reason, codeIn(wire.V10, k), codeIn(wire.V03, k), codeIn(wire.V01, k)}
		if o.V03 != o.V10 || o.V01 != o.V10 {
			data.Older = append(data.Older, o)
		}
		if v10, v03 := grpcIn(wire.V10, k), grpcIn(wire.V03, k); v10 != v03 {
			data.Status = append(data.Status, olderStatus{k.Reason, grpcCodes[v10], grpcCodes[v03]})
		}
	}
	for _, f := range errorForms() {
		if f.call != nil && f.call.Binding != 0 && f.call.Version != wire.V01 && f.call.Version != "" {
			data.Shapes = append(data.Shapes, errorShape{f.name, sample(f)})
		}
	}
	for _, f := range grpcForms() {
		data.Shapes = append(data.Shapes, errorShape{f.name, grpcSample(t, f)})
	}
	tmpl, err := template.ParseFiles("testdata/errors.md.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := tmpl.Execute(&b, data); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// sample is the status, the media type and the body of "task not found".
func sample(f errorForm) string {
	e := &wire.Error{Kind: wire.TaskNotFound}
	if f.event {
		return strings.TrimSpace(string(Event(f.call, e)))
	}
	status, contentType, body := viewOf(f.call).response(e)
	return fmt.Sprintf("%d %s\n\n%s", status, contentType, strings.TrimSpace(string(body)))
}

// grpcSample is the trailers of "task not found", with the details as ProtoJSON.
func grpcSample(t *testing.T, f errorForm) string {
	t.Helper()
	rec := httptest.NewRecorder()
	Write(rec, f.call, &wire.Error{Kind: wire.TaskNotFound})
	trailer := rec.Result().Trailer
	text := fmt.Sprintf("%d %s\n\ngrpc-status: %s\ngrpc-message: %s", rec.Code, rec.Header().Get("Content-Type"),
		trailer.Get("Grpc-Status"), trailer.Get("Grpc-Message"))
	if bin := trailer.Get("Grpc-Status-Details-Bin"); bin != "" {
		raw, err := base64.RawStdEncoding.DecodeString(bin)
		if err != nil {
			t.Fatal(err)
		}
		status := new(spb.Status)
		if err = proto.Unmarshal(raw, status); err != nil {
			t.Fatal(err)
		}
		doc, err := protojson.Marshal(status)
		if err != nil {
			t.Fatal(err)
		}
		value := jsontext.Value(doc)
		if err = value.Compact(); err != nil {
			t.Fatal(err)
		}
		text += "\ngrpc-status-details-bin: (base64 of the protobuf of) " + string(value)
	}
	return text
}

// TestErrorsDocument fails when docs/errors.md does not say what the code does.
func TestErrorsDocument(t *testing.T) {
	t.Parallel()
	got := errorsPage(t)
	if *update {
		if err := os.MkdirAll(filepath.Dir(errorsDoc), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(errorsDoc, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(errorsDoc)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("docs/errors.md is stale, its first lines say how to refresh it (-file +code):\n%s", diff)
	}
}
