package translate

import "testing"

// Bytes of a file come out of 0.3's ProtoJSON as they are meant, whichever way the
// SDK on the other side writes them.
func TestFileBytes(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"base64 of base64", `"Ly80QUFRST0="`, `"//4AAQI="`},
		{"base64 of bytes", `"//4AAQI="`, `"//4AAQI="`},
		{"base64 of text", `"aGV5"`, `"aGV5"`},
		{"nothing", `""`, `""`},
		{"no base64", `"?"`, `"?"`},
		{"base64 of base64 with the end of a line", `"QUFFQwo="`, `"QUFFQwo="`}, // a string cannot hold it
	}
	for _, tt := range tests {
		w := writer{from: p03, to: d10}
		w.bytes([]byte(tt.in))
		if got := string(w.out); got != tt.want {
			t.Errorf("%s: %s became %s, want %s", tt.name, tt.in, got, tt.want)
		}
	}
}

// TestPlainFileBytes: of somebody who has bytes as the proto has them, none are
// taken for anything else, and they get them so. "dGVzdA==" is base64 of "test",
// which is base64 as well.
func TestPlainFileBytes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		w    writer
		want string
	}{
		{writer{from: p03, to: d10, reads: Plain}, `"dGVzdA=="`},
		{writer{from: p03, to: d10, reads: Doubled}, `"test"`},
		{writer{from: d10, to: p03, writes: Plain}, `"dGVzdA=="`},
		{writer{from: d10, to: p03, writes: Doubled}, `"ZEdWemRBPT0="`},
		{writer{from: d03, to: d10, reads: Doubled, writes: Doubled}, `"dGVzdA=="`},
		{writer{from: p03, to: p03, reads: Doubled, writes: Plain}, `"dGVzdA=="`},
	} {
		w := tt.w
		if w.bytes([]byte(`"dGVzdA=="`)); string(w.out) != tt.want {
			t.Errorf("%d to %d: %s, want %s", w.from, w.to, w.out, tt.want)
		}
	}
}
