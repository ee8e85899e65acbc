package policy

import (
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

func text(bytes int) wire.Part { return wire.Part{Kind: wire.PartText, Bytes: int64(bytes)} }
func data(bytes int) wire.Part { return wire.Part{Kind: wire.PartData, Bytes: int64(bytes)} }

func file(url, mediaType string) wire.Part {
	return wire.Part{Kind: wire.PartFile, URL: url, MediaType: mediaType}
}

// Each content is tried in an allow and, without its sizes, in a deny rule.
func TestContent(t *testing.T) {
	t.Parallel()
	images := Content{MediaTypes: []string{"image/*"}}
	here := Content{Hosts: []string{"*.example.com", "files.example"}}
	for name, tc := range map[string]struct {
		c           Content
		parts       []wire.Part
		allow, deny string // what fails
	}{
		"no parts":             {c: Content{Parts: []string{"text"}}, deny: "content"},
		"kind":                 {c: Content{Parts: []string{"text"}}, parts: []wire.Part{text(1), text(2)}},
		"one of two":           {c: Content{Parts: []string{"text"}}, parts: []wire.Part{text(1), data(2)}, allow: "content.parts"},
		"other kind":           {c: Content{Parts: []string{"file", "data"}}, parts: []wire.Part{text(1)}, allow: "content.parts", deny: "content.parts"},
		"unknown kind":         {c: Content{Parts: []string{"file"}}, parts: []wire.Part{{Text: "x"}}, allow: "content.parts"},
		"type":                 {c: images, parts: []wire.Part{file("", "image/png")}},
		"other type":           {c: images, parts: []wire.Part{file("", "text/html")}, allow: "content.mediaTypes", deny: "content.mediaTypes"},
		"text by default":      {c: Content{MediaTypes: []string{"text/plain"}}, parts: []wire.Part{text(1)}},
		"data by default":      {c: Content{MediaTypes: []string{"application/json"}}, parts: []wire.Part{data(1)}},
		"file by default":      {c: Content{MediaTypes: []string{"application/octet-stream"}}, parts: []wire.Part{file("", "")}},
		"any type":             {c: Content{MediaTypes: []string{"*/*"}}, parts: []wire.Part{text(1), data(1), file("", "")}},
		"no type":              {c: Content{MediaTypes: []string{"*/*"}}, parts: []wire.Part{file("", "image")}, allow: "content.mediaTypes"},
		"half a type":          {c: images, parts: []wire.Part{file("", "image/")}, allow: "content.mediaTypes"},
		"two slashes":          {c: images, parts: []wire.Part{file("", "image/png/x")}, allow: "content.mediaTypes"},
		"parameters":           {c: images, parts: []wire.Part{file("", "image/png;q=1")}, allow: "content.mediaTypes"},
		"a star":               {c: images, parts: []wire.Part{file("", "image/*")}, allow: "content.mediaTypes"},
		"suffix":               {c: Content{MediaTypes: []string{"Application/VND.acme+json"}}, parts: []wire.Part{data(1), {Kind: "data", MediaType: "application/vnd.acme+json"}}, allow: "content.mediaTypes"},
		"host":                 {c: here, parts: []wire.Part{file("https://a.b.example.com/x?y#z", "")}},
		"other host":           {c: here, parts: []wire.Part{file("https://example.com/", "")}, allow: "content.hosts", deny: "content.hosts"},
		"not a file":           {c: here, parts: []wire.Part{text(1)}, deny: "content.hosts"},
		"inline":               {c: here, parts: []wire.Part{file("", "")}, deny: "content.hosts"},
		"port":                 {c: here, parts: []wire.Part{file("https://files.example:8443/", "")}, allow: "content.hosts"},
		"other port":           {c: here, parts: []wire.Part{file("https://other.example:8443/", "")}, allow: "content.hosts", deny: "content.hosts"},
		"other scheme":         {c: here, parts: []wire.Part{file("ftp://other.example/", "")}, allow: "content.hosts"},
		"user":                 {c: here, parts: []wire.Part{file("https://files.example@other.example/", "")}, allow: "content.hosts"},
		"any host":             {c: Content{Hosts: []string{"*"}}, parts: []wire.Part{file("http://192.0.2.1/", "")}},
		"any host of a scheme": {c: Content{Hosts: []string{"*"}}, parts: []wire.Part{file("data:text/plain,x", "")}, allow: "content.hosts"},
		"all of it": {
			c:     Content{Parts: []string{"file"}, MediaTypes: []string{"image/*"}, Hosts: []string{"a"}},
			parts: []wire.Part{text(1), file("https://b/", "image/png"), file("https://a/", "text/x")},
			allow: "content.parts", deny: "content.hosts",
		},
		"all of it, half way": {
			c:     Content{Parts: []string{"file"}, MediaTypes: []string{"image/*"}, Hosts: []string{"a"}},
			parts: []wire.Part{file("https://a/", "text/x"), text(1)},
			allow: "content.mediaTypes", deny: "content.mediaTypes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := onCall(t)
			q.Message = parts(tc.parts...)
			if got := stepOf(t, compile(t, Config{Rules: []Rule{allow("r", containing(tc.c))}}), q); got != tc.allow {
				t.Errorf("an allow rule fails at %q, want %q", got, tc.allow)
			}
			if got := stepOf(t, compile(t, Config{Rules: []Rule{deny("r", containing(tc.c))}}), q); got != tc.deny {
				t.Errorf("a deny rule fails at %q, want %q", got, tc.deny)
			}
		})
	}
}

