package sse

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// show is an Event that outlives the next call of Next.
type show struct {
	ID, Name, Data   string
	HasData, Comment bool
}

// readAll returns all events and the error that ended them.
func readAll(r io.Reader, limit int) ([]show, error) {
	reader := NewReader(r, limit)
	var all []show
	for {
		e, err := reader.Next()
		if err != nil {
			return all, err
		}
		all = append(all, show{e.ID, e.Name, string(e.Data), e.HasData, e.Comment})
	}
}

func data(s string) show { return show{Data: s, HasData: true} }

var comment = show{Comment: true}

func TestReader(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		want     []show
		err      error
	}{
		{"nothing", "", nil, io.EOF},
		{"one", "data: {}\n\n", []show{data("{}")}, io.EOF},
		{"no space", "data:{}\n\n", []show{data("{}")}, io.EOF},
		{"one space only", "data:  x\n\n", []show{data(" x")}, io.EOF},
		{"tab is data", "data:\tx\n\n", []show{data("\tx")}, io.EOF},
		{"CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", []show{data("a"), data("b")}, io.EOF},
		{"CR", "data: a\r\rdata: b\r\r", []show{data("a"), data("b")}, io.EOF},
		{"mixed", "data: a\r\n\ndata: b\n\r\ndata: c\r\r\ndata: d\n\r", []show{data("a"), data("b"), data("c"),
			data("d")}, io.EOF},
		{"BOM", "\xEF\xBB\xBFdata: a\n\n", []show{data("a")}, io.EOF},
		{"BOM alone", "\xEF\xBB\xBF", nil, io.EOF},
		{"BOM line", "\xEF\xBB\xBF\n\n", nil, io.EOF},
		{"second BOM is no BOM", "data: a\n\n\xEF\xBB\xBFdata: b\n\n", []show{data("a"), comment}, io.EOF},
		{"two BOMs", "\xEF\xBB\xBF\xEF\xBB\xBFdata: b\n\n", []show{comment}, io.EOF},
		{"lines", "data: a\ndata: b\ndata:\ndata\ndata: c\n\n", []show{data("a\nb\n\n\nc")}, io.EOF},
		{"lines CRLF", "data: a\r\ndata: b\r\n\r\n", []show{data("a\nb")}, io.EOF},
		{"lines with a comment between", "data: a\n: x\nid: 1\ndata: b\n\n", []show{{"1", "", "a\nb", true,
			false}}, io.EOF},
		{"empty data", "data\n\n", []show{data("")}, io.EOF},
		{"empty data colon", "data:\n\n", []show{data("")}, io.EOF},
		{"all fields", "id: 7\nevent: error\nretry: 10\ndata: x\n\n", []show{{"7", "error", "x", true, false}},
			io.EOF},
		{"fields do not carry over", "id: 7\nevent: e\ndata: x\n\ndata: y\n\n", []show{{"7", "e", "x", true,
			false}, data("y")}, io.EOF},
		{"last wins", "event: a\nevent: b\nid: 1\nid: 2\ndata: x\n\n", []show{{"2", "b", "x", true, false}},
			io.EOF},
		{"id only", "id: 7\n\n", []show{{ID: "7"}}, io.EOF},
		{"id with NUL", "id: a\x00b\ndata: x\n\n", []show{data("x")}, io.EOF},
		{"colon in value", "data: a: b\n\n", []show{data("a: b")}, io.EOF},
		{"names are exact", "Data: x\n data: y\ndatas: z\n\n", []show{comment, comment, comment}, io.EOF},
		{"comment", ": ping\n\n", []show{comment}, io.EOF},
		{"bare colon", ":\n\n", []show{comment}, io.EOF},
		{"comment in front", ": ping\ndata: x\n\n", []show{comment, data("x")}, io.EOF},
		{"comments without a blank line", ": a\n: b\nid: 1\ndata: x\n\n", []show{comment, comment, {"1", "", "x", true, false}}, io.EOF},
		{"retry is a sign of life", "retry: 10\n\n", []show{comment}, io.EOF},
		{"retry in front", "retry: 10\ndata: x\n\n", []show{comment, data("x")}, io.EOF},
		{"blank lines", "\n\n\r\n\rdata: x\n\n\n\n", []show{data("x")}, io.EOF},
		{"cut in a line", "data: x\n\ndata: y", []show{data("x")}, io.ErrUnexpectedEOF},
		{"cut behind a line", "data: x\n", nil, io.ErrUnexpectedEOF},
		{"cut behind a CR", "data: x\r", nil, io.ErrUnexpectedEOF},
		{"cut in a name", "d", nil, io.ErrUnexpectedEOF},
		{"cut behind an id", "id: 7\n", nil, io.ErrUnexpectedEOF},
		{"cut in a comment", ": bye", nil, io.EOF},
		{"cut behind a comment", ": bye\n", []show{comment}, io.EOF},
	}
	splits := map[string]func(io.Reader) io.Reader{
		"whole": func(r io.Reader) io.Reader { return r },
		"bytes": iotest.OneByteReader, "halves": iotest.HalfReader, "late error": iotest.DataErrReader,
	}
	for _, tt := range tests {
		for how, split := range splits {
			got, err := readAll(split(strings.NewReader(tt.in)), 1000)
			if err != tt.err {
				t.Errorf("%s, %s: error %v, want %v", tt.name, how, err, tt.err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s, %s: -want +got\n%s", tt.name, how, diff)
			}
		}
	}
}

