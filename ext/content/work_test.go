package content_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/content"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// of repeats a text, %d being the number of the turn, with commas in between.
func of(n int, text string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strings.ReplaceAll(text, "%d", fmt.Sprint(i)))
	}
	return b.String()
}

// TestA08_WorkIsLinear: twice the document is twice the work, whatever the agent makes
// it of. What takes the square of these sizes would not come to an end.
func TestA08_WorkIsLinear(t *testing.T) {
	testenv.Long(t, "documents of the largest size are judged")
	r := judged("")
	r[0].Kind, r[0].States = ext.States, moving("")[0].States
	book := compile(t, big(r))
	prefix := "https://example.com/" + strings.Repeat("x", 60)
	var declared []ext.Declared
	visible := ext.Set{pay}
	for i := range 256 {
		uri := fmt.Sprintf("%s%03d", prefix, i)
		declared, visible = append(declared, ext.Declared{URI: uri}), append(visible, uri)
	}
	terms := content.Terms{Book: book, Declared: ext.NewRoots(declared), Active: ext.Set{pay, stamp}, Visible: visible, Answer: true}
	for name, task := range map[string]func(n int) string{
		"members":         func(n int) string { return `"metadata":{` + of(n, `"k%d":1`) + `}` },
		"strays":          func(n int) string { return `"metadata":{` + of(n, `"`+stamp+`/%d":1`) + `}` },
		"almost declared": func(n int) string { return `"metadata":{` + of(n, `"`+prefix+`%d":1`) + `}` },
		"of a machine":    func(n int) string { return `"metadata":{` + of(n, `"pay.%d":{"state":"asked"}`) + `}` },
		"listed":          func(n int) string { return `"artifacts":[{"extensions":[` + of(n, `"urn:%d"`) + `]}]` },
		"listed once each": func(n int) string {
			return `"artifacts":[` + of(n, `{"extensions":["urn:x"],"metadata":{"pay.a":1}}`) + `]`
		},
		"bare artifacts":   func(n int) string { return `"artifacts":[` + of(n, `{}`) + `]` },
		"parts":            func(n int) string { return `"artifacts":[{"parts":[` + of(n, `{"data":{"v":%d}}`) + `]}]` },
		"history":          func(n int) string { return `"history":[` + of(n, `{"metadata":{"`+stamp+`":1}}`) + `]` },
		"a key of slashes": func(n int) string { return `"metadata":{"` + strings.Repeat("/", 200*n) + `":1}` },
		"its own":          func(n int) string { return `"metadata":{"` + stamp + strings.Repeat("/", 200*n) + `":1}` },
		"a large value":    func(n int) string { return `"metadata":{"pay.status":{"x":[` + of(n, `[%d]`) + `]}}` },
		"white space":      func(n int) string { return `"artifacts":[` + of(n, `{          "extensions" :[ "urn:x" ]}`) + `]` },
		"escaped":          func(n int) string { return `"metadata":{` + of(n, `"\u0070ay.%d":1`) + `}` },
	} {
		const n = 4500 // 9000 are below the limit on one array
		once, twice := worked(t, terms, task(n)), worked(t, terms, task(2*n))
		if twice > 3*once {
			t.Errorf("%s: %d bytes for %d, %d for twice as many", name, once, n, twice)
		}
	}
}

// worked is how many bytes it takes to judge and change a task. It does all that the
// proxy does, and more.
func worked(t *testing.T, terms content.Terms, task string) uint64 {
	t.Helper()
	doc := result(`{"task":{"id":"t","status":{"state":"TASK_STATE_WORKING"},` + task + `}}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c := read(t, doc)
	for _, list := range [][]content.Violation{
		terms.Unknown(c), terms.Values(c), terms.Objects(c), content.Data(c, terms.Book.Schemas(pay).Part, true),
		terms.Describe(c, terms.Strays(c), true),
	} {
		if len(list) > 64 {
			t.Errorf("%d violations", len(list))
		}
	}
	terms.Arrivals(c)
	for _, m := range terms.Strays(c) {
		c.Remove(m)
	}
	for i := range c.List {
		c.Set(i, "urn:a", []byte("1"))
		c.Add(i, "urn:a")
	}
	out := c.Apply()
	runtime.ReadMemStats(&after)
	if !json.Valid(out) {
		t.Error("what comes out is no JSON")
	}
	return after.TotalAlloc - before.TotalAlloc
}
