package sse

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAppend(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		in   Event
		want string
	}{
		{"data", Event{Data: []byte("{}")}, "data: {}\n\n"},
		{"empty data", Event{HasData: true}, "data: \n\n"},
		{"all", Event{ID: "7", Name: "error", Data: []byte("x")}, "event: error\nid: 7\ndata: x\n\n"},
		{"lines", Event{Data: []byte("a\nb\n")}, "data: a\ndata: b\ndata: \n\n"},
		{"foreign line ends", Event{Data: []byte("a\rb\r\nc\n\rd")},
			"data: a\ndata: b\ndata: c\ndata: \ndata: d\n\n"},
		{"leading space", Event{Data: []byte(" x")}, "data:  x\n\n"},
		{"id and no data", Event{ID: "7"}, ""},
		{"name and no data", Event{Name: "ping"}, ""},
		{"nothing", Event{}, ""},
		{"comment", Event{Comment: true}, ""},
		{"no line of its own", Event{ID: "1\ndata: evil", Name: "e\r\n\r\n", Data: []byte("x")},
			"event: e\nid: 1data: evil\ndata: x\n\n"},
		{"NUL in id", Event{ID: "a\x00b", HasData: true}, "id: ab\ndata: \n\n"},
		{"forget the id", Event{ID: Forget, HasData: true}, "id: \ndata: \n\n"},
		{"NUL in name", Event{Name: "a\x00b", HasData: true}, "event: a\x00b\ndata: \n\n"},
	}
	for _, tt := range tests {
		if got := string(Append([]byte("before|"), tt.in)); got != "before|"+tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, "before|"+tt.want)
		}
		head, tail, ok := AppendAround([]byte("before|"), tt.in)
		if whole := string(head) + string(tt.in.Data) + string(tail); ok && whole != "before|"+tt.want {
			t.Errorf("%s around: %q, want %q", tt.name, whole, "before|"+tt.want)
		} else if !ok && string(head) != "before|" {
			t.Errorf("%s around: not ok, and yet %q", tt.name, head)
		}
		if plain := len(tt.in.Data) > 0 && !bytes.ContainsAny(tt.in.Data, "\r\n"); ok != plain {
			t.Errorf("%s around: ok %v", tt.name, ok)
		}
	}
}

// TestAppendComment: every line of a text is a comment, and none ends an event.
func TestAppendComment(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": ":\n", "ping": ": ping\n", "a\ndata: x\r\r\n": ": a\n: data: x\n: \n: \n",
	} {
		got := AppendComment(nil, in)
		if string(got) != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
		lines := slices.Repeat([]show{comment}, strings.Count(want, "\n"))
		around := append(append([]byte("id: 1\ndata: a\n\n"), got...), "data: b\n\n"...)
		events, err := readAll(bytes.NewReader(around), 1000)
		want := slices.Concat([]show{{ID: "1", Data: "a", HasData: true}}, lines, []show{data("b")})
		if diff := cmp.Diff(want, events); diff != "" || err != io.EOF {
			t.Errorf("%q: %v %s", in, err, diff)
		}
	}
}

func FuzzAppend(f *testing.F) {
	f.Add("1", "error", []byte("a\nb"))
	f.Add("", "", []byte("a\r\rb\r\n"))
	f.Add("x\n\n", "\x00", []byte(" \n"))
	f.Fuzz(func(t *testing.T, id, name string, data []byte) {
		line := strings.NewReplacer("\r", "", "\n", "")
		id = strings.ReplaceAll(id, "\x00", "")
		text := strings.NewReplacer("\r\n", "\n", "\r", "\n")
		want := []show{{line.Replace(id), line.Replace(name), text.Replace(string(data)), true, false}}
		got, err := readAll(bytes.NewReader(Append(nil, Event{ID: id, Name: name, Data: data, HasData: true})),
			1<<20)
		if diff := cmp.Diff(want, got); diff != "" || err != io.EOF {
			t.Fatalf("%v -want +got\n%s", err, diff)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	e := Event{ID: "0198a7c2-31c5-7c7e-9f0a-9a4b8e8f0c11", Data: bytes.Repeat([]byte("x"), 600)}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = Append(buf[:0], e)
	}
	b.SetBytes(int64(len(buf)))
}