func TestContentSizes(t *testing.T) {
	t.Parallel()
	const huge = 1<<63 - 1
	for name, tc := range map[string]struct {
		c     Content
		parts []wire.Part
		want  string
	}{
		"parts":          {Content{MaxParts: 2}, []wire.Part{text(9), text(9)}, ""},
		"too many":       {Content{MaxParts: 2}, []wire.Part{text(1), text(1), text(1)}, "content.maxParts"},
		"part":           {Content{MaxPart: 9}, []wire.Part{text(9), text(9)}, ""},
		"too large":      {Content{MaxPart: 9}, []wire.Part{text(9), data(10)}, "content.maxPart"},
		"bytes":          {Content{MaxBytes: 9}, []wire.Part{text(4), data(5)}, ""},
		"too much":       {Content{MaxBytes: 9}, []wire.Part{text(4), data(6)}, "content.maxBytes"},
		"beyond numbers": {Content{MaxBytes: 9}, []wire.Part{text(1), text(huge), text(huge)}, "content.maxBytes"},
		"by URL":         {Content{MaxPart: 1, MaxBytes: 1}, []wire.Part{text(1), file("https://a/", "")}, ""},
		"unknown kind":   {Content{MaxBytes: 9}, []wire.Part{{Bytes: 1}}, "content.parts"},
	} {
		q := onCall(t)
		q.Message = parts(tc.parts...)
		if got := stepOf(t, compile(t, Config{Rules: []Rule{allow("r", containing(tc.c))}}), q); got != tc.want {
			t.Errorf("%s: fails at %q, want %q", name, got, tc.want)
		}
	}
}

// What an extension's method brings over gRPC is nothing that anybody here can read.
func TestContentOpaque(t *testing.T) {
	t.Parallel()
	for b, want := range map[wire.Binding][2]string{wire.JSONRPC: {"", "content"}, wire.GRPC: {"content", ""}} {
		q := onCall(t)
		q.Message, q.Binding, q.Method = nil, b, extra[1]
		for i, build := range []func(string, ...func(*Rule)) Rule{allow, deny} {
			s, _, err := Compile(Config{Rules: []Rule{build("r", containing(Content{Parts: []string{"text"}}))}}, fleet, extra...)
			if err != nil {
				t.Fatal(err)
			}
			if got := stepOf(t, s, q); got != want[i] {
				t.Errorf("%s: rule %d fails at %q, want %q", b, i, got, want[i])
			}
		}
	}
}

// A call that brings no message has no parts; one whose message is not known may have any.
func TestContentUnknown(t *testing.T) {
	t.Parallel()
	texts := containing(Content{Parts: []string{"text"}})
	for _, tc := range []struct{ method, allow, deny string }{
		{wire.GetTask, "", "content"}, {wire.ListTasks, "", "content"},
		{wire.SendMessage, "content", ""}, {wire.SendStreamingMessage, "content", ""},
	} {
		q := onCall(t)
		q.Message, q.Method = nil, method(t, tc.method)
		if got := stepOf(t, compile(t, Config{Rules: []Rule{allow("r", texts)}}), q); got != tc.allow {
			t.Errorf("%s: an allow rule fails at %q, want %q", tc.method, got, tc.allow)
		}
		if got := stepOf(t, compile(t, Config{Rules: []Rule{deny("r", texts)}}), q); got != tc.deny {
			t.Errorf("%s: a deny rule fails at %q, want %q", tc.method, got, tc.deny)
		}
	}
}

func TestContentRefused(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]Content{
		"content has none of":                              {},
		"content.parts is empty":                           {Parts: []string{}},
		"content.mediaTypes is empty":                      {MediaTypes: []string{}},
		"content.hosts is empty":                           {Hosts: []string{}},
		`content.parts: "image" is none of`:                {Parts: []string{"image"}},
		`content.mediaTypes: "text" is no media type`:      {MediaTypes: []string{"text"}},
		`content.mediaTypes: "" is no media type`:          {MediaTypes: []string{""}},
		`content.mediaTypes: "*/json" is no media type`:    {MediaTypes: []string{"*/json"}},
		`content.mediaTypes: "a/*+json" is no media type`:  {MediaTypes: []string{"a/*+json"}},
		`content.mediaTypes: "text/x; a" is no media type`: {MediaTypes: []string{"text/x; a"}},
		`content.hosts: "https://a" is no name`:            {Hosts: []string{"https://a"}},
		`content.hosts: "a:443" is no name`:                {Hosts: []string{"a:443"}},
		`content.hosts: "" is no name`:                     {Hosts: []string{""}},
		`content.hosts: "bücher.example" is no name`:       {Hosts: []string{"bücher.example"}},
		`content.hosts: "fe80::1%eth0" is no name`:         {Hosts: []string{"fe80::1%eth0"}},
		"content.hosts is about files":                     {Parts: []string{"text"}, Hosts: []string{"a"}},
		"content.maxParts: -1 is below 0":                  {MaxParts: -1},
		"content.maxPart: -1 is below 0":                   {MaxPart: -1},
	} {
		_, _, err := Compile(Config{Rules: []Rule{allow("r", containing(c))}}, fleet)
		if err == nil || !strings.Contains(err.Error(), `rule "r": `+want) {
			t.Errorf("Compile: %v, want %q in the error", err, want)
		}
	}
	for _, r := range []Rule{deny("r"), says("r", RuleExtensions{Deny: []string{"urn:x"}})} {
		r.Content = &Content{MaxParts: 1, MaxPart: 1, MaxBytes: 1}
		if _, _, err := Compile(Config{Rules: []Rule{r}}, fleet); err == nil || strings.Count(err.Error(), "is for rules with effect allow") != 3 {
			t.Errorf("Compile: %v, want three problems", err)
		}
	}
}
