package mediatype

import (
	"bytes"
	"testing"
	"unicode/utf8"
)

const noJSON = "the agent's answer is no JSON "

// TestDocument: what is one document under any label, and what has two readings.
func TestDocument(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		lines []string
		body  string
		form  Form   // of what is read
		fault string // of what is not
	}{
		{[]string{"application/json"}, `{}`, "", ""},
		{[]string{"application/a2a+json"}, `{}`, "", ""},
		{[]string{"Application/JSON; Charset=UTF-8"}, `{"a":"ü"}`, "", ""},
		{[]string{`application/json;charset="utf8"`}, `{}`, "", ""},
		{[]string{"application/json; profile=x"}, `{}`, "", ""},
		{[]string{"application/problem+json"}, `{}`, "", ""},
		{nil, `{}`, "no Content-Type", ""},
		{[]string{""}, " \n[]", "no Content-Type", ""},
		{[]string{"application/json-rpc"}, `{}`, "Content-Type application/json-rpc", ""},
		{[]string{"application/jsonrequest"}, `{}`, "Content-Type application/jsonrequest", ""},
		{[]string{"text/json"}, `{}`, "Content-Type text/json", ""},
		{[]string{"application/x-json"}, `{}`, "Content-Type application/x-json", ""},
		{[]string{"application/vnd.api+json"}, `{}`, "Content-Type application/vnd.api+json", ""},
		{[]string{"text/plain"}, `{}`, "Content-Type text/plain", ""},
		{[]string{"application/octet-stream"}, `{}`, "Content-Type application/octet-stream", ""},
		{[]string{"json"}, `{}`, "Content-Type a malformed Content-Type", ""},
		{[]string{"application/json; charset=utf-8; charset=utf-8"}, `{}`, "", ""},
		{[]string{"application/json, application/json"}, `{}`, "more than one Content-Type", ""},
		{[]string{"application/json", "text/plain"}, `{}`, "more than one Content-Type", ""},
		{[]string{"application/json; charset=iso-8859-1"}, `{"a":"u"}`, "charset iso-8859-1", ""},
		{[]string{"application/json; charset=utf-16"}, `{}`, "charset utf-16", ""},
		{[]string{"application/json"}, "\ufeff{}", "byte order mark", ""},
		{nil, "\ufeff{}", "no Content-Type, byte order mark", ""},

		{[]string{"text/html"}, `{}`, "", noJSON + "(text/html)"},
		{[]string{"application/json", "text/html"}, `{}`, "", noJSON + "(text/html)"},
		{[]string{"application/xml"}, `<a/>`, "", noJSON + "(application/xml)"},
		{[]string{"text/plain"}, `"text"`, "", noJSON + "(text/plain)"},
		{nil, "12", "", noJSON + "(no Content-Type)"},
		{[]string{"application/json; charset=iso-8859-1"}, "{\"a\":\"\xfc\"}", "", "the agent's answer is in charset iso-8859-1, and JSON is UTF-8"},
		{[]string{"application/json; charset=iso-8859-1"}, `{"a":"ü"}`, "", "the agent's answer is in charset iso-8859-1, and JSON is UTF-8"},
		{[]string{"application/json"}, "\xff\xfe{\x00}\x00", "", "the agent's answer is in UTF-16, and JSON is UTF-8"},
		{nil, "\xfe\xff\x00{\x00}", "", "the agent's answer is in UTF-16, and JSON is UTF-8"},
		{nil, "{\x00}\x00", "", "the agent's answer is in UTF-16, and JSON is UTF-8"},
		{nil, "\x00{\x00}", "", "the agent's answer is in UTF-16, and JSON is UTF-8"},
		{nil, "{\x00\x00\x00}\x00\x00\x00", "", "the agent's answer is in UTF-32, and JSON is UTF-8"},
		{nil, "\x00\x00\x00{", "", "the agent's answer is in UTF-32, and JSON is UTF-8"},
		{nil, "\xff\xfe\x00\x00{\x00\x00\x00", "", "the agent's answer is in UTF-32, and JSON is UTF-8"},
	} {
		doc, form, e := ReadLabel(tt.lines).Document([]byte(tt.body))
		if e != nil {
			if e.Error() != tt.fault {
				t.Errorf("%q %q: %v, want %q", tt.lines, tt.body, e, tt.fault)
			}
			continue
		}
		if want := string(AfterBOM([]byte(tt.body))); tt.fault != "" || string(doc) != want || form != tt.form {
			t.Errorf("%q %q: %q %q, want %q %q %q", tt.lines, tt.body, doc, form, want, tt.form, tt.fault)
		}
	}
}

// FuzzDocument: what is read is the body, but for a byte order mark; what no label
// says is JSON begins as JSON does; and notes and faults are short text.
func FuzzDocument(f *testing.F) {
	for _, label := range []string{"", "application/json", "text/plain", "text/html", "application/json; charset=iso-8859-1", "a/b, c/d", "json;;"} {
		for _, body := range []string{"{}", "\ufeff{}", "\xff\xfe{\x00", "{\"a\":\"\xfc\"}", " [", "<"} {
			f.Add(label, []byte(body))
		}
	}
	f.Fuzz(func(t *testing.T, label string, body []byte) {
		l := ReadLabel([]string{label})
		doc, form, e := l.Document(body)
		if e != nil {
			if !utf8.ValidString(e.Error()) || len(e.Error()) > 200 {
				t.Errorf("%q: %q", label, e.Error())
			}
			return
		}
		if !bytes.HasSuffix(body, doc) || len(body)-len(doc) > len(byteOrderMark) {
			t.Errorf("%q became %q", body, doc)
		}
		if len(form) > 400 || !utf8.ValidString(string(form)) {
			t.Errorf("%q is %q", label, form)
		}
		if rest := bytes.TrimLeft(doc, " \t\r\n"); !l.JSON && len(rest) > 0 && rest[0] != '{' && rest[0] != '[' {
			t.Errorf("%q was read under %q", doc, label)
		}
		if l.Other && len(doc) > 0 {
			t.Errorf("%q was read under %q", doc, label)
		}
	})
}
