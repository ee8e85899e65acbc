package wire

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
)

// messageOfEvent is an event as gRPC has it.
func messageOfEvent(t testing.TB, v Version, doc string) []byte {
	t.Helper()
	m, _ := ByName(V10, SendStreamingMessage)
	b, err := ResponseMessage(m, v, []byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// pieceOfGRPC is an event with a piece of an artifact, as agents send what a model says.
func pieceOfGRPC(t testing.TB, v Version, text string) []byte {
	parts := `[{"text":"` + text + `"}]`
	return messageOfEvent(t, v, `{"artifactUpdate":{"taskId":"T","contextId":"C","artifact":{"artifactId":"a","parts":`+parts+
		`,"metadata":{"k":"v"},"extensions":["urn:x"]},"append":true}}`)
}

// readMessageAlike holds a series to ResponseJSON and ReadAnswer.
func readMessageAlike(t *testing.T, s *Series, message []byte) {
	t.Helper()
	doc, wrong := ResponseJSON(s.method, s.version, message)
	var want Answer
	if wrong == nil {
		want, wrong = ReadAnswer(GRPC, s.version, s.method, doc, s.limits)
	}
	gotDoc, got, err := s.ReadMessage(message)
	if (err == nil) != (wrong == nil) {
		t.Fatalf("%x is read with %v, alone with %v", message, err, wrong)
	}
	if err != nil {
		return
	}
	if !bytes.Equal(gotDoc, doc) {
		t.Fatalf("the document of %x is\n%s\nand alone\n%s", message, gotDoc, doc)
	}
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Fatalf("%s is read differently than alone:\n%s", doc, diff)
	}
}

// TestSeriesOfMessages: a message that differs from the one before in its one text is not written as a
// document and read again.
func TestSeriesOfMessages(t *testing.T) {
	t.Parallel()
	for _, v := range []Version{V03, V10} {
		piece := func(text string) []byte { return pieceOfGRPC(t, v, text) }
		change := func(from, to string) []byte { return bytes.Replace(piece("word"), []byte(from), []byte(to), 1) }
		two := messageOfEvent(t, v, `{"artifactUpdate":{"taskId":"T","artifact":{"artifactId":"a","parts":[{"text":"a"},{"text":"b"}]}}}`)
		for name, c := range map[string]struct {
			message []byte
			alike   bool
		}{
			"the same":             {piece("word"), true},
			"another text":         {piece("two words"), true},
			"no text":              {piece(""), true},
			"what JSON escapes":    {piece(`a \"quoted\" \u2028 line\n`), true},
			"a long text":          {piece(strings.Repeat("word ", 10_000)), true},
			"no UTF-8":             {change("word", "w\xffrd"), false},
			"another artifact":     {change("\x01a", "\x01b"), false},
			"another task":         {change("\x01T", "\x01U"), false},
			"another context":      {change("\x01C", "\x01D"), false},
			"another extension":    {change("urn:x", "urn:y"), false},
			"another value":        {change("\x01v", "\x01w"), false},
			"an end within":        {piece("word")[:30], false},
			"a field behind":       {append(piece("word"), 0x78, 1), false},
			"a text that is large": {change("\x04word", "\x7fword"), false},
			"two texts":            {two, false},
			"nothing":              {nil, false},
		} {
			t.Run(string(v)+"/"+name, func(t *testing.T) {
				t.Parallel()
				m, _ := ByName(V10, SendStreamingMessage)
				s := NewSeries(GRPC, v, m, Limits{})
				for range 2 {
					readMessageAlike(t, s, piece("word"))
				}
				if _, got := s.message.Document(c.message); got != c.alike {
					t.Errorf("alike: %v", got)
				}
				readMessageAlike(t, s, c.message)
				readMessageAlike(t, s, piece("another"))
			})
		}
	}
}

// TestSeriesOfMessagesForgets: what has no text that is its own to change is not remembered.
func TestSeriesOfMessagesForgets(t *testing.T) {
	t.Parallel()
	m, _ := ByName(V10, SendStreamingMessage)
	for name, doc := range map[string]string{
		"no text":            `{"statusUpdate":{"taskId":"T","status":{"state":"TASK_STATE_WORKING"}}}`,
		"two texts":          `{"message":{"messageId":"m","parts":[{"text":"a"},{"text":"b"}]}}`,
		"a text in metadata": `{"message":{"messageId":"m","parts":[{"text":"a"}],"metadata":{"text":"a"}}}`,
		"too long":           `{"message":{"messageId":"m","parts":[{"text":"` + strings.Repeat("word ", 1000) + `"}]}}`,
	} {
		s := NewSeries(GRPC, V10, m, Limits{})
		message := messageOfEvent(t, V10, doc)
		for range 3 {
			readMessageAlike(t, s, message)
		}
		if _, ok := s.message.Document(message); ok {
			t.Errorf("%s: remembered", name)
		}
	}
}

// FuzzSeriesOfMessages: whatever stood in the messages before, one is read as it would be alone.
func FuzzSeriesOfMessages(f *testing.F) {
	for _, v := range []Version{V03, V10} {
		word := pieceOfGRPC(f, v, "word")
		f.Add(v == V10, word, pieceOfGRPC(f, v, "two words"))
		f.Add(v == V10, word, bytes.Replace(word, []byte("word"), []byte("w\xffrd"), 1))
		f.Add(v == V10, word, slices.Concat(word, protowire.AppendTag(nil, 15, protowire.VarintType), []byte{1}))
		f.Add(v == V10, messageOfEvent(f, v, `{"statusUpdate":{"taskId":"T","status":{"state":"TASK_STATE_WORKING"}}}`), word)
	}
	f.Fuzz(func(t *testing.T, latest bool, before, message []byte) {
		v := V03
		if latest {
			v = V10
		}
		m, _ := ByName(V10, SendStreamingMessage)
		s := NewSeries(GRPC, v, m, Limits{})
		for _, b := range [][]byte{before, before, message, before, message, message} {
			readMessageAlike(t, s, b)
		}
	})
}

func BenchmarkSeriesOfMessages(b *testing.B) {
	m, _ := ByName(V10, SendStreamingMessage)
	messages := [][]byte{pieceOfGRPC(b, V10, "a few words more, "), pieceOfGRPC(b, V10, "and the next ones, ")}
	b.Run("apart", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			doc, err := ResponseJSON(m, V10, messages[i&1])
			if err != nil {
				b.Fatal(err)
			}
			if _, err := ReadAnswer(GRPC, V10, m, doc, Limits{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("together", func(b *testing.B) {
		s := NewSeries(GRPC, V10, m, Limits{})
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if _, _, err := s.ReadMessage(messages[i&1]); err != nil {
				b.Fatal(err)
			}
		}
	})
}
