package grpcframe

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// allMessages reads until an error, copying what it gets.
func allMessages(r io.Reader, limit int) (got []string, err error) {
	m := NewReader(r, limit)
	for {
		message, err := m.Next()
		if err != nil {
			return got, err
		}
		got = append(got, string(message))
	}
}

func TestReader(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 100_000)
	for name, tt := range map[string]struct {
		body string
		want []string
		err  error
	}{
		"none":              {"", nil, io.EOF},
		"one":               {"\x00\x00\x00\x00\x02ab", []string{"ab"}, io.EOF},
		"empty":             {"\x00\x00\x00\x00\x00", []string{""}, io.EOF},
		"several":           {"\x00\x00\x00\x00\x01a\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02bc", []string{"a", "", "bc"}, io.EOF},
		"large":             {string(Append(Append(nil, []byte(large)), []byte("b"))), []string{large, "b"}, io.EOF},
		"at the limit":      {string(Append(nil, bytes.Repeat([]byte("y"), 100_000))), []string{strings.Repeat("y", 100_000)}, io.EOF},
		"above the limit":   {string(Append(nil, bytes.Repeat([]byte("y"), 100_001))), nil, ErrTooLarge},
		"announced only":    {"\x00\xff\xff\xff\xff", nil, ErrTooLarge},
		"compressed":        {"\x01\x00\x00\x00\x01a", nil, ErrCompressed},
		"unknown flag":      {"\x80\x00\x00\x00\x00", nil, ErrCompressed},
		"cut in the head":   {"\x00\x00\x00\x00\x01a\x00\x00", []string{"a"}, io.ErrUnexpectedEOF},
		"cut at the body":   {"\x00\x00\x00\x00\x01", nil, io.ErrUnexpectedEOF},
		"cut in the body":   {"\x00\x00\x00\x00\x03ab", nil, io.ErrUnexpectedEOF},
		"cut in a large":    {"\x00\x00\x01\x00\x00" + large[:5000], nil, io.ErrUnexpectedEOF},
		"broken connection": {"\x00\x00\x00\x00\x01a!", []string{"a"}, iotest.ErrTimeout},
	} {
		whole, cutOff := tt.body, tt.err == iotest.ErrTimeout
		for _, split := range []func(io.Reader) io.Reader{
			func(r io.Reader) io.Reader { return r }, iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader,
		} {
			var r io.Reader = strings.NewReader(whole)
			if cutOff {
				r = io.MultiReader(strings.NewReader(strings.TrimSuffix(whole, "!")), iotest.ErrReader(iotest.ErrTimeout))
			}
			got, err := allMessages(split(r), 100_000)
			if !errors.Is(err, tt.err) || strings.Join(got, "|") != strings.Join(tt.want, "|") || len(got) != len(tt.want) {
				t.Errorf("%s: %d messages and %v, want %d and %v", name, len(got), err, len(tt.want), tt.err)
			}
		}
	}
}

// TestReaderStaysEnded: after an error there is nothing but the error.
func TestReaderStaysEnded(t *testing.T) {
	t.Parallel()
	m := NewReader(strings.NewReader("\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00"), 10)
	for range 3 {
		if _, err := m.Next(); !errors.Is(err, ErrCompressed) {
			t.Error(err)
		}
	}
}

