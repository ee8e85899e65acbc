package wire

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/taskstate"
)

// checkCarriers holds what is promised of every document that was read.
func checkCarriers(t rapid.TB, c *Carriers) {
	t.Helper()
	if len(c.List) == 0 && len(c.Marks) == 0 {
		return
	}
	root := valueOf(t, c.Doc)
	same := func(pointer string, span [2]int) {
		if got, want := valueOf(t, c.Doc[span[0]:span[1]]), follow(t, root, pointer); !reflect.DeepEqual(got, want) {
			t.Fatalf("at %q is %v, not %v, in %s", pointer, want, got, c.Doc)
		}
	}
	for i, x := range c.List {
		same(c.Pointer(i), x.Span)
		switch {
		case x.Place == 0 || i > 0 && x.Span[0] <= c.List[i-1].Span[0] || x.Parent >= i:
			t.Fatalf("carrier %d out of order: %+v in %s", i, x, c.Doc)
		case x.Parent >= 0 && (x.Span[1] >= c.List[x.Parent].Span[1] || c.List[x.Parent].History && !x.History):
			t.Fatalf("carrier %d: %+v is not in its parent, in %s", i, x, c.Doc)
		case x.State != taskstate.Named([]byte(x.State)):
			t.Fatalf("state %q", x.State)
		case x.Place != InPart && (x.Data != [2]int{} || x.Text != [2]int{}):
			t.Fatalf("data or text outside of a part: %+v", x)
		}
		for _, span := range [][2]int{x.Data, x.Text} {
			if span != [2]int{} && (span[0] <= x.Span[0] || span[1] >= x.Span[1]) {
				t.Fatalf("%v is not in %+v", span, x)
			}
		}
	}
	for _, m := range c.Marks {
		same(c.PointerTo(m), m.Value)
	}
	if len(c.Marks) > 0 && !mayCarry(c.Doc) {
		t.Fatalf("there may be none in %s", c.Doc)
	}
}

// checkAnswered: what ReadAnswer makes of an answer is among the carriers.
func checkAnswered(t rapid.TB, a Answer, c *Carriers) {
	t.Helper()
	for _, uri := range a.Extensions {
		if !slices.ContainsFunc(c.Marks, func(m Mark) bool { return m.Listed && m.Key == uri && !c.List[m.Carrier].History }) {
			t.Fatalf("extension %q is not found in %s", uri, c.Doc)
		}
	}
	if a.State != "" && !slices.ContainsFunc(c.List, func(x Carrier) bool { return x.Place == InStatus && x.State == a.State }) {
		t.Fatalf("state %s is not found in %s", a.State, c.Doc)
	}
	for _, task := range a.Tasks {
		if task.Span != [2]int{} && !slices.ContainsFunc(c.List, func(x Carrier) bool {
			return x.Place == InTask && x.Span == task.Span && x.Task == task.ID
		}) {
			t.Fatalf("task %+v is not found in %s", task, c.Doc)
		}
	}
	if a.Kind == "" || a.Kind == kindList {
		return
	}
	if !slices.ContainsFunc(c.List, func(x Carrier) bool {
		named := a.Kind == kindMessage || len(a.Tasks) == 0 && x.Task == "" ||
			slices.ContainsFunc(a.Tasks, func(task TaskRef) bool { return task.ID == x.Task })
		return x.Place == placeOf(a.Kind) && !x.History && named
	}) {
		t.Fatalf("%s %+v is not found in %s", a.Kind, a.Tasks, c.Doc)
	}
}

// TestA08_CarriersMissNothing: whatever the dialect, every mark is found once, and
// nothing else is taken for one.
func TestA08_CarriersMissNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		d, m, answer := drawCarrierDoc(r)
		doc := []byte(d.b.String())
		c, err := ReadCarriers(d.side, m, answer, doc, Limits{})
		if err != nil {
			r.Fatalf("%v: %s", err, doc)
		}
		got := []string{}
		for _, mark := range c.Marks {
			got = append(got, mark.Key)
		}
		if !slices.Equal(got, append([]string{}, d.want...)) {
			r.Fatalf("found %q, not %q, in %s", got, d.want, doc)
		}
		checkCarriers(r, c)
		if answer {
			a, err := ReadAnswer(d.side.Binding, d.side.Version, m, doc, Limits{})
			if err != nil {
				r.Fatalf("%v: %s", err, doc)
			}
			checkAnswered(r, a, c)
		}
	})
}

