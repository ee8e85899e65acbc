package verb

import "testing"

// TestPrintable: lines stay lines, and letters letters.
func TestPrintable(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "", "a\n\tb": "a\n\tb", "größer „alt“ 漢字 �": "größer „alt“ 漢字 �", "a\x1b[31m\r": `a\x1b[31m\r`, "\x9b\xff": `\x9b\xff`, "\u0085\u2028": `\u0085\u2028`,
	} {
		if got := Printable(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestCell: what others chose cannot steer a terminal.
func TestCell(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "-", "task-1": "task-1", "Zürich 東京": "Zürich 東京", "a\x1b[31mb\nc\td": `a\x1b[31mb\nc\td`, "\u202etxt": `\u202etxt`,
	} {
		if got := Cell(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
