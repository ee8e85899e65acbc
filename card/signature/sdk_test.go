package signature

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// sdkForms are cards that SDKs have signed, below testdata/sdk, and the form in which each
// did. Interop's cards programs made them, with a card that has what forms differ in:
// empty members at any depth, false, null, numbers in several spellings, names beyond
// ASCII, and in 1.3.0's and 1.1.0's the members of 0.3 that its server adds.
var sdkForms = map[string]Form{
	"python-1.3.0":  formMessage,
	"python-1.1.0":  formMessageASCII,
	"python-0.3.26": formLegacy,
	"js-1.3.0":      formMessageNoSchemes,
}

func TestCardsOfSDKs(t *testing.T) {
	t.Parallel()
	v := newVerifier(t, Trust{Keys: []string{"testdata/sdk/keys.jwks"}})
	for name, form := range sdkForms {
		card, err := os.ReadFile(filepath.Join("testdata/sdk", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		verdict, err := v.Verify(t.Context(), card)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := verdict.Holds().Form; got != form {
			t.Errorf("%s: signed as %s, want %s", name, got, form)
		}
		if !json.Valid(verdict.Payload) {
			t.Errorf("%s: covers %s", name, verdict.Payload)
		}
		t.Log(name, verdict.Uncovered)
	}
}
