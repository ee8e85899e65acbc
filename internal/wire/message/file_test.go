package message

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// filesIn are the files of a document.
func filesIn(t testing.TB, s wire.Side, method string, answer bool, doc string) (*wire.Carriers, []File) {
	t.Helper()
	m, _ := wire.ByName(wire.V10, method)
	c, err := wire.ReadCarriers(s, m, answer, []byte(doc), wire.Limits{})
	if err != nil {
		t.Fatalf("%s: %v", doc, err)
	}
	return c, Files(c)
}

// TestFiles: a part is read as everything that any version, and any parser, might take
// it for.
func TestFiles(t *testing.T) {
	t.Parallel()
	rpc, proto, now := wire.Side{Version: wire.V03, Binding: wire.JSONRPC}, wire.Side{Version: wire.V03, Binding: wire.GRPC}, wire.Side{Version: wire.V10, Binding: wire.HTTPJSON}
	for name, tt := range map[string]struct {
		side wire.Side
		part string
		want []File
	}{
		"by URL":          {now, `{"url":"https://a/b","mediaType":"Image/PNG; q=1","filename":"b"}`, []File{{URLs: []string{"https://a/b"}, MediaTypes: []string{"image/png"}, Names: []string{"b"}}}},
		"inline":          {now, `{"raw":"QUJD"}`, []File{{Inline: true, Bytes: 3}}},
		"0.3 by URI":      {rpc, `{"kind":"file","file":{"uri":"u","mimeType":"a/b","name":"n"}}`, []File{{URLs: []string{"u"}, MediaTypes: []string{"a/b"}, Names: []string{"n"}}}},
		"0.3 inline":      {rpc, `{"kind":"file","file":{"bytes":"QUI="}}`, []File{{Inline: true, Bytes: 2}}},
		"0.3 in proto":    {proto, `{"file":{"fileWithUri":"u"}}`, []File{{URLs: []string{"u"}}}},
		"snake case":      {proto, `{"file":{"file_with_uri":"u","mime_type":"a/b"}}`, []File{{URLs: []string{"u"}, MediaTypes: []string{"a/b"}}}},
		"doubled":         {proto, `{"file":{"fileWithBytes":"UVVKRA=="}}`, []File{{Inline: true, Bytes: 3}}},
		"both spellings":  {now, `{"url":"a","file":{"uri":"b","fileWithUri":"c"},"URL":"d"}`, []File{{URLs: []string{"a", "b", "c", "d"}}}},
		"the larger":      {rpc, `{"raw":"QUJD","file":{"bytes":"QQ=="}}`, []File{{Inline: true, Bytes: 3}}},
		"several types":   {now, `{"raw":"","mediaType":"a/b","file":{"mimeType":"c/d"}}`, []File{{Inline: true, MediaTypes: []string{"a/b", "c/d"}}}},
		"escaped":         {now, `{"u\u0072l":"\u0061"}`, []File{{URLs: []string{"a"}}}},
		"an odd name":     {now, `{"File_":{"Uri":"u"},"text":"t"}`, []File{{URLs: []string{"u"}}}},
		"printed empty":   {now, `{"text":"t","url":""}`, nil},
		"no string":       {now, `{"url":{"url":"u"},"text":"t"}`, nil},
		"null":            {rpc, `{"kind":"text","text":"t","file":null}`, nil},
		"data about some": {now, `{"data":{"url":"u","raw":"QQ=="}}`, nil},
		"metadata":        {now, `{"text":"t","metadata":{"url":"u"}}`, nil},
	} {
		doc := `{"message":{"messageId":"m","parts":[{"text":"x"},` + tt.part + `]}}`
		if tt.side.Binding == wire.JSONRPC {
			doc = `{"jsonrpc":"2.0","id":1,"method":"m","params":` + doc + `}`
		}
		c, got := filesIn(t, tt.side, wire.SendMessage, false, doc)
		for i := range got {
			if p := c.Pointer(got[i].Part); !strings.HasSuffix(p, "/message/parts/1") {
				t.Errorf("%s: it is at %s", name, p)
			}
			got[i].Part = 0
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if len(got) > 0 && !mayHaveFile([]byte(doc)) {
			t.Errorf("%s: it is said that there is none", name)
		}
	}
}

// mayHaveFile is what reading the document as an answer tells of it.
func mayHaveFile(doc []byte) bool {
	a, err := wire.ReadAnswer(wire.HTTPJSON, wire.V10, nil, doc, wire.Limits{})
	return err != nil || a.MayFile
}

// TestFilesEverywhere: in messages, statuses, histories and artifacts, of tasks, lists and
// events.
func TestFilesEverywhere(t *testing.T) {
	t.Parallel()
	const part, task = `{"parts":[{"url":"u"}]}`, `{"id":"t","status":{"state":"x","message":{"parts":[{"url":"u"}]}},"history":[{"parts":[{"url":"u"}]}],` +
		`"artifacts":[{"parts":[{"text":"t"},{"url":"u"}]}]}`
	for doc, want := range map[string][]string{
		`{"message":` + part + `}`:                                                    {"/message/parts/0"},
		`{"task":` + task + `}`:                                                       {"/task/status/message/parts/0", "/task/history/0/parts/0", "/task/artifacts/0/parts/1"},
		`{"tasks":[` + task + `]}`:                                                    {"/tasks/0/status/message/parts/0", "/tasks/0/history/0/parts/0", "/tasks/0/artifacts/0/parts/1"},
		`{"artifactUpdate":{"taskId":"t","artifact":` + part + `}}`:                   {"/artifactUpdate/artifact/parts/0"},
		`{"status_update":{"status":{"update":{"content":[{"raw":"QQ=="}]}}}}`:        {"/status_update/status/update/content/0"},
		`{"kind":"artifact-update","artifact":{"parts":[{"file":{"bytes":"QQ=="}}]}}`: {"/artifact/parts/0"},
	} {
		method := wire.SendStreamingMessage
		if strings.HasPrefix(doc, `{"tasks"`) {
			method = wire.ListTasks
		}
		c, files := filesIn(t, wire.Side{Version: wire.V10, Binding: wire.HTTPJSON}, method, true, doc)
		var got []string
		for _, f := range files {
			got = append(got, c.Pointer(f.Part))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", doc, diff)
		}
	}
}

// TestReplace: another part stands in the place of one, in the words of its version, and
// nothing else changes.
func TestReplace(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		side             wire.Side
		part, want, note string
	}{
		{wire.Side{Version: wire.V10, Binding: wire.HTTPJSON}, `{"url":"u"}`, `{"text":"\"gone\""}`, "1.0"},
		{wire.Side{Version: wire.V03, Binding: wire.HTTPJSON}, `{"file":{"fileWithUri":"u"}}`, `{"text":"\"gone\""}`, "ProtoJSON"},
		{wire.Side{Version: wire.V03, Binding: wire.HTTPJSON}, `{"kind":"file","file":{"uri":"u"}}`, `{"kind":"text","text":"\"gone\""}`, "a 0.3 notification"},
		{wire.Side{Version: wire.V03, Binding: wire.JSONRPC}, `{"kind":"file","file":{"uri":"u"}}`, `{"kind":"text","text":"\"gone\""}`, "0.3"},
		{wire.Side{Version: wire.V03, Binding: wire.JSONRPC}, `{"file":{"uri":"u"}}`, `{"kind":"text","text":"\"gone\""}`, "0.3 without a kind"},
		{wire.Side{Version: wire.V01, Binding: wire.JSONRPC}, `{"file":{"uri":"u"}, "type":"file"}`, `{"type":"text","text":"\"gone\""}`, "0.1"},
	} {
		before, after := `{ "message" : {"messageId":"m","parts":[ {"text":"a"} , `, ` ,{"text":"b"}]},"x":1.50 }`
		if tt.side.Binding == wire.JSONRPC {
			before, after = `{"params":`+before, after+`}`
		}
		c, files := filesIn(t, tt.side, wire.SendMessage, false, before+tt.part+after)
		if same := Replace(c, nil); string(same) != before+tt.part+after {
			t.Errorf("%s: nothing was replaced: %s", tt.note, same)
		}
		if len(files) != 1 {
			t.Fatalf("%s: %v", tt.note, files)
		}
		if got := string(Replace(c, map[int]string{files[0].Part: `"gone"`})); got != before+tt.want+after {
			t.Errorf("%s: %s", tt.note, got)
		}
	}
}

