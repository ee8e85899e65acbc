package adminapi

import "testing"

// TestAdminBase: a gateway is asked where it listens, and the token goes nowhere but there.
func TestAdminBase(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"127.0.0.1:9901":              "http://127.0.0.1:9901",
		"[::1]:9901":                  "http://[::1]:9901",
		":9901":                       "http://localhost:9901",
		"0.0.0.0:9901":                "http://localhost:9901",
		"[::]:9901":                   "http://localhost:9901",
		"https://admin.example/":      "https://admin.example",
		"http://127.0.0.1:9901":       "http://127.0.0.1:9901",
		"9901":                        "",
		"ftp://admin.example":         "",
		"http://":                     "",
		"http://user@admin.example":   "",
		"http://admin.example/api":    "",
		"http://admin.example/?a=b":   "",
		"http://admin.example:port/x": "",
	} {
		got, err := adminBase(address)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v; want %q", address, got, err, want)
		}
	}
}
