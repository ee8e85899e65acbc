//go:build !minimal

package otlp

import (
	"encoding/hex"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"go.opentelemetry.io/otel/attribute"
	collector "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"
)

// scopeName is the instrumentation scope of all records, by which a backend can tell them from the
// gateway's own log lines, whose resource is the same.
const scopeName = "github.com/a2a-gateway/a2a-gateway/audit"

// form is what log records have in common.
type form struct {
	log   string
	about *resource.Resource
	scope *common.InstrumentationScope
	size  int // of a request without records
}

// newForm prepares what all requests have in common: who sends, and its size, so that a request is known
// to be short enough before it is made.
// service.instance.id falls back to server.id, so that replicas can be told apart in any backend.
func newForm(o Options) form {
	f := form{log: o.Log, about: &resource.Resource{}, scope: &common.InstrumentationScope{Name: scopeName}}
	named := false
	for _, a := range o.Resource {
		f.about.Attributes = append(f.about.Attributes, text(string(a.Key), a.Value.String()))
		named = named || a.Key == "service.instance.id"
	}
	if !named {
		f.about.Attributes = append(f.about.Attributes, text("service.instance.id", o.Gateway))
	}
	// The lengths of what holds the records have a few bytes more when there are any.
	f.size = proto.Size(f.request(nil)) + 32
	return f
}

// request is one request with these records. Resource and scope are shared by all requests and never
// changed, so that only the records are made anew.
func (f form) request(records []*logs.LogRecord) *collector.ExportLogsServiceRequest {
	return &collector.ExportLogsServiceRequest{ResourceLogs: []*logs.ResourceLogs{{
		Resource: f.about, ScopeLogs: []*logs.ScopeLogs{{Scope: f.scope, LogRecords: records}},
	}}}
}

// sizeOf is what a record adds to a request: itself, its length, and a byte for the field.
func sizeOf(r *logs.LogRecord) int { return 1 + protowire.SizeBytes(proto.Size(r)) }

// record makes a log record of an entry. It says the same whenever it is made, so that
// what came twice can be told by its attributes, or by all of it. The body is the line as
// it is in the file: what is written out in the order of the numbers can be verified.
// A record of a later version of the schema still goes, with what is known of it as attributes.
func (f form) record(e reader.Entry) *logs.LogRecord {
	var r record
	if json.Unmarshal(e.Line, &r) != nil {
		r = record{} // it goes as it is
	}
	r.adopt()
	severity := r.severity()
	out := &logs.LogRecord{
		TimeUnixNano: nanos(r.Time), ObservedTimeUnixNano: nanos(r.Time),
		SeverityNumber: severity, SeverityText: severityText(severity), EventName: r.name(),
		TraceId: id(r.TraceID, 16), SpanId: id(r.SpanID, 8), Body: body(e.Line),
	}
	a := attributes{list: make([]*common.KeyValue, 0, 24)}
	a.text("a2a_gateway.audit.log", f.log)
	a.number("a2a_gateway.audit.seq", int64(e.Seq)) //nolint:gosec // numbers have 18 digits at most
	r.list(&a)
	out.Attributes = a.list
	return out
}

// nanos is a time as OTLP has it, 0 for none: a record of a later version may have its time elsewhere.
func nanos(t time.Time) uint64 {
	if t.IsZero() {
		return 0
	}
	return uint64(t.UnixNano()) // no record is from before 1970
}

// id reads hexadecimal digits; what is no id of the length is none.
// An all-zero id is passed on as it is: the gateway writes none.
func id(digits string, length int) []byte {
	raw, err := hex.DecodeString(digits)
	if err != nil || len(raw) != length {
		return nil
	}
	return raw
}

// body is a record as it was written, so that what is stored can be verified like the file.
func body(line []byte) *common.AnyValue {
	if !utf8.Valid(line) { // a string that is not could not be sent at all
		return &common.AnyValue{Value: &common.AnyValue_BytesValue{BytesValue: line}}
	}
	return &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: string(line)}}
}

// text is an attribute, whatever the value: only attributes leave empty ones out.
func text(key, value string) *common.KeyValue {
	return &common.KeyValue{Key: key, Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: value}}}
}

// attributes are those of one record; what is empty is left out, as an attribute that is there and
// says nothing is stored and indexed like any other.
type attributes struct{ list []*common.KeyValue }

func (a *attributes) text(key attribute.Key, value string) {
	if value != "" {
		a.list = append(a.list, text(string(key), value))
	}
}

func (a *attributes) number(key attribute.Key, value int64) {
	a.list = append(a.list, &common.KeyValue{Key: string(key), Value: &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: value}}})
}

func (a *attributes) seconds(key attribute.Key, value float64) {
	a.list = append(a.list, &common.KeyValue{Key: string(key), Value: &common.AnyValue{Value: &common.AnyValue_DoubleValue{DoubleValue: value}}})
}
