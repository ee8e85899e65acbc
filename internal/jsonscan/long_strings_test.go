package jsonscan

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// walk reads a document and says which values it had, where.
func walk(s *Scanner) (all [][2]int) {
	switch s.Kind() {
	case '{':
		for s.Enter(); s.More(); {
			s.Name()
			all = append(all, walk(s)...)
		}
	case '[':
		for s.Enter(); s.More(); {
			all = append(all, walk(s)...)
		}
	default:
		start, end := s.Skip()
		all = append(all, [2]int{start, end})
	}
	return all
}

// readTwice reads doc, and again with what is known of it.
func readTwice(doc []byte) (first, second [][2]int, known *LongStrings, err error) {
	s := New(doc, 10, 100, &noRules)
	s.NoteLong()
	first = walk(s)
	err = s.Finish()
	known = s.Long()
	s.Release()
	s = New(doc, 10, 100, &noRules)
	defer s.Release()
	s.Know(known)
	second = walk(s)
	if again := s.Finish(); err == nil {
		err = again
	}
	return first, second, known, err
}

// TestLongStrings: a reading that knows long strings finds what the first one has found.
func TestLongStrings(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var text func(depth int) string
		text = func(depth int) string {
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				return `"` + strings.Repeat("a", rapid.IntRange(0, 3).Draw(t, "times")*longString) + `"`
			case 1:
				return `"` + strings.Repeat("é", longString) + rapid.SampledFrom([]string{"", `\n`, `\"`, `\\`}).Draw(t, "end") + `"`
			case 2:
				return "7"
			case 3:
				if depth == 0 {
					return "null"
				}
				return "[" + text(depth-1) + " , " + text(depth-1) + "]"
			default:
				if depth == 0 {
					return "{}"
				}
				return `{"a":` + text(depth-1) + `,"` + strings.Repeat("n", longString) + `":` + text(depth-1) + `}`
			}
		}
		doc := []byte(text(3))
		first, second, known, err := readTwice(doc)
		if err != nil {
			t.Fatal(err)
		}
		if len(first) != len(second) {
			t.Fatalf("%d values, then %d", len(first), len(second))
		}
		for i := range first {
			if first[i] != second[i] {
				t.Fatalf("value %d: %v, then %v", i, first[i], second[i])
			}
		}
		if known == nil {
			return
		}
		for _, span := range known.at {
			if n := span.To - span.From; n < longString-1 || doc[span.From-1] != '"' || doc[span.To] != '"' || bytes.IndexByte(doc[span.From:span.To], '"') >= 0 {
				t.Errorf("a string of %d bytes is known", n)
			}
		}
	})
}

// TestLongStringsOfAnother: what is known of one document is nothing that is known of another.
func TestLongStringsOfAnother(t *testing.T) {
	t.Parallel()
	long := `["` + strings.Repeat("a", 2*longString) + `",1]`
	_, _, known, err := readTwice([]byte(long))
	if err != nil || known == nil || len(known.at) != 1 {
		t.Fatal(known, err)
	}
	hidden := []byte(long)
	copy(hidden[100:], `",{"is":"seen"},"`)
	s := New(hidden, 10, 100, &noRules)
	defer s.Release()
	s.Know(known)
	if got := walk(s); len(got) != 4 || s.Finish() != nil {
		t.Errorf("%v, %v", got, s.Finish())
	}
	// Of the beginning of a document, a string is known only where it ends there.
	cut := New(known.doc[:longString], 10, 100, &noRules)
	defer cut.Release()
	cut.Know(known)
	if walk(cut); !cut.Failed() {
		t.Error("a string that is cut off has an end")
	}
	// What could not be read to its end has told nothing.
	broken := New([]byte(long[:len(long)-1]+"x"), 10, 100, &noRules)
	defer broken.Release()
	broken.NoteLong()
	if walk(broken); broken.Long() != nil {
		t.Error("strings of a broken document are known")
	}
}

// TestLongStringsSkipNothing: names of one object are compared, also where they are long.
func TestLongStringsSkipNothing(t *testing.T) {
	t.Parallel()
	name := strings.Repeat("n", 2*longString)
	doc := []byte(`{"` + name + `":1,"` + name + `":2}`)
	for range 2 {
		s := New(doc, 10, 100, &noRules)
		s.NoteLong()
		walk(s)
		if s.Finish() == nil {
			t.Error("two members of one name")
		}
		known := s.Long()
		s.Release()
		s = New(doc, 10, 100, &noRules)
		s.Know(known)
		walk(s)
		if s.Finish() == nil {
			t.Error("two members of one name, the second time")
		}
		s.Release()
	}
}