// TestReaderDoesNotWait proves that an event comes as soon as its blank line is
// there, whatever that line ends with: the pipe blocks on any read beyond.
func TestReaderDoesNotWait(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"\n\n", "\r\n\r\n", "\r\r", "\r\n\r"} {
		from, to := io.Pipe()
		reader := NewReader(from, 1000)
		go func() { _, _ = to.Write([]byte(": ping\n")) }()
		if e, err := reader.Next(); err != nil || !e.Comment {
			t.Fatalf("a comment: %+v, %v", e, err)
		}
		for range 3 {
			go func() { _, _ = to.Write([]byte("data: x" + end)) }()
			e, err := reader.Next()
			if err != nil || string(e.Data) != "x" {
				t.Fatalf("end %q: %q, %v", end, e.Data, err)
			}
		}
		_ = to.Close()
		if _, err := reader.Next(); err != io.EOF {
			t.Errorf("end %q: %v, want EOF", end, err)
		}
	}
}

func TestReaderLimit(t *testing.T) {
	t.Parallel()
	const limit = 100
	line := func(n int) string { return "data:" + strings.Repeat("x", n-len("data:")-1) + "\n" } // n bytes
	tests := []struct {
		name, in string
		events   int
		err      error
	}{
		{"fits", line(100) + "\n", 1, io.EOF},
		{"one more", line(101) + "\n", 0, ErrTooLarge},
		{"two lines fit", line(50) + line(50) + "\n", 1, io.EOF},
		{"two lines one more", line(50) + line(51) + "\n", 0, ErrTooLarge},
		{"CRLF counts as one", strings.ReplaceAll(line(50)+line(50)+"\n", "\n", "\r\n"), 1, io.EOF},
		{"each event anew", line(100) + "\n" + line(100) + "\n" + line(101), 2, ErrTooLarge},
		{"unfinished line", strings.Repeat("x", 101), 0, ErrTooLarge},
		{"unfinished comment", ":" + strings.Repeat("x", 100), 0, ErrTooLarge},
		{"comments in front do not add up", strings.Repeat(": ping\n", 50) + line(100) + "\n", 51, io.EOF},
		{"comments behind a field do", "data:\n" + strings.Repeat(": ping\n", 50) + "\n", 0, ErrTooLarge},
		{"blank lines do not count", strings.Repeat("\n", 500) + line(100) + "\n", 1, io.EOF},
	}
	for _, tt := range tests {
		for _, r := range []io.Reader{strings.NewReader(tt.in), iotest.OneByteReader(strings.NewReader(tt.in))} {
			got, err := readAll(r, limit)
			if len(got) != tt.events || err != tt.err {
				t.Errorf("%s: %d events, %v; want %d, %v", tt.name, len(got), err, tt.events, tt.err)
			}
		}
	}
}

func TestReaderErrorsStay(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	tests := []struct {
		name string
		src  io.Reader
		want error
	}{
		{"too large", strings.NewReader(strings.Repeat("x", 200) + "\n\ndata: x\n\n"), ErrTooLarge},
		{"unexpected EOF", strings.NewReader("data: x\n"), io.ErrUnexpectedEOF},
		{"source", io.MultiReader(strings.NewReader("data: x"), iotest.ErrReader(broken)), broken},
		{"no progress", stuck{}, io.ErrNoProgress},
	}
	for _, tt := range tests {
		reader := NewReader(tt.src, 100)
		for range 3 {
			if _, err := reader.Next(); err != tt.want {
				t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
			}
		}
	}
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

// endless repeats a text without end, in pieces of the size asked for.
type endless struct {
	text string
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.text[e.at:])
	e.at = (e.at + n) % len(e.text)
	return n, nil
}

