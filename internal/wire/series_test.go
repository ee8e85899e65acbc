package wire

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pieceOf is an event with a piece of an artifact, as agents send what a model says.
func pieceOf(text string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"7","result":{"artifactUpdate":{"taskId":"T","contextId":"C",`+
		`"artifact":{"artifactId":"a","parts":[{"text":"%s"}],"extensions":["urn:x"]},"append":true}}}`, text)
}

// TestSeries: an event that differs from the one before only in what does not matter is
// read as it would be alone, and not read again.
func TestSeries(t *testing.T) {
	t.Parallel()
	m, _ := ByName(V10, SendStreamingMessage)
	change := func(from, to string) []byte { return bytes.Replace(pieceOf("word"), []byte(from), []byte(to), 1) }
	for name, c := range map[string]struct {
		event []byte
		alike bool
	}{
		"the same":           {pieceOf("word"), true},
		"another text":       {pieceOf("two words"), true},
		"no text":            {pieceOf(""), true},
		"escapes":            {pieceOf(`a \"quoted\" \u00e4 line\n`), true},
		"other characters":   {pieceOf("Wörter 語"), true},
		"a long text":        {pieceOf(strings.Repeat("word ", 10_000)), true},
		"another artifact":   {change(`"artifactId":"a"`, `"artifactId":"b"`), false},
		"another task":       {change(`"taskId":"T"`, `"taskId":"U"`), false},
		"another context":    {change(`"contextId":"C"`, `"contextId":"D"`), false},
		"another id":         {change(`"id":"7"`, `"id":"8"`), false},
		"another extension":  {change("urn:x", "urn:y"), false},
		"another name":       {change(`"text"`, `"textual"`), false},
		"a member more":      {change(`"append":true`, `"append":true,"lastChunk":true`), false},
		"another value":      {change("true", "false"), false},
		"a way out":          {pieceOf(`word","taskId":"U`), false},
		"a second task":      {pieceOf(`word"}],"x":[{"y":"z`), false},
		"a lone surrogate":   {pieceOf(`\ud800`), false},
		"a bad escape":       {pieceOf(`\x`), false},
		"a control":          {pieceOf("a\nb"), false},
		"no UTF-8":           {pieceOf("\xff"), false},
		"an end within":      {pieceOf("word")[:150], false},
		"something behind":   {append(pieceOf("word"), '1'), false},
		"an end in the text": {[]byte(`{"jsonrpc":"2.0","id":"7","result":{"artifactUpdate":{"taskId":"T`), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewSeries(JSONRPC, V10, m, Limits{})
			for range 2 {
				if _, err := s.Read(pieceOf("word")); err != nil {
					t.Fatal(err)
				}
			}
			if got := s.before.matches(c.event); got != c.alike {
				t.Errorf("alike: %v", got)
			}
			readAlike(t, s, c.event)
		})
	}
}

// readAlike holds a series to ReadAnswer.
func readAlike(t *testing.T, s *Series, event []byte) {
	t.Helper()
	want, wrong := ReadAnswer(s.binding, s.version, s.method, event, s.limits)
	got, err := s.Read(event)
	if (err == nil) != (wrong == nil) {
		t.Fatalf("%q is read with %v, alone with %v", event, err, wrong)
	}
	if err == nil {
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Fatalf("%q is read differently than alone:\n%s", event, diff)
		}
	}
}

// TestSeriesForgets: what is large, or no event, is not remembered.
func TestSeriesForgets(t *testing.T) {
	t.Parallel()
	m, _ := ByName(V10, SendStreamingMessage)
	for _, event := range []string{
		string(pieceOf(strings.Repeat("word ", 1000))),
		`{"jsonrpc":"2.0","id":"7","error":{"code":-32603,"message":"no"}}`,
		`{"jsonrpc":"2.0","result":{"task":{"id":"T","metadata":{"a":"b"},"status":{"state":"TASK_STATE_WORKING"}}},"id":"7"}`,
	} {
		s := NewSeries(JSONRPC, V10, m, Limits{})
		for range 3 {
			readAlike(t, s, []byte(event))
		}
		if s.before.known {
			t.Errorf("remembered: %.100s", event)
		}
	}
}

// lateID is an event that ends an artifact, and has its id behind a text.
func lateID(text string) []byte {
	return fmt.Appendf(nil, `{"artifactUpdate":{"taskId":"T","artifact":{"parts":[{"text":"%s"}],"artifactId":"a"},"lastChunk":true}}`, text)
}

// TestSeriesFindsIDs: where an artifact's id stands is said of the event at hand.
func TestSeriesFindsIDs(t *testing.T) {
	t.Parallel()
	m, _ := ByName(V10, SendStreamingMessage)
	for _, texts := range [][]string{{"a long text", "short"}, {"short", "a long text"}} {
		s := NewSeries(HTTPJSON, V10, m, Limits{})
		for range 3 {
			for _, text := range texts {
				readAlike(t, s, lateID(text))
			}
		}
	}
}

// FuzzSeries: whatever stood in the events before, an event is read as it would be alone.
func FuzzSeries(f *testing.F) {
	_, cases := answerCases(f)
	for i, c := range cases {
		f.Add(byte(i), c.body, c.body)
		f.Add(byte(i), c.body, cases[(i+1)%len(cases)].body)
	}
	f.Add(byte(0), pieceOf("word"), pieceOf(`\u00e4","taskId":"U`))
	for i, c := range cases {
		if c.binding == HTTPJSON && c.version == V10 && c.method.Name == SendStreamingMessage {
			f.Add(byte(i), lateID("a long text"), lateID("short"))
			f.Add(byte(i), lateID("short"), lateID("a long text"))
			break
		}
	}
	f.Fuzz(func(t *testing.T, n byte, before, event []byte) {
		c := cases[int(n)%len(cases)]
		s := NewSeries(c.binding, c.version, c.method, Limits{})
		for _, body := range [][]byte{before, before, event, before, event} {
			readAlike(t, s, body)
		}
	})
}

func BenchmarkSeries(b *testing.B) {
	m, _ := ByName(V10, SendStreamingMessage)
	events := [][]byte{pieceOf("a few words more, "), pieceOf("and the next ones, ")}
	b.Run("apart", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if _, err := ReadAnswer(JSONRPC, V10, m, events[i&1], Limits{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("together", func(b *testing.B) {
		s := NewSeries(JSONRPC, V10, m, Limits{})
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if _, err := s.Read(events[i&1]); err != nil {
				b.Fatal(err)
			}
		}
	})
}
