package message

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// A part, in the words of each dialect it is tried in.
type partCase struct {
	name, in string // dialects: 0.1, 0.3, 0.3 ProtoJSON (p), 1.0
	part     string
	want     wire.Part
}

func sidesOf(in string) []wire.Side {
	all := map[string]wire.Side{"0.1": {Version: wire.V01, Binding: wire.JSONRPC}, "0.3": {Version: wire.V03, Binding: wire.JSONRPC}, "p": {Version: wire.V03, Binding: wire.HTTPJSON}, "1.0": {Version: wire.V10, Binding: wire.HTTPJSON}}
	var list []wire.Side
	for _, name := range strings.Fields(in) {
		list = append(list, all[name])
	}
	return list
}

func readPart(t *testing.T, s wire.Side, part string) (*wire.Message, *wire.Error) {
	t.Helper()
	doc := `{"message":{"role":"user","parts":[` + part + `]}}`
	if s.Version == wire.V01 {
		doc = `{"id":"t",` + doc[1:]
	}
	return sending{s, doc}.read(t)
}

func TestReadMessageParts(t *testing.T) {
	t.Parallel()
	const all = "0.1 0.3 p 1.0"
	for _, tt := range []partCase{
		{"text", all, `{"text":"a"}`, wire.Part{Kind: wire.PartText, Text: "a", Bytes: 1}},
		{"empty text", all, `{"text":""}`, wire.Part{Kind: wire.PartText}},
		{"kind of another version's spelling", all, `{"type":"text","kind":"text","text":"a"}`, wire.Part{Kind: wire.PartText, Text: "a", Bytes: 1}},
		{"nothing", all, `{}`, wire.Part{}},
		{"what nobody knows", all, `{"kind":"audio","audio":{"x":1}}`, wire.Part{}},
		{"nulls are absent", all, `{"text":"a","data":null,"metadata":null}`, wire.Part{Kind: wire.PartText, Text: "a", Bytes: 1}},
		{"empty metadata", all, `{"text":"a","metadata":{}}`, wire.Part{Kind: wire.PartText, Text: "a", Bytes: 1}},
		{"null data", "0.1 0.3 1.0", `{"data":null}`, wire.Part{Kind: wire.PartData, Bytes: 4}},
		{"null data in 0.3's proto", "p", `{"data":null}`, wire.Part{}},
		{"data in data", "p", `{"data":{"data":{"a":"b"}}}`, wire.Part{Kind: wire.PartData, Data: map[string]any{"a": "b"}, Bytes: 9}},
		{"empty data", "p", `{"data":{}}`, wire.Part{Kind: wire.PartData, Data: map[string]any{}, Bytes: 2}},
		{"null in data", "p", `{"data":{"data":null}}`, wire.Part{Kind: wire.PartData, Data: map[string]any{}, Bytes: 2}},
		{
			"the mark of what is no object", "0.1 0.3", `{"data":{"value":null},"metadata":{"data_part_compat":true,"a":1}}`,
			wire.Part{Kind: wire.PartData, Bytes: 4, Metadata: map[string]any{"a": 1.0}},
		},
		{
			"the mark beside more than a value", "0.1 0.3", `{"data":{"value":1,"a":2},"metadata":{"data_part_compat":true}}`,
			wire.Part{
				Kind: wire.PartData, Bytes: 17, Data: map[string]any{"value": 1.0, "a": 2.0},
				Metadata: map[string]any{"data_part_compat": true},
			},
		},
		{
			"the mark in 1.0", "1.0", `{"data":{"value":1},"metadata":{"data_part_compat":true}}`,
			wire.Part{Kind: wire.PartData, Bytes: 11, Data: map[string]any{"value": 1.0}, Metadata: map[string]any{"data_part_compat": true}},
		},
		{"any data", "1.0", `{"data":"x","mediaType":"text/CSV"}`, wire.Part{Kind: wire.PartData, Data: "x", Bytes: 3, MediaType: "text/csv"}},
		{"text with a type", "1.0", `{"text":"x","mediaType":"text/markdown"}`, wire.Part{Kind: wire.PartText, Text: "x", Bytes: 1, MediaType: "text/markdown"}},
		{"empty file", "1.0", `{"raw":""}`, wire.Part{Kind: wire.PartFile}},
		{"alphabet of URLs", "1.0", `{"raw":"_-8"}`, wire.Part{Kind: wire.PartFile, Bytes: 2}},
		{"padding", "1.0", `{"raw":"\/+8="}`, wire.Part{Kind: wire.PartFile, Bytes: 2}},
		{"an SDK without absent strings", "0.1 0.3", `{"file":{"bytes":"","uri":"u"}}`, wire.Part{Kind: wire.PartFile, URL: "u"}},
		{"the same in 0.3's proto", "p", `{"file":{"fileWithBytes":"AAEC","fileWithUri":""}}`, wire.Part{Kind: wire.PartFile, Bytes: 3}},
		{"bytes as the proto has them", "p", `{"file":{"fileWithBytes":"/wAB"}}`, wire.Part{Kind: wire.PartFile, Bytes: 3}},
		{"base64 of a line", "p", `{"file":{"fileWithBytes":"QUFFQwo="}}`, wire.Part{Kind: wire.PartFile, Bytes: 5}},
		{"another version's member without a value", "0.3", `{"text":"a","mediaType":"","raw":null}`, wire.Part{Kind: wire.PartText, Text: "a", Bytes: 1}},
	} {
		for _, s := range sidesOf(tt.in) {
			m, e := readPart(t, s, tt.part)
			if e != nil {
				t.Errorf("%s in %v: %v", tt.name, s, e)
				continue
			}
			if diff := cmp.Diff([]wire.Part{tt.want}, m.Parts); diff != "" {
				t.Errorf("%s in %v (-want +got)\n%s", tt.name, s, diff)
			}
		}
	}
}