func TestReaderMemory(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	big := "data:" + strings.Repeat("x", limit-6) + "\n\n"
	small := "data: x\n\n"
	reader := NewReader(io.MultiReader(strings.NewReader(big), &endless{text: small}), limit)
	if _, err := reader.Next(); err != nil {
		t.Fatal(err)
	}
	if cap(reader.buf) > 3*limit {
		t.Errorf("buffer of %d for an event of %d", cap(reader.buf), limit)
	}
	for range 200_000 {
		if _, err := reader.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if cap(reader.buf) > keepBuffer {
		t.Errorf("buffer of %d long after the large event", cap(reader.buf))
	}
}

func TestReaderAllocations(t *testing.T) {
	for name, text := range streams() {
		reader := NewReader(&endless{text: text}, 1<<20)
		next := func() {
			if _, err := reader.Next(); err != nil {
				t.Fatal(err)
			}
		}
		for range 1000 {
			next()
		}
		if n := testing.AllocsPerRun(1000, next); n != 0 {
			t.Errorf("%s: %v allocations per event", name, n)
		}
	}
}

// streams are the shapes that agents send, by name.
func streams() map[string]string {
	body := `{"jsonrpc":"2.0","id":1,"result":{"statusUpdate":{` +
		`"taskId":"T","contextId":"C","status":{"state":"TASK_STATE_WORKING"}}}}`
	big := strings.Repeat("x", 600)
	return map[string]string{
		"Data":  "data: " + body + "\n\n",
		"Go":    "id: 0198a7c2-31c5-7c7e-9f0a-9a4b8e8f0c11\ndata: " + body + big + "\n\n",
		"CRLF":  "event: message\r\ndata: " + body + big + "\r\n\r\n",
		"CR":    "data: " + body + "\r\r",
		"Lines": "data: {\ndata: \"a\": " + big + "\ndata: }\n\n",
		"Ping":  ": ping - 2026-01-01 00:00:00\r\n\r\n",
		"Large": "data: " + strings.Repeat(body, 1000) + "\n\n",
	}
}

func BenchmarkReader(b *testing.B) {
	for name, text := range streams() {
		b.Run(name, func(b *testing.B) {
			reader := NewReader(&endless{text: text}, 1<<20)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := reader.Next(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// FuzzReader: however the bytes are split, the events and the end are the same;
// what is read, written and read again is the same; no limit is overstepped.
func FuzzReader(f *testing.F) {
	for _, s := range []string{
		"data: a\r\n\r\ndata: b\n\n", "\xEF\xBB\xBFid: 1\rdata\r\r\n", ": c\n\nevent: e\ndata: a\ndata: b\n\n",
		": c\n: d\nid: 1\ndata: a\n\n", "data: a\n: x\ndata: b\n\r\n\r", "id: \x00\ndata:\n\n", "retry: 1\n\ndata: unfinished",
		"event: \x00a\ndata: b\n\n",
	} {
		f.Add([]byte(s), uint8(3), uint16(64))
		f.Add([]byte(s), uint8(1), uint16(10))
	}
	f.Fuzz(func(t *testing.T, in []byte, step uint8, limit uint16) {
		want, wantErr := readAll(bytes.NewReader(in), int(limit))
		got, err := readAll(&steps{in, int(step)%7 + 1}, int(limit))
		if diff := cmp.Diff(want, got); diff != "" || err != wantErr {
			t.Fatalf("split in %d: %v, want %v\n%s", step, err, wantErr, diff)
		}
		var written []byte
		var kept []show
		for _, e := range want {
			if len(e.Data) > int(limit) {
				t.Fatalf("event of %d above limit %d", len(e.Data), limit)
			}
			before := len(written)
			written = Append(written, Event{e.ID, e.Name, []byte(e.Data), e.HasData, e.Comment})
			if len(written) > before {
				kept = append(kept, e)
			} else if e.HasData {
				t.Fatalf("nothing written for %+v", e)
			}
		}
		again, err := readAll(bytes.NewReader(written), 1<<20)
		if diff := cmp.Diff(kept, again); diff != "" || err != io.EOF {
			t.Fatalf("round trip: %v\n%s", err, diff)
		}
	})
}

// steps reads n bytes at a time and returns the last ones with io.EOF.
type steps struct {
	left []byte
	n    int
}

func (s *steps) Read(p []byte) (int, error) {
	n := copy(p[:min(len(p), s.n)], s.left)
	s.left = s.left[n:]
	if len(s.left) == 0 {
		return n, io.EOF
	}
	return n, nil
}