// TestCarriersOfAnswers goes through the answers that ReadAnswer is tested with.
func TestCarriersOfAnswers(t *testing.T) {
	t.Parallel()
	_, cases := answerCases(t)
	for _, a := range cases {
		read, err := ReadAnswer(a.binding, a.version, a.method, a.body, Limits{})
		if err != nil {
			continue // its own test's business
		}
		c, err := ReadCarriers(Side{a.version, a.binding}, a.method, true, a.body, Limits{})
		if err != nil {
			t.Errorf("%s: %v", a.name, err)
			continue
		}
		checkCarriers(t, c)
		checkAnswered(t, read, c)
	}
}

// TestA08_AlmostCarriers: encoding/json and .NET read names in any case.
func TestA08_AlmostCarriers(t *testing.T) {
	t.Parallel()
	send, _ := ByName(V10, SendMessage)
	for doc, answer := range map[string]bool{
		`{"Task":{"id":"T"}}`:                                                true,
		`{"task":{"id":"T","Metadata":{"u":1}}}`:                             true,
		`{"task":{"id":"T","ARTIFACTS":[]}}`:                                 true,
		`{"task":{"artifacts":[{"exten\u017fions":["u"]}]}}`:                 true,
		`{"task":{"status":{"Message":{}}}}`:                                 true,
		`{"StatusUpdate":{"taskId":"T"}}`:                                    true,
		`{"task":{"history":[{"parts":[{"metaData":{"u":1}}]}]}}`:            true,
		`{"message":{"parts":[{"text":"x","Metadata":{"u":1}}]}}`:            false,
		`{"message":{"parts":[{"Data":{"u":1}}]},"metadata":{"Metadata":1}}`: false,
	} {
		_, err := ReadCarriers(Side{V10, HTTPJSON}, send, answer, []byte(doc), Limits{})
		want := InvalidParams
		if answer {
			want = BadAgentResponse
		}
		var e *Error
		if !errors.As(err, &e) || e.Kind != want {
			t.Errorf("%s: %v", doc, err)
		}
	}
	for _, doc := range []string{`{"Message":"oops"}`, `{"task":{"id":"T","metadata":{"Metadata":{}},"Status":null}}`} {
		if _, err := ReadCarriers(Side{V10, HTTPJSON}, send, true, []byte(doc), Limits{}); err != nil {
			t.Errorf("%s: %v", doc, err)
		}
	}
}

// TestCarriersBounded: a small document cannot make a large account of itself.
func TestCarriersBounded(t *testing.T) {
	t.Parallel()
	send, _ := ByName(V10, SendMessage)
	list := func(open, element, closing string, n int) string {
		return open + string(bytes.TrimSuffix(bytes.Repeat([]byte(element+","), n), []byte(","))) + closing
	}
	const most = 9000 // below the limit on one array
	parts := list(`{"parts":[`, `{}`, `]}`, most)
	marks := list(`{"extensions":[`, `"u"`, `]}`, most)
	for _, element := range []string{parts, marks} {
		for n, want := range map[int]bool{7: true, 8: false} {
			doc := list(`{"task":{"id":"T","artifacts":[`, element, `]}}`, n)
			_, err := ReadCarriers(Side{V10, HTTPJSON}, send, true, []byte(doc), Limits{})
			if (err == nil) != want {
				t.Errorf("%d times %.20s…: %v", n, element, err)
			}
		}
	}
}

func TestReadCarriersRefuses(t *testing.T) {
	t.Parallel()
	send, _ := ByName(V10, SendMessage)
	for doc, kind := range map[string]*Kind{
		`{"message":{}`:                               parseError,
		`{"message":{"metadata":{"a":1,"a":2}}}`:      InvalidRequest,
		`{"message":{},"me\u0073sage":{}}`:            InvalidRequest,
		`{"message":{"parts":[{"data":{"a":[[]]}}]}}`: parseError, // too deep
	} {
		for _, answer := range []bool{false, true} {
			_, err := ReadCarriers(Side{V10, HTTPJSON}, send, answer, []byte(doc), Limits{Depth: 6})
			want := kind
			if answer {
				want = BadAgentResponse
			}
			var e *Error
			if !errors.As(err, &e) || e.Kind != want {
				t.Errorf("%s: %v, not %v", doc, err, want)
			}
		}
	}
	for _, doc := range []string{"", " \n", "null", "[]", "7"} {
		c, err := ReadCarriers(Side{V10, HTTPJSON}, send, false, []byte(doc), Limits{})
		if err != nil || len(c.List) > 0 {
			t.Errorf("%q: %v", doc, err)
		}
	}
}

// mayCarry is what reading doc finds out about it.
func mayCarry(doc []byte) bool {
	s := Rescan(doc)
	defer s.Release()
	s.Skip()
	return hintsOf(s).MayCarry
}