// TestReadMessageRefuses: what agents read in two ways, judges do not read at all.
func TestReadMessageRefuses(t *testing.T) {
	t.Parallel()
	const all = "0.1 0.3 p 1.0"
	for _, tt := range []partCase{
		{name: "text and data", in: all, part: `{"text":"a","data":{}}`},
		{name: "text and a file", in: "0.1 0.3", part: `{"text":"a","file":{"bytes":"AA=="}}`},
		{name: "text and the shell of a file", in: "0.1 0.3 p", part: `{"text":"a","file":{}}`},
		{name: "bytes and a URL", in: "1.0", part: `{"raw":"AA==","url":"u"}`},
		{name: "bytes and a URI", in: "0.1 0.3", part: `{"file":{"bytes":"AA==","uri":"u"}}`},
		{name: "neither bytes nor URI", in: "0.1 0.3 p", part: `{"file":{"name":"a"}}`},
		{name: "an empty file twice", in: "1.0", part: `{"raw":"","url":""}`},
		{name: "a kind that it is not", in: all, part: `{"kind":"data","text":"a"}`},
		{name: "a kind that it has nothing of", in: all, part: `{"kind":"file"}`},
		{name: "an unknown kind", in: all, part: `{"kind":"audio","text":"a"}`},
		{name: "two kinds", in: all, part: `{"kind":"text","type":"data","text":"a"}`},
		{name: "no kind", in: all, part: `{"kind":1,"text":"a"}`},
		{name: "almost text", in: all, part: `{"Text":"a"}`},
		{name: "text and almost data", in: all, part: `{"text":"a","DATA":{}}`},
		{name: "a media type in two spellings", in: "1.0", part: `{"text":"a","mediaType":"a/b","media_type":"c/d"}`},
		{name: "almost a media type", in: "0.1 0.3", part: `{"file":{"uri":"u","mimetype":"a/b"}}`},
		{name: "no text", in: all, part: `{"text":1}`},
		{name: "no object", in: all, part: `"a"`},
		{name: "no URL", in: "1.0", part: `{"url":{}}`},
		{name: "no bytes", in: "1.0", part: `{"raw":[1]}`},
		{name: "no file", in: "0.1 0.3 p", part: `{"file":"u"}`},
		{name: "no metadata", in: all, part: `{"text":"a","metadata":[]}`},
		{name: "a file of before 1.0", in: "1.0", part: `{"text":"a","file":{"bytes":"AA=="}}`},
		{name: "a file of 1.0", in: "0.1 0.3 p", part: `{"raw":"AA=="}`},
		{name: "a media type of 1.0", in: "0.1 0.3 p", part: `{"text":"a","mediaType":"image/png"}`},
		{name: "bytes of 0.3's proto", in: "0.1 0.3", part: `{"file":{"bytes":"","fileWithBytes":"AA=="}}`},
		{name: "bytes of JSON-RPC", in: "p", part: `{"file":{"fileWithUri":"u","bytes":"AA=="}}`},
		{name: "data without its wrapper", in: "p", part: `{"data":{"a":1}}`},
		{name: "data beside its wrapper", in: "p", part: `{"data":{"data":{},"a":1}}`},
		{name: "no data", in: "p", part: `{"data":[1]}`},
		{name: "a number that is too large", in: "0.1 0.3 1.0", part: `{"data":{"a":[1e400]}}`},
	} {
		for _, s := range sidesOf(tt.in) {
			if m, e := readPart(t, s, tt.part); e == nil || e.Kind != wire.InvalidParams {
				t.Errorf("%s in %v: %+v, error %v", tt.name, s, m, e)
			}
		}
	}
}

