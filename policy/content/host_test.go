package content

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

func TestHostOf(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{ // "" where two programs may not agree
		"https://files.example.com":               "files.example.com",
		"HTTPS://FILES.Example.COM/a/b?c=d#e":     "files.example.com",
		"http://files.example.com.":               "files.example.com",
		"http://files.example.com.:80/":           "files.example.com",
		"https://files.example.com:443/":          "files.example.com",
		"https://files.example.com:80/":           "files.example.com odd port",
		"https://files.example.com:8443/":         "files.example.com odd port",
		"https://files.example.com:/":             "files.example.com odd port",
		"https://files.example.com:0443/":         "files.example.com odd port",
		"https://a_b.example/":                    "a_b.example",
		"https://xn--bcher-kva.example/":          "xn--bcher-kva.example",
		"https://192.0.2.1/":                      "192.0.2.1",
		"https://192.0.2.1./":                     "192.0.2.1",
		"https://[2001:DB8:0::1]/":                "2001:db8::1",
		"https://[::ffff:192.0.2.1]:443/":         "192.0.2.1",
		"https://4.example/":                      "4.example",
		"https://a.0xg/":                          "a.0xg",
		"https://files.example.com/@evil.example": "files.example.com",

		"": "", "files.example.com": "", "//files.example.com/": "", "https:files.example.com": "", "https:///a": "",
		"ftp://files.example.com/": "", "file:///etc/passwd": "", "data:text/plain,x": "", "s3://bucket/key": "", "javascript://a/": "",
		"https://user@files.example.com/": "", "https://@files.example.com/": "", "https://user:pw@files.example.com/": "",
		"https://files.example.com?@evil.example/": "", "https://files.example.com#@evil.example/": "",
		`https://files.example.com\@evil.example/`: "", `https:\\files.example.com/`: "", `https://files.example.com/\..\x`: "",
		"https://bücher.example/": "", "https://files。example/": "", "https://b%C3%BCcher.example/": "", "https://files%2Eexample/": "",
		"https://files..example/": "", "https://.example/": "", "https://files.example../": "", "https://./": "",
		"https://127.1/": "", "https://2130706433/": "", "https://0x7f000001/": "", "https://0x7f.0.0.0x1/": "", "https://0177.0.0.1/": "",
		"https://192.0.2.1.1/": "", "https://192.0.2.256/": "", "https://1.2.3.0x/": "",
		"https://[fe80::1%25eth0]/": "", "https://[::1/": "", "https://[192.0.2.1]/": "", "https://::1/": "", "https://[::1]x/": "",
		"https://files.example:port/": "", "https://files.example:-1/": "", " https://files.example/": "", "https://files.example /": "",
		"https://files.exa\nmple/": "", "https://files.exa\tmple/": "", "https://files.example\x00/": "", "https://a,b/": "", "https://*.example/": "",
		"https://" + strings.Repeat("a", 64) + ".example/": "", "https://" + strings.Repeat("a.", 127) + "a/": "",
	} {
		name, plain, ok := hostOf(raw)
		if !ok {
			name = ""
		} else if !plain {
			name += " odd port"
		}
		if name != want {
			t.Errorf("hostOf(%q): %q, want %q", raw, name, want)
		}
	}
}

func TestHostPatterns(t *testing.T) {
	t.Parallel()
	for pattern, at := range map[string]string{
		"Files.Example.COM.": "https://files.example.com/", "*.example.com": "http://a.EXAMPLE.com./",
		"192.0.2.1": "https://192.0.2.1/", "::ffff:192.0.2.1": "https://192.0.2.1/", "192.0.2.*": "https://192.0.2.7/",
		"2001:DB8::0:1": "https://[2001:db8::1]/", "[2001:db8::1]": "https://[2001:DB8:0:0::1]/",
	} {
		c, problems := New(&Config{Hosts: []string{pattern}}, "allow")
		part := wire.Part{Kind: wire.PartFile, URL: at}
		if problems != nil || !c.hosted(&part) {
			t.Errorf("%s does not fit %s: %q", pattern, at, problems)
		}
	}
}

// FuzzHostOf: whatever a URL is, a host that is found is in the one spelling that its
// own URL has, so that no second reading of it is another host.
func FuzzHostOf(f *testing.F) {
	for _, raw := range []string{"https://a.example/x", "http://[::1]:80/", "https://192.0.2.1/", "https://a@b/", "https://a:8443?x"} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		name, _, ok := hostOf(raw)
		if !ok {
			return
		}
		again := name
		if a, err := netip.ParseAddr(name); err == nil && a.Is6() {
			again = "[" + name + "]"
		}
		if second, plain, ok := hostOf("https://" + again + "/"); second != name || !plain || !ok {
			t.Errorf("%q names %q, which as a host is %q", raw, name, second)
		}
		if rest := strings.ToLower(raw); !strings.HasPrefix(rest, "http://") && !strings.HasPrefix(rest, "https://") {
			t.Errorf("%q names %q and is no http or https URL", raw, name)
		}
	})
}