func TestMayCarry(t *testing.T) {
	t.Parallel()
	send, _ := ByName(V10, SendMessage)
	for member, want := range map[string]bool{
		`"tags":{}`:                       false,
		`"metadata":{}`:                   true,
		`"extensions":[]`:                 true,
		`"\u006detadata":{}`:              true,
		`"MetaData":{}`:                   true,
		`"meta_data":{}`:                  true,
		`"-EXTENSIONS":[]`:                true,
		`"exten\u017fionſ":[]`:            true,
		`"metadata\u0000":{}`:             true,
		`"extension":[],"metadatas":"\n"`: false,
		`"tags":["metadata",{"extensions2":"metadata:"}]`: false,
		`"tags":[[{"metadata":1}]]`:                       true,
		`"metadatb":1,"\u00e9":"\u006d"`:                  false,
	} {
		params := `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":{` + member + `}}]}}`
		for name, envelope := range map[string]string{
			"in order":     `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":` + params + `}`,
			"params first": `{"params":` + params + `,"jsonrpc":"2.0","id":1,"method":"SendMessage"}`,
		} {
			c := &Call{}
			if e := c.DecodeJSONRPC([]byte(envelope), "", Limits{}); e != nil || c.MayCarry != want {
				t.Errorf("JSON-RPC, %s: %v of %s (%v)", name, c.MayCarry, member, e)
			}
		}
		c := &Call{}
		if e := c.DecodeHTTP(Route{Method: send, Version: V10}, nil, []byte(params), "", Limits{}); e != nil || c.MayCarry != want {
			t.Errorf("HTTP+JSON: %v of %s (%v)", c.MayCarry, member, e)
		}
		message, err := RequestMessage(send, V10, []byte(params))
		if err != nil {
			t.Fatal(err)
		}
		if e := c.DecodeGRPC(send, V10, message, "", Limits{}); e != nil || c.MayCarry != want {
			t.Errorf("gRPC: %v of %s (%v)", c.MayCarry, member, e)
		}
		for _, b := range []Binding{JSONRPC, HTTPJSON, GRPC} {
			body := params
			if b == JSONRPC {
				body = `{"jsonrpc":"2.0","id":1,"result":` + params + `}`
			}
			if a, err := ReadAnswer(b, V10, send, []byte(body), Limits{}); err != nil || a.MayCarry != want {
				t.Errorf("answer in %s: %v of %s (%v)", b, a.MayCarry, member, err)
			}
		}
	}
	for _, known := range []bool{mayCarry([]byte(`{"metadata":1}`)), mayCarry([]byte(`{}`))} { // the pool forgets
		if a, err := ReadAnswer(HTTPJSON, V10, send, []byte(`{}`), Limits{}); err != nil || a.MayCarry {
			t.Errorf("after %v: %+v, %v", known, a, err)
		}
	}
}

// TestMayMark: what a name resembles is what the tables of names fold it to.
func TestMayMark(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		var name []byte
		for _, c := range rapid.SampledFrom([]string{"metadata", "extensions"}).Draw(r, "word") {
			one := []string{string(c), string(c), string(c), strings.ToUpper(string(c))}
			if c == 's' {
				one = append(one, "ſ")
			}
			name = append(name, rapid.SampledFrom(one).Draw(r, "spelled")...)
			name = append(name, rapid.SampledFrom([]string{
				"", "", "", "", "", "", "", "", "", "_", "-", " ", "\x00", "x", "ſ", "\u212a", "é", "\xc5", "@", "[",
			}).Draw(r, "between")...)
		}
		folded := string(jsonscan.Fold(nil, name, jsonscan.LongestName))
		if want := folded == "metadata" || folded == "extensions"; mayMark(name) != want {
			r.Fatalf("%v of %q", !want, name)
		}
	})
}

// FuzzReadCarriers: no bytes make the reader panic; what it finds is where it says;
// nothing is missed that ReadAnswer sees; changes are what they are to the value.
func FuzzReadCarriers(f *testing.F) {
	_, cases := carrierCases(f)
	for i, c := range cases {
		f.Add(byte(i), c.doc, []byte{7, 0, 1, 1, 0, 2, 1, 0, 0, 1, 2, 3, 0, 1, 2, 1, 1, 0})
	}
	f.Fuzz(func(t *testing.T, n byte, doc, steps []byte) {
		form := cases[int(n)%len(cases)]
		c, err := ReadCarriers(form.side, form.method, form.answer, doc, Limits{})
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || form.answer && e.Kind != BadAgentResponse {
				t.Fatalf("error of another kind: %v", err)
			}
			return
		}
		checkCarriers(t, c)
		if form.answer {
			if a, err := ReadAnswer(form.side.Binding, form.side.Version, form.method, doc, Limits{}); err == nil {
				checkAnswered(t, a, c)
			}
		}
		checkEdits(t, c, func(n int) int {
			if len(steps) == 0 {
				return 0
			}
			k := int(steps[0])
			steps = steps[1:]
			return k % n
		})
	})
}
