package httpfield

import (
	"net/http"
	"net/textproto"
	"net/url"
	"testing"
	"time"
)

func TestCanonical(t *testing.T) { //nolint:paralleltest // allocations are counted
	for _, name := range []string{"a2a-version", "A2A-Version", "X-API-KEY", "content-type", "Content-Type", "x-Own-1", "9", "x_y", "-a-"} {
		if got, want := Canonical(name), textproto.CanonicalMIMEHeaderKey(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if n := testing.AllocsPerRun(100, func() { _ = Canonical("x-api-key") }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestHasToken(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		lines []string
		want  bool
	}{
		{nil, false},
		{[]string{"close"}, true},
		{[]string{"keep-alive, Close"}, true},
		{[]string{"a", "b,\tCLOSE ,"}, true},
		{[]string{"closed"}, false},
		{[]string{"clo\u017fe"}, false}, // a long s, which folds to s
	} {
		if got := HasToken(tt.lines, "close"); got != tt.want {
			t.Errorf("%q: %v", tt.lines, got)
		}
	}
}

// FuzzPlainPath: what is plain is what net/url makes of it.
func FuzzPlainPath(f *testing.F) {
	for _, path := range []string{"/", "/a/b-c_d.e~f:g@h$i&j+k=l", "/%41", "/a b", "/ä", "/a;b", "/a,b"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if len(path) == 0 || path[0] != '/' || len(path) > 1 && path[1] == '/' || !PlainPath(path) {
			return
		}
		u, err := url.ParseRequestURI(path)
		if err != nil || u.Path != path || u.RawPath != "" || u.EscapedPath() != path {
			t.Errorf("%q: %+v, %v", path, u, err)
		}
	})
}

func TestHasBody(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]bool{100: false, 103: false, 200: true, 204: false, 304: false, 404: true, 500: true} {
		if HasBody(status) != want {
			t.Errorf("%d: %v", status, !want)
		}
	}
}

func TestDate(t *testing.T) {
	t.Parallel()
	at, err := http.ParseTime(Date())
	if err != nil || time.Since(at).Abs() > 2*time.Second || Date() == "" {
		t.Errorf("%v, %v", at, err)
	}
}
