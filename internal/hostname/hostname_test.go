package hostname

import (
	"strings"
	"testing"
)

func TestCanonical(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"localhost": "localhost", "LocalHost": "localhost", "localhost:8080": "localhost:8080",
		"localhost:": "localhost", "a.example:443": "a.example", "a.example:80": "a.example",
		"A.example:0443": "a.example", "a.example:08080": "a.example:8080", "127.0.0.1:1": "127.0.0.1:1",
		"[::1]": "[::1]", "[::1]:443": "[::1]", "[0:0::1]:8080": "[::1]:8080", "[2001:DB8::A]": "[2001:db8::a]",
		"my_service:9000": "my_service:9000", "a:65535": "a:65535",
	} {
		if got, ok := Canonical(in); !ok || got != want {
			t.Errorf("%q: %q, %v; want %q", in, got, ok, want)
		}
	}
	for _, in := range []string{
		"", ":", ":80", "a:0", "a:00", "a:65536", "a:99999999999999999999", "a:-1", "a:+1", "a:1a", "a.", ".",
		"a..b", "[]", "[", "]",
		"[::1]a", "[::1]:x", "[::ffff:1.2.3.4]", "[fe80::1%eth0]", "[1.2.3.4]", "a/b", "a@b", "a%41", "a b",
		"a\x00", "é", "*.a",
		strings.Repeat("a.", 127) + "a", strings.Repeat("a", 64),
	} {
		if got, ok := Canonical(in); ok {
			t.Errorf("%q: accepted as %q", in, got)
		}
	}
}

func FuzzCanonical(f *testing.F) {
	for _, s := range []string{"localhost:8080", "[::1]:443", "A.b:080", "[0::1]", "a_b", "a:", "a.:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got, ok := Canonical(in)
		if !ok {
			return
		}
		again, ok := Canonical(got)
		if !ok || again != got || strings.ToLower(got) != got || strings.ContainsAny(got, "@/%\\ ") {
			t.Fatalf("%q is %q, which is %q, %v", in, got, again, ok)
		}
	})
}

func BenchmarkCanonical(b *testing.B) {
	for _, host := range []string{"gateway.example.com", "gateway.example.com:8443", "[2001:db8::1]:8443"} {
		b.Run(host, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := Canonical(host); !ok {
					b.Fatal("refused")
				}
			}
		})
	}
}
