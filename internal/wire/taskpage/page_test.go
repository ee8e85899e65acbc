package taskpage

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// edited reads a ListTasks answer and edits it.
func edited(t testing.TB, b wire.Binding, body string, e Edit) (string, *Page, error) {
	t.Helper()
	m, _ := wire.ByName(wire.V10, wire.ListTasks)
	a, err := wire.ReadAnswer(b, wire.V10, m, []byte(body), wire.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Read(b, []byte(body))
	if err != nil {
		return "", nil, err
	}
	for range len(a.Tasks) - len(e.Keep) {
		e.Keep = append(e.Keep, true)
	}
	out, err := p.Edit([]byte(body), a, e)
	if err == nil && !jsontext.Value(out).IsValid() {
		t.Errorf("%s becomes %s, which is no JSON", body, out)
	}
	return string(out), p, err
}

func TestPage(t *testing.T) {
	t.Parallel()
	x := func(texts ...string) (list [][]byte) {
		for _, s := range texts {
			list = append(list, []byte(s))
		}
		return list
	}
	for name, tt := range map[string]struct {
		in   string
		edit Edit
		want string
	}{
		"nothing": {
			`{"tasks":[ {"id":"a"} ], "nextPageToken":"", "pageSize":50,"totalSize":1}`, Edit{Size: 50, Total: 1},
			`{"tasks":[ {"id":"a"} ], "nextPageToken":"", "pageSize":50,"totalSize":1}`,
		},
		"all": {
			`{"tasks":[ {"id":"a"} , {"id":"b"} ], "nextPageToken":"t" ,"pageSize":2,"totalSize":9}`,
			Edit{Keep: []bool{true, false}, More: x(`{"id":"c"}`, `{ "id":"d"}`), Next: "\"s", Size: 2, Total: 3},
			`{"tasks":[ {"id":"a"} ,{"id":"c"},{ "id":"d"}], "nextPageToken":"\"s" ,"pageSize":2,"totalSize":3}`,
		},
		"none kept, more": {
			`{"tasks":[{"id":"a"}],"nextPageToken":"t","totalSize":9}`, Edit{Keep: []bool{false}, More: x(`{"id":"c"}`), Total: 1},
			`{"tasks":[{"id":"c"}],"nextPageToken":"","totalSize":1}`,
		},
		"empty, more": {
			`{"tasks":[],"nextPageToken":"t","totalSize":9}`, Edit{More: x(`{"id":"c"}`), Total: 1},
			`{"tasks":[{"id":"c"}],"nextPageToken":"","totalSize":1}`,
		},
		"null, more": {
			`{"tasks":null,"nextPageToken":"t","totalSize":9}`, Edit{More: x(`{"id":"c"}`), Total: 1},
			`{"tasks":[{"id":"c"}],"nextPageToken":"","totalSize":1}`,
		},
		"absent, more": {
			`{"nextPageToken":"t","totalSize":9}`, Edit{More: x(`{"id":"c"}`), Total: 1},
			`{"tasks":[{"id":"c"}],"nextPageToken":"","totalSize":1}`,
		},
		"no members to change": {`{"tasks":[{"id":"a"}]}`, Edit{Total: 5}, `{"tasks":[{"id":"a"}]}`},
		"no token to change":   {`{"tasks":[{"id":"a"}]}`, Edit{Next: "s"}, `{"nextPageToken":"s","tasks":[{"id":"a"}]}`},
		"null":                 {`null`, Edit{Total: 5}, `null`},
		"as other parsers read": {
			`{"tasks":[],"NextPageToken":"t","next_page_token":"u","TOTALSIZE":9,"total_size":"9","totalSize":null}`, Edit{Next: "s"},
			`{"tasks":[],"NextPageToken":"s","next_page_token":"s","TOTALSIZE":0,"total_size":0,"totalSize":0}`,
		},
	} {
		for b, wrap := range map[wire.Binding][2]string{wire.HTTPJSON: {"", ""}, wire.JSONRPC: {`{"jsonrpc":"2.0","id":1,"result":`, `}`}} {
			got, _, err := edited(t, b, wrap[0]+tt.in+wrap[1], tt.edit)
			if want := wrap[0] + tt.want + wrap[1]; err != nil || got != want {
				t.Errorf("%s over %s: %v\n%s, want\n%s", name, b, err, got, want)
			}
		}
	}
	_, p, _ := edited(t, wire.HTTPJSON, `{"tasks":[],"nextPageToken":"t\u00e9","pageSize":7}`, Edit{})
	if p.Next != "té" || p.Size != 7 {
		t.Errorf("read %+v", p)
	}
	for _, bad := range []string{`{"nextPageToken":1}`, `{"nextPageToken":{"a":"b"}}`} {
		if _, _, err := edited(t, wire.HTTPJSON, bad, Edit{}); err == nil {
			t.Errorf("%s is a page", bad)
		}
	}
	if _, _, err := edited(t, wire.HTTPJSON, `null`, Edit{Next: "t"}); err == nil {
		t.Error("something follows nothing")
	}
}

func TestSetPage(t *testing.T) {
	t.Parallel()
	const set = `"pageSize":7,"pageToken":"a\"b"`
	for in, want := range map[string]string{
		`{"id":1}`:                                        `{"params":{` + set + `},"id":1}`,
		`{"id":1,"params":null}`:                          `{"id":1,"params":{` + set + `}}`,
		`{"params" : { } }`:                               `{"params" : {` + set + ` } }`,
		`{"params":{"status":"X"}}`:                       `{"params":{` + set + `,"status":"X"}}`,
		`{"params":{"pageToken":"old","pageSize":1}}`:     `{"params":{"pageToken":"a\"b","pageSize":7}}`,
		`{"params":{"page_size": 1 ,"x":{"pageSize":1}}}`: `{"params":{"pageToken":"a\"b","page_size": 7 ,"x":{"pageSize":1}}}`,
		`{"params":{"page_token":null,"pageToken":"x"}}`:  `{"params":{"pageSize":7,"page_token":"a\"b","pageToken":"a\"b"}}`,
	} {
		got, err := Set([]byte(in), 7, `a"b`)
		if err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s, want\n%s", in, err, got, want)
		}
	}
	if _, err := Set([]byte(`{"a":`), 7, ""); err == nil {
		t.Error("half a document is a call")
	}
}

