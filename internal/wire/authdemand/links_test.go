package authdemand

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

func TestA24_DemandLinks(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want []string
	}{
		{"nothing here", nil},
		{"a: b, https: c, mailto:a@b.example, data:text/plain,x, file:///etc/passwd, https://", nil},
		{"https://a.example", []string{"https://a.example"}},
		{"HTTPS://A.example/X", []string{"https://A.example/X"}},
		{"see https://a.example/x.", []string{"https://a.example/x"}},
		{"(https://a.example/x), https://b.example/(y)!", []string{"https://a.example/x", "https://b.example/(y)"}},
		{"[Log in](https://a.example/x?y=(z)) now", []string{"https://a.example/x?y=(z)"}},
		{"[https://a.example](https://b.example)", []string{"https://a.example", "https://b.example"}},
		{"go [https://a.example](https://b.example)", []string{"https://a.example", "https://b.example"}},
		{"**https://a.example/x** _https://b.example_", []string{"https://a.example/x", "https://b.example"}},
		{`<a href="https://a.example/x">https://b.example</a>`, []string{"https://a.example/x", "https://b.example"}},
		{"`https://a.example/x` 'https://b.example',", []string{"https://a.example/x", "https://b.example"}},
		{"https://[2001:db8::1]:8443/x and more", []string{"https://[2001:db8::1]:8443/x"}},
		{"请访问https://a.example/x，然后", []string{"https://a.example/x"}},
		{"https://a.example/x\nhttps://b.example/y\t", []string{"https://a.example/x", "https://b.example/y"}},
		{"open slack://team.example/x or ms-app+1.0://b.example", []string{"slack://team.example/x", "ms-app+1.0://b.example"}},
		{"https://a.example/cb?redirect_uri=https://b.example/cb&x=1 then http://c.example",
			[]string{"https://a.example/cb?redirect_uri=https://b.example/cb&x=1", "http://c.example"}},
		{"https://a.example/to/https://b.example/x", []string{"https://a.example/to/https://b.example/x",
			"https://b.example/x"}},
		// What follows has one host for one reader and another for the next.
		{"https://user:pass@b.example/x", []string{"https://user:pass@b.example/x"}},
		{`https://a.example\@b.example/x`, []string{`https://a.example\@b.example/x`}},
		{`https:/\b.example/x`, []string{"https://b.example/x"}},
		{`http:\\b.example`, []string{"http://b.example"}},
		{"https:/b.example/x", []string{"https://b.example/x"}},
		{"https:////b.example/x", []string{"https://b.example/x"}},
		{"https:\n//b.example/x", []string{"https://b.example/x"}},
		{"seehttps://b.example/x", []string{"https://b.example/x"}},
		{"javascript://b.example/%0aalert(1)", []string{"javascript://b.example/%0aalert(1)"}},
		{"https://a.example).b.example/x", []string{"https://a.example).b.example/x", "https://a.example"}},
		{"https://a.example。b.example/x", []string{"https://a.example。b.example/x"}},
		{"https://a.example,https://b.example", []string{"https://a.example,https://b.example", "https://b.example"}},
	}
	for _, tt := range tests {
		quoted, err := jsontext.AppendQuote(nil, tt.text)
		if err != nil {
			t.Fatal(err)
		}
		for _, body := range []string{
			waitingTask(authRequired, string(quoted)),
			waitingTask(authRequired, `{"deep":[{"er":`+string(quoted)+`}]}`),
			fmt.Sprintf(`{"id":"T","status":{"state":"auth-required","message":{"parts":[{"kind":"text","text":%s}]}}}`, quoted),
			fmt.Sprintf(`{"id":"T","metadata":{"x":%s},"status":{"state":"auth-required"}}`, quoted),
			fmt.Sprintf(`{"id":"T","status":{"state":"auth-required","message":{"parts":[{"file":{"uri":%s}}]}}}`, quoted),
		} {
			got, ok := Read([]byte(body))
			if diff := cmp.Diff(tt.want, got.Links); diff != "" || !ok || got.Cut {
				t.Errorf("%s: %v (-want +got):\n%s", body, ok, diff)
			}
		}
	}
}

// TestA24_DemandLinksElsewhere: extensions' names lead nowhere, nor do artifacts and
// history, which are no part of the demand.
func TestA24_DemandLinksElsewhere(t *testing.T) {
	t.Parallel()
	body := `{"id":"T","status":{"state":"auth-required","message":{"extensions":["https://ext.example/v1"],` +
		`"metadata":{"https://ext.example/v1":{"extensions":["https://a.example"]}},"parts":[]}},` +
		`"artifacts":[{"parts":[{"text":"https://b.example"}]}],"history":[{"parts":[{"text":"https://c.example"}]}]}`
	got, ok := Read([]byte(body))
	if diff := cmp.Diff([]string{"https://a.example"}, got.Links); diff != "" || !ok {
		t.Errorf("%v (-want +got):\n%s", ok, diff)
	}
}

// TestA24_DemandSaysWhatItLeavesOut: a link beyond the bounds is not lost in silence.
func TestA24_DemandSaysWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	var links []string
	for i := range mostLinks {
		links = append(links, fmt.Sprintf("https://h%d.example", i))
	}
	many := strings.Join(links, " ")
	long := strings.Repeat("a", 2*longestLink)
	tests := []struct {
		name, text string
		links      int
		cut        bool
	}{
		{"as many as may be", many, mostLinks, false},
		{"the same again", many + " " + many, mostLinks, false},
		{"one more", many + " https://b.example", mostLinks, true},
		{"a long path", "https://a.example/" + long, 1, false},
		{"a long user name", "https://a.example:" + strings.Repeat("1", 2*longestLink) + "@b.example", 0, true},
		{"a host longer than any", "https://" + long[:longestHost+1] + "/x", 0, true},
		{"links in links", strings.Repeat("https:/a/", 200_000), 1, true},
		{"the same too often", "x " + strings.Repeat("https:/a)", mostFound+1), 1, true},
		{"the same very often", "x " + strings.Repeat("https://a.example ", mostFound), 1, false},
	}
	for _, tt := range tests {
		got, ok := Read([]byte(waitingTask(authRequired, `"`+tt.text+`"`)))
		if len(got.Links) != tt.links || got.Cut != tt.cut || !ok {
			t.Errorf("%s: %d links, cut %v, want %d, %v", tt.name, len(got.Links), got.Cut, tt.links, tt.cut)
		}
		for _, link := range got.Links {
			if len(link) > len("https://")+longestLink {
				t.Errorf("%s: a link of %d bytes", tt.name, len(link))
			}
		}
	}
}
