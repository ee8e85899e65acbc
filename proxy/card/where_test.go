package card

import (
	"net/url"
	"testing"
)

// TestL43_AddressesWithoutSecrets: what is said of a card that cannot be had goes into the
// log and to operators, and names neither who asked nor with what.
func TestL43_AddressesWithoutSecrets(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"https://canary-user:canary-password@a.example:8443/card.json?key=canary#canary": "https://a.example:8443/card.json",
		"https://canary-token@a.example/card.json":                                       "https://a.example/card.json",
		"http://127.0.0.1:1/c": "http://127.0.0.1:1/c",
	} {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := where(u); got != want {
			t.Errorf("%s: %s", raw, got)
		}
	}
}
