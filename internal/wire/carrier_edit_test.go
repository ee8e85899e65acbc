package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// valueOf reads a document into maps and slices.
func valueOf(t rapid.TB, doc []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v: %s", err, doc)
	}
	return v
}

// follow goes where an RFC 6901 pointer points.
func follow(t rapid.TB, v any, pointer string) any {
	t.Helper()
	if pointer == "" {
		return v
	}
	for _, step := range strings.Split(pointer, "/")[1:] {
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		switch x := v.(type) {
		case map[string]any:
			var ok bool
			if v, ok = x[step]; !ok {
				t.Fatalf("pointer %q: no %q", pointer, step)
			}
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(x) {
				t.Fatalf("pointer %q: no element %q", pointer, step)
			}
			v = x[i]
		default:
			t.Fatalf("pointer %q: nothing at %q", pointer, step)
		}
	}
	return v
}

// model makes the same changes to maps and slices.
type model struct {
	t    rapid.TB
	root any
	was  map[int][]any // of a carrier: what the elements of its list were, nil where removed
}

func (o *model) remove(c *Carriers, m Mark) {
	object, _ := follow(o.t, o.root, c.Pointer(m.Carrier)).(map[string]any)
	if !m.Listed {
		delete(object["metadata"].(map[string]any), m.Key)
		return
	}
	type gone struct{} // leaves the indexes as they are until the end
	object["extensions"].([]any)[m.index] = gone{}
	o.was[m.Carrier] = append(o.was[m.Carrier], gone{})
}

func (o *model) set(c *Carriers, i int, key string, value []byte) {
	if c.List[i].Place == InStatus {
		return
	}
	object, _ := follow(o.t, o.root, c.Pointer(i)).(map[string]any)
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		metadata = map[string]any{}
		object["metadata"] = metadata
	}
	metadata[key] = valueOf(o.t, value)
}

func (o *model) add(c *Carriers, i int, uri string) {
	if p := c.List[i].Place; p != InMessage && p != InArtifact || !c.lists {
		return
	}
	object, _ := follow(o.t, o.root, c.Pointer(i)).(map[string]any)
	list, _ := object["extensions"].([]any)
	if !slices.Contains(list, any(uri)) {
		object["extensions"] = append(list, uri)
	}
}

// done takes the removed elements out.
func (o *model) done(c *Carriers) any {
	for i, gone := range o.was {
		object, _ := follow(o.t, o.root, c.Pointer(i)).(map[string]any)
		list, _ := object["extensions"].([]any)
		object["extensions"] = slices.DeleteFunc(list, func(v any) bool {
			return reflect.TypeOf(v) == reflect.TypeOf(gone[0])
		})
	}
	return o.root
}

// source says which change is next: a number below n.
type source func(n int) int

// checkEdits makes changes at random and holds the result against the model's.
func checkEdits(t rapid.TB, c *Carriers, next source) {
	t.Helper()
	if len(c.List) == 0 {
		return
	}
	o := &model{t: t, root: valueOf(t, c.Doc), was: map[int][]any{}}
	touched := map[[2]int]bool{} // what may differ
	values := []string{`1`, `"\u2028"`, ` {"a" : [ ] }`, `null`}
	for range next(8) {
		i, fresh := next(len(c.List)), fmt.Sprintf("new/%d", next(3))
		if len(c.Marks) > 0 && next(3) > 0 { // of something that is there
			m := c.Marks[next(len(c.Marks))]
			if next(2) == 0 {
				c.Remove(m)
				o.remove(c, m)
				touch(c, touched, m.Carrier, m.Listed)
				continue
			}
			i, fresh = m.Carrier, m.Key
		}
		if next(2) == 0 {
			value := []byte(values[next(len(values))])
			c.Set(i, fresh, value)
			o.set(c, i, fresh, value)
			touch(c, touched, i, false)
		} else {
			c.Add(i, fresh)
			o.add(c, i, fresh)
			touch(c, touched, i, true)
		}
	}
	before := bytes.Clone(c.Doc)
	got := c.Apply()
	if !bytes.Equal(before, c.Doc) || !bytes.Equal(got, c.Apply()) {
		t.Fatal("Apply has changed something")
	}
	want := o.done(c)
	if !reflect.DeepEqual(valueOf(t, got), want) {
		printed, _ := json.Marshal(want)
		t.Fatalf("changes %+v\nof   %s\ngave %s\nwant %s", c.changes, c.Doc, got, printed)
	}
	checkUntouched(t, c, got, touched)
}

func touch(c *Carriers, touched map[[2]int]bool, i int, listed bool) {
	span := c.List[i].metadata
	if listed {
		span = c.List[i].extensions
	}
	if span == [2]int{} {
		span = [2]int{c.List[i].Span[0] + 1, c.List[i].Span[0] + 1}
	}
	touched[span] = true
}