// TestReadMessageRefusesAround is the same for what is around the parts.
func TestReadMessageRefusesAround(t *testing.T) {
	t.Parallel()
	for doc, kind := range map[string]*wire.Kind{
		`{"message":{"parts":[{"text":"a"}],"content":[{"text":"b"}]}}`:                                wire.InvalidParams,
		`{"message":{},"configuration":{"acceptedOutputModes":"text"}}`:                                wire.InvalidParams,
		`{"message":{},"configuration":{"acceptedOutputModes":[1]}}`:                                   wire.InvalidParams,
		`{"message":{},"configuration":{"AcceptedOutputModes":["a"]}}`:                                 wire.InvalidParams,
		`{"message":{"Role":"user"}}`:                                                                  wire.InvalidParams,
		`{"message":{"metadata":{"a":1e999}}}`:                                                         wire.InvalidParams,
		`{"message":{"parts":[{"data":[` + strings.Repeat(manyEmpties(), 30) + `{}]}]},"metadata":{}}`: wire.TooLarge,
	} {
		m, e := sending{wire.Side{Version: wire.V10, Binding: wire.HTTPJSON}, doc}.read(t)
		if e == nil || e.Kind != kind {
			t.Errorf("%.80s: %+v, error %v", doc, m, e)
		}
	}
	twice := `{"id":"t","message":{},"acceptedOutputModes":["a"],"configuration":{"acceptedOutputModes":["b"]}}`
	if m, e := (sending{wire.Side{Version: wire.V01, Binding: wire.JSONRPC}, twice}).read(t); e == nil || e.Kind != wire.InvalidParams {
		t.Errorf("modes in two places: %+v, error %v", m, e)
	}
}

func manyEmpties() string { return "[" + strings.Repeat("{},", 9_998) + "{}]," }

func TestReadMessageRoles(t *testing.T) {
	t.Parallel()
	for role, want := range map[string]string{
		`"user"`: "ROLE_USER", `"ROLE_AGENT"`: "ROLE_AGENT", `"agent"`: "ROLE_AGENT", `1`: "ROLE_USER", `2`: "ROLE_AGENT",
		`"system"`: "", `0`: "", `null`: "", `{}`: "",
	} {
		m, e := sending{wire.Side{Version: wire.V10, Binding: wire.HTTPJSON}, `{"message":{"role":` + role + `}}`}.read(t)
		if e != nil || m.Role != want {
			t.Errorf("role %s: %+v, error %v", role, m, e)
		}
	}
}
