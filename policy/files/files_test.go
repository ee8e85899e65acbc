package files_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/wire/message"
	"github.com/a2a-gateway/a2a-gateway/policy/files"
)

func rules(t testing.TB, c files.Config) *files.Rules {
	t.Helper()
	r, err := files.New(c, files.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// said are faults, as "kind!" where they are enforced and "kind" where they are not.
func said(faults []files.Fault) string {
	var list []string
	for _, f := range faults {
		if f.Enforced {
			f.Kind += "!"
		}
		list = append(list, strings.TrimSpace(f.Kind+" "+f.Detail))
	}
	return strings.Join(list, ", ")
}

func TestJudge(t *testing.T) {
	t.Parallel()
	link := func(uri string) message.File { return message.File{URLs: []string{uri}} }
	typed := func(types ...string) message.File { return message.File{Inline: true, Bytes: 3, MediaTypes: types} }
	named := func(names ...string) message.File { return message.File{Inline: true, Names: names} }
	strict := files.Config{MediaTypes: []string{"image/*", "application/pdf", "text/html"}, ActiveContent: "enforce"}
	inline := files.Config{Schemes: []string{"https", "data"}, MediaTypes: []string{"image/png"}, MaxBytes: 6}
	for _, tt := range []struct {
		name   string
		config files.Config
		file   message.File
		nth    int
		want   string
	}{
		{name: "public", file: link("https://files.example.com/a.pdf")},
		{name: "private", file: link("https://10.0.0.1/a"), want: "file_uri! 10.0.0.1"},
		{name: "private, allowed", config: files.Config{PrivateAddresses: "allow"}, file: link("https://10.0.0.1/a")},
		{name: "the second of two", file: message.File{URLs: []string{"https://files.example.com/a", "https://wiki/"}}, want: "file_uri! wiki"},
		{name: "plain", file: link("http://files.example.com/a"), want: "file_uri!"},
		{name: "plain, allowed", config: files.Config{Schemes: []string{"HTTP"}}, file: link("http://files.example.com/a")},
		{name: "script", file: link("javascript:alert(1)"), want: "file_uri!"},
		{name: "local", file: link("file:///etc/passwd"), want: "file_uri!"},
		{name: "data", file: link("data:text/html,x"), want: "file_uri!"},
		{name: "data, allowed", config: inline, file: link("Data:image/PNG;base64,QUJD"), want: ""},
		{name: "data of a type", config: inline, file: link("data:text/html;base64,QUJD"), want: "file_type! text/html"},
		{name: "data of no type", config: inline, file: link("data:,x"), want: "file_type! text/plain"},
		{name: "data that is large", config: inline, file: link("data:image/png,1234567"), want: "file_size!"},
		{name: "data that says something else", config: inline, file: message.File{URLs: []string{"data:text/html,x"}, MediaTypes: []string{"image/png"}}, want: "file_type! text/html"},
		{name: "large", config: files.Config{MaxBytes: 2}, file: typed("image/png"), want: "file_size!"},
		{name: "as large as may be", config: files.Config{MaxBytes: 3}, file: typed("image/png")},
		{name: "the last", config: files.Config{MaxParts: 2}, nth: 2, file: typed("image/png")},
		{name: "one more", config: files.Config{MaxParts: 2}, nth: 3, file: typed("image/png"), want: "file_size!"},

		{name: "any type", file: typed("application/x-msdownload")},
		{name: "HTML", file: typed("text/html"), want: "file_type text/html"},
		{name: "SVG beside a picture", file: typed("image/png", "image/svg+xml"), want: "file_type image/svg+xml"},
		{name: "HTML, off", config: files.Config{ActiveContent: "off"}, file: typed("text/html")},
		{name: "script", config: files.Config{ActiveContent: "enforce"}, file: typed("text/javascript"), want: "file_type! text/javascript"},
		{name: "wanted", config: strict, file: typed("text/html")},
		{name: "within what is wanted, not by name", config: strict, file: typed("image/svg+xml"), want: "file_type! image/svg+xml"},
		{name: "not wanted", config: strict, file: typed("text/plain"), want: "file_type! text/plain"},
		{name: "two types, one not wanted", config: strict, file: typed("image/png", "text/plain"), want: "file_type! text/plain"},
		{name: "no type", config: strict, file: typed(), want: "file_type! application/octet-stream"},
		{name: "an empty type", config: strict, file: typed(""), want: "file_type! application/octet-stream"},
		{name: "no type at all", config: files.Config{MediaTypes: []string{"*/*"}}, file: typed("image"), want: "file_type! image"},
		{name: "any that is one", config: files.Config{MediaTypes: []string{"*/*"}}, file: typed("a/b")},
		{name: "a name that says it", file: message.File{Inline: true, Names: []string{"page.HTML"}}, want: "file_type .html"},
		{name: "a name in disguise", file: message.File{Inline: true, Names: []string{"page.svg. "}, MediaTypes: []string{"application/octet-stream"}}, want: "file_type .svg"},
		{name: "a path that says it", file: link("https://files.example.com/page.svg?x=a.png"), want: "file_type .svg"},
		{name: "a name that lies", file: message.File{Inline: true, Names: []string{"page.html"}, MediaTypes: []string{"image/png"}}},

		{name: "a name", file: named("Rechnung März 2026 (1).pdf", "reports/q3.pdf", "a..b", "~a", "写真.png")},
		{name: "above", file: named("../../etc/passwd"), want: "file_name!"},
		{name: "within", file: named("a/../../b"), want: "file_name!"},
		{name: "absolute", file: named("/etc/passwd"), want: "file_name!"},
		{name: "a home", file: named("~root/x"), want: "file_name!"},
		{name: "a drive", file: named(`C:x`), want: "file_name!"},
		{name: "backslashes", file: named(`..\x`), want: "file_name!"},
		{name: "direction", file: named("photo\u202egnp.exe"), want: "file_name!"},
		{name: "NUL", file: named("a.png\x00.exe"), want: "file_name!"},
		{name: "line", file: named("a\nb"), want: "file_name!"},
		{name: "long", file: named(strings.Repeat("x", 256)), want: "file_name!"},
		{name: "the second", file: named("a", ".."), want: "file_name!"},
		{name: "reported", config: files.Config{Names: "report"}, file: named(".."), want: "file_name"},
		{name: "not looked at", config: files.Config{Names: "off"}, file: named("..")},
		{
			name: "everything", config: files.Config{MaxBytes: 1, ActiveContent: "enforce"},
			file: message.File{URLs: []string{"https://u@a.example/"}, Bytes: 2, MediaTypes: []string{"text/html"}, Names: []string{".."}},
			want: "file_uri!, file_size!, file_type! text/html, file_name!",
		},
	} {
		if got := said(rules(t, tt.config).Judge(&tt.file, max(tt.nth, 1))); got != tt.want {
			t.Errorf("%s: %q, not %q", tt.name, got, tt.want)
		}
	}
}

// TestTextsAreDiscreet: callers and agents read the texts, which tell nothing that the
// other side has written.
func TestTextsAreDiscreet(t *testing.T) {
	t.Parallel()
	r := rules(t, files.Config{MediaTypes: []string{"image/png"}, MaxBytes: 1})
	rapid.Check(t, func(rt *rapid.T) {
		mark := "SECRET" + rapid.StringMatching(`[a-z]{3}`).Draw(rt, "mark")
		f := message.File{
			URLs:  []string{rapid.SampledFrom([]string{"https://10.0.0.1/", "https://", "gopher://", "https://a@", "data:"}).Draw(rt, "uri") + mark},
			Names: []string{"../" + mark}, MediaTypes: []string{mark + "/html"}, Bytes: 2,
		}
		faults := r.Judge(&f, 1)
		if len(faults) != 4 {
			rt.Fatalf("%v", faults)
		}
		for _, fault := range faults {
			if strings.Contains(fault.Text, mark) || fault.Text == "" {
				rt.Fatalf("%s", fault.Text)
			}
		}
	})
}

// TestOver: an agent's keys take the place of those for all, one by one.
func TestOver(t *testing.T) {
	t.Parallel()
	all := files.Config{Schemes: []string{"gs"}, MaxBytes: 5, OnViolation: files.Actions{Request: files.Report, Answer: files.Off}}
	r, err := files.New(files.Config{MaxBytes: 7, OnViolation: files.Actions{Answer: files.Refuse}}, all)
	if err != nil {
		t.Fatal(err)
	}
	if r.Request() != files.Report || r.Answer() != files.Refuse {
		t.Errorf("%s, %s", r.Request(), r.Answer())
	}
	for bytes, want := range map[int64]string{7: "", 8: "file_size!"} {
		if got := said(r.Judge(&message.File{URLs: []string{"gs://bucket/x"}, Bytes: bytes}, 1)); got != want {
			t.Errorf("%d: %q", bytes, got)
		}
	}
	if r := rules(t, files.Config{}); r.Request() != files.Refuse || r.Answer() != files.Strip {
		t.Errorf("by default %s and %s", r.Request(), r.Answer())
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]files.Config{
		`schemes is empty`:                 {Schemes: []string{}},
		`hosts is empty`:                   {Hosts: []string{}},
		`mediaTypes is empty`:              {MediaTypes: []string{}},
		`schemes: "https://" is none`:      {Schemes: []string{"https://"}},
		`hosts: "https://a.example"`:       {Hosts: []string{"https://a.example"}},
		`mediaTypes: "png" is no`:          {MediaTypes: []string{"png"}},
		`mediaTypes: "*/png" is no`:        {MediaTypes: []string{"*/png"}},
		`privateAddresses: "no"`:           {PrivateAddresses: "no"},
		`activeContent: "strip"`:           {ActiveContent: "strip"},
		`names: "deny"`:                    {Names: "deny"},
		`onViolation.request: "deny"`:      {OnViolation: files.Actions{Request: "deny"}},
		`onViolation.answer: "remove"`:     {OnViolation: files.Actions{Answer: "remove"}},
		`maxParts: -1 is negative`:         {MaxParts: -1},
		`hosts: "2130706433" is neither a`: {Hosts: []string{"2130706433"}},
	} {
		err := c.Validate()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
		if _, err := files.New(c, files.Config{}); err == nil {
			t.Errorf("%s: it is compiled", want)
		}
	}
	if err := (files.Config{}).Validate(); err != nil {
		t.Error(err)
	}
}

func BenchmarkJudge(b *testing.B) {
	r := rules(b, files.Config{})
	f := message.File{URLs: []string{"https://files.example.com/reports/2026/q3.pdf?sig=abc"}, MediaTypes: []string{"application/pdf"}, Names: []string{"q3.pdf"}}
	b.ReportAllocs()
	for b.Loop() {
		if faults := r.Judge(&f, 1); faults != nil {
			b.Fatal(fmt.Sprint(faults))
		}
	}
}
