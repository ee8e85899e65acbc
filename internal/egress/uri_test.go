package egress_test

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/egress"
)

func newURIs(t testing.TB, schemes, hosts []string, private bool) *egress.URIs {
	t.Helper()
	u, err := egress.NewURIs(schemes, hosts, private)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

var web = []string{"https", "http"}

// passedOn are those of the spellings that are refused as webhooks for something else than
// where they lead as written: a name of the public DNS, a port, a path, a fragment.
var passedOn = []string{
	"fbi.com.example", "0x7f.1.example.com", "1.0.0.127.example", "spoofed.burpcollaborator.net", "xn--nxasmq6b.example",
	"hooks.example.com", "a_b.example.com", "rebind.example",
}

// TestL41_NoURILeadsInside: what agents and callers hand to each other to fetch leads
// inside in no spelling that is refused as a webhook.
func TestL41_NoURILeadsInside(t *testing.T) {
	t.Parallel()
	u := newURIs(t, web, nil, false)
	for _, target := range corpus(t, "refused.txt", "8080") {
		host, why := u.Judge(target)
		if why == "" && !slices.Contains(passedOn, host) {
			t.Errorf("%q may be passed on, to %s", target, host)
		}
	}
	for _, target := range corpus(t, "accepted.txt", "443") {
		if _, why := u.Judge(target); why != "" {
			t.Errorf("%q: %s", target, why)
		}
	}
}

func TestURIs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		schemes, hosts []string
		private        bool
		uri            string
		want           egress.Why
	}{
		{uri: "https://files.example.com/a b/ä.pdf?x=1#page=2"},
		{uri: "https://files.example.com:8443/" + strings.Repeat("x", 4000)},
		{uri: "https://files.example.com/" + strings.Repeat("x", 9000), want: egress.WhyLength},
		{uri: "http://files.example.com/", want: egress.WhyScheme},
		{uri: "HTTPS://FILES.example.com"},
		{uri: "data:text/plain,x", want: egress.WhyScheme},
		{uri: "files/a.pdf", want: egress.WhyMalformed},
		{uri: "//files.example.com/a", want: egress.WhyMalformed},
		{uri: "https:files.example.com", want: egress.WhyMalformed},
		{uri: "https://files.example.com?x=a@127.0.0.1", want: egress.WhyUser},
		{uri: "https://files.example.com/x=a@127.0.0.1"},
		{uri: "https://\u212aube.example/", want: egress.WhyMalformed},
		{uri: "https://metadata.goog/x", want: egress.WhyAddress},
		{uri: "https://10-0-0-1.nip.io/x", want: egress.WhyAddress},
		{uri: "https://kubernetes.default/x", want: egress.WhyAddress},
		// Where private is allowed, what clouds tell machines is not.
		{private: true, uri: "https://10.0.0.1/"},
		{private: true, uri: "https://wiki/"},
		{private: true, uri: "https://[fd00::1]:1/"},
		{private: true, uri: "https://169.254.169.254/", want: egress.WhyAddress},
		{private: true, uri: "https://metadata.google.internal/", want: egress.WhyAddress},
		{private: true, uri: "https://0x7f.1/", want: egress.WhyMalformed},
		// A host that was written down is what it is; a star names none.
		{hosts: []string{"Files.corp", "10.0.0.1", "[::1]", "*.internal"}, uri: "x", want: "invalid"},
		{hosts: []string{"Files.corp", "10.0.0.1", "FD00:0::1", "*.internal"}, uri: "https://files.CORP:8080/"},
		{hosts: []string{"Files.corp", "10.0.0.1", "FD00:0::1", "*.internal"}, uri: "https://10.0.0.1/"},
		{hosts: []string{"Files.corp", "10.0.0.1", "FD00:0::1", "*.internal"}, uri: "https://[fd00::0001]/"},
		{hosts: []string{"Files.corp", "10.0.0.1", "FD00:0::1", "*.internal"}, uri: "https://a.b.internal/"},
		{hosts: []string{"Files.corp", "10.0.0.1", "FD00:0::1", "*.internal"}, uri: "https://files.example.com/", want: egress.WhyHost},
		{hosts: []string{"Files.corp"}, uri: "https://10.0.0.1/", want: egress.WhyHost},
		{hosts: []string{"*"}, uri: "https://files.example.com/"},
		{hosts: []string{"*"}, uri: "https://10.0.0.1/", want: egress.WhyAddress},
		{hosts: []string{"*", "10.0.0.1"}, uri: "https://10.0.0.1/"},
		// Buckets are no hosts, addresses are addresses.
		{schemes: []string{"gs"}, uri: "gs://my_bucket/x"},
		{schemes: []string{"gs"}, uri: "gs://test/x"},
		{schemes: []string{"gs"}, uri: "gs://localhost/x", want: egress.WhyAddress},
		{schemes: []string{"gs"}, uri: "gs://127.0.0.1/x", want: egress.WhyAddress},
		{schemes: []string{"gs"}, uri: "gs://2130706433/x", want: egress.WhyMalformed},
		{schemes: []string{"urn"}, uri: "urn:isbn:1"},
		{schemes: []string{"urn"}, hosts: []string{"a.example"}, uri: "urn:isbn:1", want: egress.WhyHost},
		{schemes: []string{"urn"}, hosts: []string{"*"}, uri: "urn:isbn:1"},
	} {
		schemes := tt.schemes
		if schemes == nil {
			schemes = []string{"https"}
		}
		u, err := egress.NewURIs(schemes, tt.hosts, tt.private)
		if tt.want == "invalid" {
			if err == nil {
				t.Errorf("%v is accepted", tt.hosts)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if host, why := u.Judge(tt.uri); why != tt.want {
			t.Errorf("%v %v %v: %.60q: %q, not %q (host %s)", schemes, tt.hosts, tt.private, tt.uri, why, tt.want, host)
		}
	}
	if _, err := egress.NewURIs([]string{"https:"}, nil, false); err == nil {
		t.Error("a scheme with a colon is accepted")
	}
}

// FuzzURIs: what may be passed on leads to a public host, to those too who read it as
// net/url does.
func FuzzURIs(f *testing.F) {
	for _, file := range []string{"refused.txt", "accepted.txt"} {
		for _, target := range corpus(f, file, "443") {
			f.Add(target)
		}
	}
	u := newURIs(f, web, nil, false)
	f.Fuzz(func(t *testing.T, uri string) {
		host, why := u.Judge(uri)
		if why != "" {
			return
		}
		read, err := url.Parse(uri)
		if err != nil {
			return // it leads nowhere
		}
		if got := strings.ToLower(read.Hostname()); got != host || read.User != nil {
			t.Fatalf("%q leads to %q, or to %q", uri, host, got)
		}
		if ip, err := netip.ParseAddr(host); err == nil && (ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()) {
			t.Fatalf("%q leads to %s", uri, ip)
		}
	})
}
