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
	}
	for _, tt := range tests {
		w := writer{from: p03, to: d10}
		w.bytes([]byte(tt.in))
		if got := string(w.out); got != tt.want {
			t.Errorf("%s: %s became %s, want %s", tt.name, tt.in, got, tt.want)
		}
	}
}
