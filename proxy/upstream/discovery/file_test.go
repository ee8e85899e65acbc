package discovery

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// replace is how editors save.
func replace(t *testing.T, path, text string) {
	t.Helper()
	put(t, path+".new", text)
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// watched runs a file source that looks often.
func watched(t *testing.T, path string) *observed {
	t.Helper()
	o := &observed{t: t}
	s, err := New(Config{File: path, Answer: 1 << 10}, o.options())
	if err != nil {
		t.Fatal(err)
	}
	s.(*file).poll = 5 * time.Millisecond
	o.run(s)
	return o
}

func TestFileEdits(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "agents.yaml")
	o := watched(t, path)
	o.fails("no such file")
	put(t, path, "- 10.0.0.1:80\n- {address: b.example, weight: 4, zone: z1}\n")
	o.now("10.0.0.1:80", "b.example*4@z1")
	o.works()
	replace(t, path, `["10.0.0.2:80", {"address": "10.0.0.1:80"}]`)
	o.now("10.0.0.1:80", "10.0.0.2:80")

	for _, bad := range []struct{ text, why string }{
		{"- 10.0.0.1:80\n- http://b\n", "not a URL"},
		{"", "an empty one is []"},
		{"{}", "want a list"},
		{"- {port: a}", "port"},
		{strings.Repeat("# much too long\n", 100), "longer than answer"},
	} {
		replace(t, path, bad.text)
		o.fails(bad.why)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if lists, _ := o.count(); lists != 2 {
		t.Errorf("told %d lists", lists)
	}
	if n := o.logged("cannot be found out"); n != 2 {
		t.Errorf("two outages are %d lines", n)
	}
	replace(t, path, "[]")
	o.now() // none, which the file says at two looks
	replace(t, path, "[a]")
	o.now("a")
}

// TestFileByLink swaps the directory that a link leads to, as mounted volumes do.
func TestFileByLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, v := range []string{"v1", "v2"} {
		if err := os.Mkdir(filepath.Join(dir, v), 0o700); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(dir, v, "list"), "["+v+"]")
	}
	link := func(to string) {
		if err := os.Symlink(to, filepath.Join(dir, "next")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, "next"), filepath.Join(dir, "data")); err != nil {
			t.Fatal(err)
		}
	}
	link("v1")
	if err := os.Symlink("data/list", filepath.Join(dir, "list")); err != nil {
		t.Fatal(err)
	}
	o := watched(t, filepath.Join(dir, "list"))
	o.now("v1")
	link("v2")
	o.now("v2")
}

func TestParseFile(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"", "null", "# nothing\n", "a", "{a: 1}", "- - a", "- 1", "- null", "- ''", "[a, a]", "- {address: a, weight: 0.5}",
		"- {address: a, weight: 70000}", "- {weight: 1}", "- {address: a, address: b}", "- {address: a, port: 1}", "[a]\n---\n[b]", "[a", "- {address: [a]}",
		"\xff", "- &a [*a]",
	} {
		if list, err := parseFile([]byte(bad)); err == nil {
			t.Errorf("%q was read as %v", bad, list)
		}
	}
}

func FuzzFile(f *testing.F) {
	for _, seed := range []string{
		"- a\n- b:1\n", `["[::1]:1", {"address": "10.0.0.1", "weight": 2, "zone": "z"}]`, "[]", "- &x {address: a}\n- *x\n", "- 'a'\n---\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := parseFile(data)
		if err == nil {
			sound(t, list)
		}
	})
}

// sound is what is true of every list: each instance is in its one form, and they are in
// order.
func sound(t *testing.T, list []Instance) {
	t.Helper()
	for n, i := range list {
		if again, err := i.canonical(); err != nil || again != i {
			t.Errorf("%+v is not canonical: %+v, %v", i, again, err)
		}
		if n > 0 && list[n-1].Address >= i.Address {
			t.Errorf("%q stands before %q", list[n-1].Address, i.Address)
		}
	}
}
