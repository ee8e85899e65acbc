package keys

import (
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	d := func(d time.Duration) quantity.Duration { return quantity.Duration(d) }
	seventeen := strings.Fields("a b c d e f g h i j k l m n o p q")
	for name, test := range map[string]struct {
		in   Config
		want string // beginning of the error; empty: none
	}{
		"nothing":            {Config{}, ""},
		"everything":         {Config{Algorithm: "EdDSA", Rotate: d(2 * time.Hour), Retain: d(10 * time.Minute)}, ""},
		"files":              {Config{Signing: []string{"a", "b"}}, ""},
		"never":              {Config{Rotate: d(36500 * 24 * time.Hour)}, ""},
		"32 retained":        {Config{Rotate: d(2 * time.Hour), Retain: d(64 * time.Hour)}, ""},
		"unknown algorithm":  {Config{Algorithm: "RS256"}, `algorithm: "RS256" is not available`},
		"other case":         {Config{Algorithm: "es256"}, `algorithm: "es256"`},
		"too often":          {Config{Rotate: d(119 * time.Minute)}, "rotate: 1h59m is less than 2h"},
		"negative rotation":  {Config{Rotate: -1}, "rotate: "},
		"too short":          {Config{Retain: d(time.Minute)}, "retain: 1m is less than 10m"},
		"negative retention": {Config{Retain: -1}, "retain: "},
		"too many":           {Config{Rotate: d(2 * time.Hour), Retain: d(67 * time.Hour)}, "retain: 2d19h is more than 32 times"},
		"empty file":         {Config{Signing: []string{"a", ""}}, "signing[1]: is empty"},
		"file twice":         {Config{Signing: []string{"a", "b", "a"}}, `signing[2]: "a" is there twice`},
		"too many files":     {Config{Signing: seventeen}, "signing: 17 files, at most 16"},
		"empty seal":         {Config{Sealing: []string{""}}, "sealing[0]: is empty"},
		"seal twice":         {Config{Sealing: []string{"a", "a"}}, `sealing[1]: "a" is there twice`},
		"too many seals":     {Config{Sealing: seventeen}, "sealing: 17 files, at most 16"},
	} {
		err := test.in.Validate()
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want)):
			t.Errorf("%s: got %v, want %s…", name, err, test.want)
		}
	}
}