// TestReaderMemory: what is announced is not allocated before it is there, and
// what one large message needed is given back.
func TestReaderMemory(t *testing.T) {
	t.Parallel()
	m := NewReader(strings.NewReader("\x00\x10\x00\x00\x00abc"), 1<<30)
	if _, err := m.Next(); !errors.Is(err, io.ErrUnexpectedEOF) || cap(m.buf) > firstMessage {
		t.Errorf("%v, %d bytes", err, cap(m.buf))
	}
	body := Append(nil, make([]byte, 1<<20))
	for range patience + 2 {
		body = Append(body, []byte("small"))
	}
	m = NewReader(bytes.NewReader(body), 1<<20)
	if _, err := m.Next(); err != nil || cap(m.buf) < 1<<20 {
		t.Fatal(err, cap(m.buf))
	}
	for range patience + 2 {
		if _, err := m.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if cap(m.buf) > keepMessage {
		t.Errorf("still %d bytes", cap(m.buf))
	}
}

// TestReaderAhead: messages that come together are taken with one read, and More says what is there.
func TestReaderAhead(t *testing.T) {
	t.Parallel()
	body := Append(Append(Append(nil, []byte("a")), []byte("bc")), []byte("def"))
	source := &countingReader{r: iotest.DataErrReader(bytes.NewReader(body[:len(body)-1]))}
	m := NewReader(source, 10)
	if m.More() || !m.Rest() {
		t.Error("there is more before anything was read")
	}
	for _, want := range []struct {
		message string
		more    bool
	}{{"a", true}, {"bc", false}} {
		message, err := m.Next()
		if string(message) != want.message || err != nil || m.More() != want.more {
			t.Fatalf("%q and %v, more %v; want %q, more %v", message, err, m.More(), want.message, want.more)
		}
		if m.Rest() {
			t.Error("it rests with a message begun")
		}
	}
	if source.reads != 1 {
		t.Errorf("%d reads", source.reads)
	}
	if _, err := m.Next(); !errors.Is(err, io.ErrUnexpectedEOF) || !m.More() || m.Rest() {
		t.Errorf("at the end: %v, more %v", err, m.More())
	}
	m = NewReader(bytes.NewReader(Append(Append(nil, []byte("a")), []byte("longer than ten"))), 10)
	if _, err := m.Next(); err != nil || !m.More() {
		t.Errorf("before one that is refused: %v, more %v", err, m.More())
	}
	m = NewReader(bytes.NewReader(Append(nil, []byte("a"))), 10)
	if _, err := m.Next(); err != nil || !m.Rest() || m.buf != nil {
		t.Errorf("after the last: %v, %d bytes", err, cap(m.buf))
	}
}

type countingReader struct {
	r     io.Reader
	reads int
}

func (c *countingReader) Read(p []byte) (int, error) {
	c.reads++
	return c.r.Read(p)
}

// TestReaderSkips: Next goes on behind a message that was too large, whether it was read ahead or not.
func TestReaderSkips(t *testing.T) {
	t.Parallel()
	for _, size := range []int{11, 3000, 100_000} {
		body := Append(Append(Append(nil, []byte("a")), make([]byte, size)), []byte("bc"))
		for _, split := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.OneByteReader} {
			m := NewReader(split(bytes.NewReader(body)), 10)
			if _, err := m.Next(); err != nil {
				t.Fatal(err)
			}
			if _, err := m.Next(); !errors.Is(err, ErrTooLarge) {
				t.Fatal(err)
			}
			if n, err := m.Skip(); n != int64(size) || err != nil {
				t.Errorf("%d of %d bytes, %v", n, size, err)
			}
			if message, err := m.Next(); string(message) != "bc" || err != nil {
				t.Errorf("behind %d bytes: %q, %v", size, message, err)
			}
			if _, err := m.Next(); err != io.EOF {
				t.Error(err)
			}
		}
	}
}

// FuzzReader: what is read is what was there, whatever the reads return, and
// frames again to the same bytes.
func FuzzReader(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x02ab\x00\x00\x00\x00\x00"), byte(0))
	f.Add([]byte("\x00\x00\x00\x10\x00"), byte(1))
	f.Add([]byte("\x01\x00\x00\x00\x00"), byte(2))
	f.Fuzz(func(t *testing.T, body []byte, how byte) {
		split := []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader}[how%3]
		got, err := allMessages(split(bytes.NewReader(body)), 1000)
		again, errAgain := allMessages(bytes.NewReader(body), 1000)
		if strings.Join(got, "|") != strings.Join(again, "|") || !errors.Is(errAgain, err) {
			t.Fatalf("%q and %v, split otherwise %q and %v", got, err, again, errAgain)
		}
		var framed []byte
		for _, message := range got {
			framed = Append(framed, []byte(message))
		}
		if !bytes.HasPrefix(body, framed) || err == io.EOF && len(framed) != len(body) {
			t.Fatalf("%q was read as %q", body, got)
		}
	})
}
