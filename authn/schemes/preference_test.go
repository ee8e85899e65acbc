package schemes

import (
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn"
)

// TestL05_PreferredCredential: of several credentials the one of the method that is preferred counts, and no
// other does when that one is bad. Without an order, and of one method, several are refused.
func TestL05_PreferredCredential(t *testing.T) {
	t.Parallel()
	ambiguous, none := authn.ErrAmbiguous.Error(), authn.ErrNoCredentials.Error()
	tests := []struct {
		prefer string
		names  string // of what the request carries
		want   string // who calls, or the fault
	}{
		{"", "key user", ambiguous},
		{"", "key basic", ambiguous},
		{"apiKeys", "key user", "bob"},
		{"apiKeys", "key basic", "bob"},
		{"apiKeys", "key workload", "bob"},
		{"apiKeys", "key user workload", "bob"},
		{"apiKeys", "user", "alice"},
		{"apiKeys", "user workload", ambiguous},
		{"apiKeys", "basic", string(authn.FaultScheme)},
		{"apiKeys", "", none},
		{"apiKeys oidc", "key user", "bob"},
		{"oidc apiKeys", "key user", "alice"},
		{"oidc apiKeys", "key basic", "bob"},
		{"oidc", "key bad", string(authn.FaultMalformed)},
		{"apiKeys", "bad-key user", string(authn.FaultMalformed)},
		{"oidc", "bearer-key", "bob"},
		{"oidc", "bearer-key workload", "orchestrator"},
		// Two of one method, and two lines of one header.
		{"apiKeys", "key bearer-key", ambiguous},
		{"oidc", "user workload", ambiguous},
		{"apiKeys", "key user other", ambiguous},
		{"oidc", "user key key", ambiguous},
		// Certificates, which nobody looks at beside another credential else.
		{"", "key cert", "bob"},
		{"apiKeys", "key cert", "bob"},
		{"mtls", "key cert", "spiffe://test/worker"},
		{"mtls", "key", "bob"},
		{"mtls", "key user", ambiguous},
		{"mtls apiKeys", "key bad-cert", "certificate-use"},
		{"apiKeys mtls", "user cert", "spiffe://test/worker"},
	}
	for _, tt := range tests {
		t.Run(tt.prefer+": "+tt.names, func(t *testing.T) {
			t.Parallel()
			cr := newCredentials(t)
			cfg := cr.cfg
			cfg.Prefer = strings.Fields(tt.prefer)
			c := open(t, cfg, Options{Client: &http.Client{Transport: cr.net}})
			if got := cr.call(t, c, tt.names); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

func TestPreferIsChecked(t *testing.T) {
	t.Parallel()
	cr := newCredentials(t)
	for prefer, want := range map[string]string{
		"bearer":          `authn.prefer[0]: "bearer" is neither oidc, apiKeys nor mtls`,
		"oidc mtls":       "authn.prefer[1]: authn.mtls is not configured",
		"apiKeys apiKeys": "authn.prefer[1]: apiKeys is listed twice",
	} {
		cfg := cr.cfg
		cfg.MTLS, cfg.Prefer = nil, strings.Fields(prefer)
		if err := cfg.Validate(); err == nil || err.Error() != want {
			t.Errorf("%s: %v", prefer, err)
		}
	}
	cfg := cr.cfg
	cfg.Prefer, cfg.Combinations = []string{"oidc"}, []authn.Combination{{User: "oidc"}}
	if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), "authn.prefer: combinations") {
		t.Errorf("beside combinations: %v", err)
	}
}