// checkUntouched: between what was changed, everything is as it was.
func checkUntouched(t rapid.TB, c *Carriers, got []byte, touched map[[2]int]bool) {
	t.Helper()
	var spans [][2]int
	for span := range touched {
		spans = append(spans, span)
	}
	slices.SortFunc(spans, func(x, y [2]int) int { return x[0] - y[0] })
	from, rest := 0, got
	for n, span := range spans {
		piece := c.Doc[from:span[0]]
		at := bytes.Index(rest, piece)
		if at < 0 || n == 0 && at > 0 {
			t.Fatalf("%q is gone from %q", piece, got)
		}
		rest, from = rest[at+len(piece):], span[1]
	}
	if !bytes.HasSuffix(rest, c.Doc[from:]) || len(spans) == 0 && !bytes.Equal(got, c.Doc) {
		t.Fatalf("%q is not at the end of %q", c.Doc[from:], got)
	}
}

// TestApply: a change does to the document what it does to its value, and nothing else.
func TestApply(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		d, m, answer := drawCarrierDoc(r)
		c, err := ReadCarriers(d.side, m, answer, []byte(d.b.String()), Limits{})
		if err != nil {
			r.Fatalf("%v: %s", err, d.b.String())
		}
		checkEdits(r, c, func(n int) int { return rapid.IntRange(0, n-1).Draw(r, "next") })
	})
}

func TestApplyForms(t *testing.T) {
	t.Parallel()
	send, _ := ByName(V10, SendMessage)
	for _, test := range []struct {
		name, in, want string
		version        Version
		do             func(c *Carriers)
	}{
		{"nothing", `{"message":{}}`, `{"message":{}}`, V10, func(*Carriers) {}},
		{"first", `{"message":{"metadata": { "a" : 1 , "b":2 }}}`, `{"message":{"metadata": { "b":2 }}}`, V10, removing("a")},
		{"last", `{"message":{"metadata": { "a" : 1 , "b":2 }}}`, `{"message":{"metadata": { "a" : 1 }}}`, V10, removing("b")},
		{"all", `{"message":{"metadata": { "a" : 1 , "b":2 }}}`, `{"message":{"metadata": {  }}}`, V10, removing("a", "b")},
		{"neighbours", `{"message":{"extensions":["a","b","c","d"]}}`, `{"message":{"extensions":["a","d"]}}`, V10, removing("b", "c")},
		{"no string", `{"message":{"extensions":["a",1,"c"]}}`, `{"message":{"extensions":[1,"c"]}}`, V10, removing("a")},
		{"replace", `{"message":{"metadata":{"a" : 1, "b":2}}}`, `{"message":{"metadata":{"a" : true, "b":2}}}`, V10, setting("a", "true")},
		{"twice", `{"message":{}}`, `{"message":{"metadata":{"a":2}}}`, V10, both(setting("a", "1"), setting("a", "2"))},
		{"after removal", `{"message":{"metadata":{"a":1}}}`, `{"message":{"metadata":{"a":2}}}`, V10, both(removing("a"), setting("a", "2"))},
		{"before removal", `{"message":{"metadata":{"a":1}}}`, `{"message":{"metadata":{}}}`, V10, both(setting("a", "2"), removing("a"))},
		{"null", `{"message":{"metadata":null}}`, `{"message":{"metadata":{"a":1}}}`, V10, setting("a", "1")},
		{"make both", `{"message":{ "role":1}}`, `{"message":{"metadata":{"a":1},"extensions":["a"], "role":1}}`, V10,
			both(adding("a"), setting("a", "1"))},
		{"quote", `{"message":{ }}`, "{\"message\":{\"metadata\":{\"\\\"\\n\":1} }}", V10, setting("\"\n", "1")},
		{"listed", `{"message":{"extensions":["\u0061"]}}`, `{"message":{"extensions":["\u0061"]}}`, V10, adding("a")},
		{"list more", `{"message":{"extensions":[ "a" ]}}`, `{"message":{"extensions":[ "a","b","c" ]}}`, V10, both(adding("b"), adding("c"))},
		{"list again", `{"message":{"extensions":["a"]}}`, `{"message":{"extensions":["a"]}}`, V10, both(removing("a"), adding("a"))},
		{"list first", `{"message":{"extensions":[ ]}}`, `{"message":{"extensions":["a" ]}}`, V10, adding("a")},
		{"no lists in 0.1", `{"jsonrpc":"2.0","params":{"message":{}}}`, `{"jsonrpc":"2.0","params":{"message":{}}}`, V01, adding("a")},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			side := Side{test.version, HTTPJSON}
			if test.version == V01 {
				side.Binding = JSONRPC
			}
			c, err := ReadCarriers(side, send, false, []byte(test.in), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			test.do(c)
			if got := string(c.Apply()); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// The changes of TestApplyForms are to the message, which comes second.

func removing(keys ...string) func(c *Carriers) {
	return func(c *Carriers) {
		for _, m := range c.Marks {
			if slices.Contains(keys, m.Key) {
				c.Remove(m)
			}
		}
	}
}

func setting(key, value string) func(c *Carriers) {
	return func(c *Carriers) { c.Set(1, key, []byte(value)) }
}

func adding(uri string) func(c *Carriers) { return func(c *Carriers) { c.Add(1, uri) } }

func both(first, second func(c *Carriers)) func(c *Carriers) {
	return func(c *Carriers) { first(c); second(c) }
}
