package console

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
)

// described is the document of the API, as a validator has it.
var described = sync.OnceValues(func() (map[string]any, *jsonschema.Compiler) {
	text, err := document("test", operations)
	if err != nil {
		panic(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		panic(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("file:///openapi.json", doc); err != nil {
		panic(err)
	}
	return doc.(map[string]any), c
})

var compiling sync.Mutex // a Compiler is for one at a time

// conform holds an answer to the document: the operation that answered says that it may
// answer so. What no operation answers is a problem all the same.
func (w *world) conform(method, path string, got answer) {
	w.t.Helper()
	if got.status < 400 && (path == "/" || path == "/ui" || strings.HasPrefix(path, uiPath)) {
		return // a page, and no answer of the API
	}
	pointer, media := "/components/schemas/Problem", "application/problem+json"
	for i := range operations {
		op := &operations[i]
		if _, ok := match(op.Path, path); ok && op.Method == method && got.status != http.StatusRequestHeaderFieldsTooLarge {
			media = got.header.Get("Content-Type")
			escape := strings.NewReplacer("~", "~0", "/", "~1")
			pointer = fmt.Sprintf("/paths/%s/%s/responses/%d", escape.Replace(op.Path), strings.ToLower(op.Method), got.status)
			if op.Out != nil || got.status >= 400 {
				pointer += "/content/" + escape.Replace(media) + "/schema"
			}
			if got.status == http.StatusNotModified || got.status == http.StatusSeeOther {
				return
			}
			if op.Media != "" && got.status == http.StatusOK && (op.Out == nil || media == op.Media) {
				return
			}
		}
	}
	if got.status == http.StatusRequestHeaderFieldsTooLarge || method == http.MethodHead { // net/http's, or without a body
		return
	}
	compiling.Lock()
	defer compiling.Unlock()
	_, c := described()
	schema, err := c.Compile("file:///openapi.json#" + pointer)
	if err != nil {
		w.t.Errorf("%s %s: %s as %s is not documented: %v", method, path, got, media, err)
		return
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(got.body))
	if err == nil {
		err = schema.Validate(value)
	}
	if err != nil {
		w.t.Errorf("%s %s: %s is not as documented: %v", method, path, got, err)
	}
}

// TestDocument: the served document has every operation, with what it takes, and nothing else.
func TestDocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	got := w.ask("GET", "/api/v1/openapi.json", nil)
	var doc struct {
		OpenAPI string `json:"openapi"`
		Paths   map[string]map[string]struct {
			ID   string   `json:"operationId"`
			Role api.Role `json:"x-role"`
		} `json:"paths"`
	}
	if err := json.Unmarshal([]byte(got.body), &doc); err != nil || doc.OpenAPI != "3.1.0" {
		t.Fatal(got, err)
	}
	n, ids := 0, map[string]bool{}
	for path, methods := range doc.Paths {
		for method, d := range methods {
			n++
			op, err := find(operations, newRequest(t, strings.ToUpper(method), strings.Replace(path, "{id}", "x", 1)))
			if err != nil || op.ID != d.ID || op.Role != d.Role || ids[d.ID] {
				t.Errorf("%s %s: %+v, %v", method, path, d, err)
			}
			ids[d.ID] = true
		}
	}
	if n != len(operations) {
		t.Errorf("%d operations in the document, %d served", n, len(operations))
	}
}

func newRequest(t *testing.T, method, path string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
