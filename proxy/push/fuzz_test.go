package push

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// plainly is a cipher that is none: what is behind a seal may be anything.
type plainly struct{}

func (plainly) Seal(plain, _ []byte) []byte           { return plain }
func (plainly) Open(sealed, _ []byte) ([]byte, error) { return sealed, nil }

var revealed = cmp.Comparer(func(a, b secret.Value) bool { return a.Reveal() == b.Reveal() })

// FuzzOpenItem: of whatever was sealed, a delivery is read that belongs where it lies, and
// that is written and read again the same; or none, and the error quotes nothing.
func FuzzOpenItem(f *testing.F) {
	it, err := sample().item(plainly{})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(it.Data, it.Line)
	f.Add([]byte(`{"agent":"a","task":"t","config":"c"}`), lineOf("a", "t", "c"))
	f.Add([]byte(`{"agent":"a","agent":"b"}`), lineOf("b", "", ""))
	f.Add([]byte(`{"body":"!","token":"hush-hush-hush"`), it.Line)
	f.Fuzz(func(t *testing.T, plain []byte, line string) {
		d, err := openItem(state.Item{ID: "n", Line: line, Data: plain}, plainly{})
		if err != nil {
			if text := err.Error(); text != errUnreadable.Error() {
				t.Errorf("%q: %v", plain, err)
			}
			return
		}
		again, err := d.item(plainly{})
		if err != nil || again.Line != line && lineOf(d.Agent, d.Task, d.Config) != line {
			t.Fatalf("%+v lies in %q, %v; was in %q", d, again.Line, err, line)
		}
		same, err := openItem(again, plainly{})
		if diff := cmp.Diff(d, same, revealed, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%q, %v:\n%s", plain, err, diff)
		}
		if d.Token.Reveal() != "" && len(d.Token.Reveal()) > 8 && strings.Contains(d.String(), d.Token.Reveal()) &&
			!strings.Contains(d.ID+d.Agent+d.Task+d.Config+d.Host(), d.Token.Reveal()) {
			t.Errorf("%s shows the token", d)
		}
	})
}

// FuzzWritten: a webhook that was read is written the same.
func FuzzWritten(f *testing.F) {
	f.Add([]byte(`{"agent":"a","owner":"o","url":"https://c.test/h","token":"t","version":"1.0","created":"2026-11-22T13:00:00Z"}`))
	f.Add([]byte(`{"renamed":{},"session":null,"ended":"2026-11-22T13:00:00+02:00"}`))
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"url":"https://user:pass@c.test/\u0000","token":"\"","renamed":{"":"","a":"b"},"created":"0001-01-01T00:00:00Z"}`))
	f.Add([]byte(`{"agent":1,"owner":[],"created":"9999-12-31T23:59:59.999999999-23:59"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var w written
		if json.Unmarshal(data, &w) != nil {
			return
		}
		if diff := cmp.Diff(w, w.read("id").write()); diff != "" {
			t.Errorf("%q:\n%s", data, diff)
		}
	})
}
