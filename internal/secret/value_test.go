package secret

import (
	"bytes"
	stdjson "encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"
)

const canary = "hunter2-canary"

// holder has a Value wherever reflection may find one.
type holder struct {
	Open   Value
	Ptr    *Value
	List   []Value
	Map    map[string]Value
	hidden Value
	inner  struct{ deep *Value }
}

func newHolder() holder {
	v := New(canary)
	h := holder{Open: v, Ptr: &v, List: []Value{v}, Map: map[string]Value{"k": v}, hidden: v}
	h.inner.deep = &v
	return h
}

func TestValueNeverPrints(t *testing.T) {
	t.Parallel()
	h := newHolder()
	for verb := rune('!'); verb <= '~'; verb++ {
		for _, flags := range []string{"", "#", "+", "-", "020", " ", "+#", ".3"} {
			format := "%" + flags + string(verb)
			for _, operand := range []any{h.Open, h.Ptr, h, &h, h.List, h.Map, any(h), struct{ v Value }{h.Open}} {
				out := fmt.Sprintf(format, operand)
				if strings.Contains(out, canary) || strings.Contains(out, fmt.Sprintf("%x", canary)) {
					t.Errorf("Sprintf(%q, %T) shows the text: %s", format, operand, out)
				}
			}
		}
	}
}

func TestValueForms(t *testing.T) {
	t.Parallel()
	v, empty := New(canary), New("")
	tests := []struct{ format, want, wantEmpty string }{
		{"%v", redacted, ""},
		{"%s", redacted, ""},
		{"%d", redacted, ""},
		{"%x", redacted, ""},
		{"%q", `"[redacted]"`, `""`},
		{"%#v", `secret.New("[redacted]")`, `secret.New("")`},
	}
	for _, tt := range tests {
		if got := fmt.Sprintf(tt.format, v); got != tt.want {
			t.Errorf("%s = %s, want %s", tt.format, got, tt.want)
		}
		if got := fmt.Sprintf(tt.format, empty); got != tt.wantEmpty {
			t.Errorf("%s of empty = %s, want %s", tt.format, got, tt.wantEmpty)
		}
	}
	if !empty.IsZero() || v.IsZero() || v.Reveal() != canary || empty.Reveal() != "" {
		t.Error("IsZero or Reveal is wrong")
	}
}

func TestValueMarshalsRedacted(t *testing.T) {
	t.Parallel()
	h := newHolder()
	marshal := map[string]func(any) ([]byte, error){
		"encoding/json": stdjson.Marshal,
		"json v2":       func(v any) ([]byte, error) { return json.Marshal(v) },
		"yaml":          yaml.Marshal,
		"xml":           func(any) ([]byte, error) { return xml.Marshal(h.Open) },
		"slog text": func(v any) ([]byte, error) {
			var b bytes.Buffer
			slog.New(slog.NewTextHandler(&b, nil)).Info("m", "v", h.Open, "h", v)
			return b.Bytes(), nil
		},
		"slog json": func(v any) ([]byte, error) {
			var b bytes.Buffer
			slog.New(slog.NewJSONHandler(&b, nil)).Info("m", "v", h.Open, "h", v)
			return b.Bytes(), nil
		},
	}
	for name, f := range marshal {
		out, err := f(h)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if bytes.Contains(out, []byte(canary)) || !bytes.Contains(out, []byte("redacted")) {
			t.Errorf("%s: %s", name, out)
		}
	}
}

func TestValueEqual(t *testing.T) {
	t.Parallel()
	if !New("a").Equal(New("a")) || New("a").Equal(New("b")) || !New("").Equal(Value{}) {
		t.Error("Equal is wrong")
	}
	if diff := cmp.Diff(New("a"), New("a")); diff != "" {
		t.Error(diff)
	}
	if !reflect.DeepEqual(newHolder(), newHolder()) {
		t.Error("equal configurations are not deeply equal")
	}
}

func TestValueUnmarshalYAML(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	fileOf := func(path string) string { return "v: {file: " + strconv.Quote(path) + "}" }
	tests := []struct{ name, in, want, wantErr string }{
		{"plain", "v: abc", "abc", ""},
		{"quoted", `v: "a: b"`, "a: b", ""},
		{"number keeps its spelling", "v: 0123", "0123", ""},
		{"bool keeps its spelling", "v: yes", "yes", ""},
		{"null", "v: null", "", ""},
		{"absent value", "v:", "", ""},
		{"anchor", "a: &x abc\nv: *x", "abc", ""},
		{"block", "v: |\n  one\n  two\n", "one\ntwo\n", ""},
		{"file LF", fileOf(file("lf", "abc\n")), "abc", ""},
		{"file CRLF", fileOf(file("crlf", "abc\r\n")), "abc", ""},
		{"file keeps inner and further line ends", fileOf(file("two", "a\nb\n\n")), "a\nb\n", ""},
		{"file keeps spaces", fileOf(file("space", " a ")), " a ", ""},
		{"file missing", fileOf(dir + "/none"), "", dir + "/none"},
		{"file empty", fileOf(file("empty", "\n")), "", "empty: the file is empty"},
		{"file too large", fileOf(file("big", strings.Repeat(canary, 6000))), "",
			"big: larger than 64KiB"},
		{"directory", fileOf(dir), "", dir},
		{"other key", "v: {hunter2-canary: x}", "", "line 1: read secret: want the text itself or {file: path}"},
		{"two keys", "v: {file: x, mode: y}", "", "want the text"},
		{"file not text", "v: {file: [hunter2-canary]}", "", "want the text"},
		{"file null", "v: {file: }", "", "want the text"},
		{"list", "v: [hunter2-canary]", "", "want the text"},
	}
	for _, tt := range tests {
		var got struct {
			A string
			V Value
		}
		err := yaml.Unmarshal([]byte(tt.in), &got)
		switch {
		case tt.wantErr == "" && err != nil:
			t.Errorf("%s: %v", tt.name, err)
		case tt.wantErr != "" && (err == nil || !strings.Contains(err.Error(), tt.wantErr)):
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.wantErr)
		case err != nil && strings.Contains(err.Error(), canary):
			t.Errorf("%s: the error shows the text: %v", tt.name, err)
		case got.V.Reveal() != tt.want:
			t.Errorf("%s: %q, want %q", tt.name, got.V.Reveal(), tt.want)
		}
	}
}
