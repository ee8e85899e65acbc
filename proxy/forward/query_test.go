package forward_test

import (
	"testing"

	"github.com/a2a-gateway/a2a-gateway/proxy/forward"
)

func TestForwardedQuery(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "", "a=1": "a=1", "A2A-Version=1.0": "", "a=1&A2A-Version=1.0&b=%20": "a=1&b=%20", "a2a-version=1": "",
		"A2A%2DVersion=1.0&b": "b", "version=1&&x": "version=1&&x", "myversion=%zz": "myversion=%zz", "%zz=version": "",
	} {
		if got := forward.ForwardedQuery(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
