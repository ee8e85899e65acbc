package wire

import (
	"bytes"
	"errors"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/taskstate"
)

// FuzzReadAnswer: no bytes make the reader panic; whatever it accepts is JSON by
// jsontext's strict reading, once half surrogate pairs are mended, spans and id lie in the body, and a filtered list is
// JSON in which no task is left that was not kept.
func FuzzReadAnswer(f *testing.F) {
	_, cases := answerCases(f)
	for i, c := range cases {
		f.Add(byte(i), c.body)
		f.Add(byte(i), bytes.Replace(c.body, []byte(`"text":"`), []byte(`"text":"\ud83d`), 1))
	}
	type form struct {
		binding Binding
		version Version
		method  *Method
	}
	var forms []form
	for _, c := range cases {
		forms = append(forms, form{c.binding, c.version, c.method})
	}
	f.Fuzz(func(t *testing.T, n byte, body []byte) {
		c := forms[int(n)%len(forms)]
		before := bytes.Clone(body)
		a, err := ReadAnswer(c.binding, c.version, c.method, body, Limits{})
		if !bytes.Equal(body, before) {
			t.Fatal("the body was changed")
		}
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Kind != BadAgentResponse {
				t.Fatalf("error of another kind: %v", err)
			}
			return
		}
		if len(bytes.TrimSpace(body)) > 0 && !jsontext.Value(jsonscan.Mend(body)).IsValid() {
			t.Fatalf("accepted %q", body)
		}
		if a.ID != nil && !bytes.Contains(body, a.ID) {
			t.Fatalf("id %q is not in %q", a.ID, body)
		}
		if a.State != "" && taskstate.Named([]byte(a.State)) != a.State {
			t.Fatalf("state %q", a.State)
		}
		again, err := ReadAnswer(c.binding, c.version, c.method, body, Limits{})
		if diff := cmp.Diff(a, again); diff != "" || err != nil {
			t.Fatalf("read differently the second time: %v %s", err, diff)
		}
		if a.Kind == kindList {
			checkFiltered(t, c.binding, c.method, body, a)
		}
	})
}

// checkFiltered cuts every second task out and reads the rest again.
func checkFiltered(t *testing.T, b Binding, m *Method, body []byte, a Answer) {
	t.Helper()
	n := -1
	var kept []string
	out, err := FilterTasks(b, V10, body, a, func(ref TaskRef) bool {
		if n++; n%2 == 0 {
			return false
		}
		kept = append(kept, ref.ID)
		return true
	})
	if err != nil {
		t.Fatalf("filter %q: %v", body, err)
	}
	rest, err := ReadAnswer(b, V10, m, out, Limits{})
	if err != nil {
		t.Fatalf("%q was filtered to %q: %v", body, out, err)
	}
	var left []string
	for _, ref := range rest.Tasks {
		left = append(left, ref.ID)
	}
	if diff := cmp.Diff(kept, left); diff != "" {
		t.Fatalf("%q was filtered to %q:\n%s", body, out, diff)
	}
}