func TestSetPageRPC(t *testing.T) {
	t.Parallel()
	m, _ := wire.ByName(wire.V10, wire.ListTasks)
	doc := `{"contextId":"C","status":"TASK_STATE_WORKING","pageSize":3,"pageToken":"old","includeArtifacts":true}`
	message, err := wire.RequestMessage(m, wire.V10, []byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	unknown := protowire.AppendString(protowire.AppendTag(nil, 99, protowire.BytesType), "kept")
	for token, want := range map[string]string{
		"new": strings.Replace(strings.Replace(doc, "old", "new", 1), `"pageSize":3`, `"pageSize":7`, 1),
		"":    strings.Replace(strings.Replace(doc, `"pageToken":"old",`, "", 1), `"pageSize":3`, `"pageSize":7`, 1),
	} {
		got, err := SetRPC(m, wire.V10, append(unknown, message...), 7, token)
		if err != nil || !bytes.HasPrefix(got, unknown) {
			t.Fatalf("%x, %v", got, err)
		}
		expected, _ := wire.RequestMessage(m, wire.V10, []byte(want))
		var a, b wire.Call
		if e := a.DecodeGRPC(m, wire.V10, got[len(unknown):], wire.V10, wire.Limits{}); e != nil {
			t.Fatal(e)
		}
		if e := b.DecodeGRPC(m, wire.V10, expected, wire.V10, wire.Limits{}); e != nil || string(a.Body) != string(b.Body) {
			t.Errorf("%s, want %s, %v", a.Body, b.Body, e)
		}
	}
	other, _ := wire.ByName(wire.V10, wire.GetTask)
	if _, err := SetRPC(other, wire.V10, nil, 7, "x"); err == nil {
		t.Error("a method without pages has them")
	}
}

// FuzzPage makes sure that what an agent says of pages never gets through, and that
// the rest does.
func FuzzPage(f *testing.F) {
	for _, seed := range []string{
		`{"tasks":[{"id":"a"},{"id":"b"}],"nextPageToken":"secret","pageSize":2,"totalSize":77}`,
		`{"totalSize":77,"NEXT_PAGE_TOKEN":"secret","tasks":null}`, `null`, `{}`, `{"tasks":[]}`,
	} {
		f.Add(seed, uint8(1))
	}
	m, _ := wire.ByName(wire.V10, wire.ListTasks)
	f.Fuzz(func(t *testing.T, body string, keep uint8) {
		a, err := wire.ReadAnswer(wire.HTTPJSON, wire.V10, m, []byte(body), wire.Limits{})
		if err != nil || a.Error != 0 || a.Kind != "list" {
			return
		}
		p, err := Read(wire.HTTPJSON, []byte(body))
		if err != nil {
			return
		}
		e := Edit{More: [][]byte{[]byte(`{"id":"more"}`)}, Next: "sealed", Total: math.MaxInt32}
		kept := 1
		for i := range a.Tasks {
			is := keep>>(i%8)&1 != 0
			if e.Keep = append(e.Keep, is); is {
				kept++
			}
		}
		out, err := p.Edit([]byte(body), a, e)
		if err != nil {
			return
		}
		after, err := wire.ReadAnswer(wire.HTTPJSON, wire.V10, m, out, wire.Limits{})
		if err != nil || len(after.Tasks) != kept {
			t.Fatalf("%s becomes %s: %d tasks, %v", body, out, len(after.Tasks), err)
		}
		var page struct {
			Next  string `json:"nextPageToken,case:ignore"`
			Total any    `json:"totalSize,case:ignore"`
		}
		if err := json.Unmarshal(out, &page, jsontext.AllowDuplicateNames(true)); err == nil && page.Next != "sealed" {
			t.Fatalf("%s becomes %s", body, out)
		}
	})
}
