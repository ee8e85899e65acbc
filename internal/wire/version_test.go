package wire

import "testing"

func TestParseVersion(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]Version{
		"": V03, " ": V03, "0.1": V01, "0.2": V03, "0.2.6": V03, "0.3": V03, "0.3.0": V03, "1.0": V10, "1.0.17": V10, "\t1.0 ": V10,
	} {
		if got, ok := ParseVersion(in); !ok || got != want {
			t.Errorf("%q: %q, %t", in, got, ok)
		}
	}
	for _, in := range []string{
		"1", "1.", ".0", "1.0.", "1.0.0.0", "1.1", "2.0", "0.4", "0.0", "01.0", "1.00", "+1.0", "-0.3", "1.0a", "1.0-rc", "1,0", "1.0 1.0", "1.99999",
	} {
		if got, ok := ParseVersion(in); ok {
			t.Errorf("%q: %q", in, got)
		}
	}
}

func TestParseBinding(t *testing.T) {
	t.Parallel()
	for _, b := range []Binding{JSONRPC, HTTPJSON, GRPC} {
		if got, ok := ParseBinding(b.String()); !ok || got != b {
			t.Errorf("%s: %s", b, got)
		}
	}
	if got, ok := ParseBinding("http+json"); !ok || got != HTTPJSON {
		t.Errorf("lower case: %s", got)
	}
	for _, in := range []string{"", "HTTP", "JSONRPC "} {
		if got, ok := ParseBinding(in); ok {
			t.Errorf("%q: %s", in, got)
		}
	}
	if Binding(0).String() != "" || Binding(200).String() != "" {
		t.Error("a binding that is none has a name")
	}
}