// FuzzFiles: whatever stands in a document that is taken, its files can be replaced, and
// then there are none.
func FuzzFiles(f *testing.F) {
	for _, seed := range []string{
		`{"message":{"parts":[{"url":"u"},{"raw":"QQ==","file":{"uri":"v"}}]}}`,
		`{"task":{"id":"t","history":[{"parts":[{"File":{"bytes":"UVE9PQ=="}}]}]}}`,
		`{"artifactUpdate":{"artifact":{"parts":[{"u\u0072l":"\ud83d\ude00"}]}}}`,
	} {
		f.Add(seed)
	}
	send, _ := wire.ByName(wire.V10, wire.SendStreamingMessage)
	f.Fuzz(func(t *testing.T, doc string) {
		for _, side := range []wire.Side{{Version: wire.V10, Binding: wire.HTTPJSON}, {Version: wire.V03, Binding: wire.HTTPJSON}, {Version: wire.V03, Binding: wire.JSONRPC}, {Version: wire.V01, Binding: wire.JSONRPC}} {
			c, err := wire.ReadCarriers(side, send, true, []byte(doc), wire.Limits{})
			if err != nil {
				continue
			}
			texts := map[int]string{}
			for _, file := range Files(c) {
				texts[file.Part] = "gone"
			}
			if len(texts) > 0 && !mayHaveFile([]byte(doc)) {
				t.Errorf("%s: %s: it is said that there is no file", side, doc)
			}
			again, err := wire.ReadCarriers(side, send, true, Replace(c, texts), wire.Limits{})
			if err != nil || len(Files(again)) > 0 {
				t.Errorf("%s: %s: %v remain, %v", side, doc, Files(again), err)
			}
		}
	})
}
