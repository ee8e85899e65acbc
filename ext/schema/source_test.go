package schema

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"
)

func TestSource(t *testing.T) {
	t.Parallel()
	const refused = "want the path of a JSON file, or a schema as a mapping"
	tests := []struct {
		in      string
		want    Source
		wantErr string
	}{
		{`schemas/a.json`, Source{File: "schemas/a.json"}, ""},
		{`"1"`, Source{File: "1"}, ""},
		{``, Source{}, ""},
		{`~`, Source{}, ""},
		{`{}`, Source{Inline: []byte(`{}`)}, ""},
		{`{type: object, minProperties: 0x1}`, Source{Inline: []byte(`{"type":"object","minProperties":1}`)}, ""},
		{`{a: .inf}`, Source{}, "not a number that JSON has"},
		{`""`, Source{}, refused},
		{`true`, Source{}, refused},
		{`1`, Source{}, refused},
		{`[a]`, Source{}, refused},
	}
	for _, tt := range tests {
		var got struct {
			V Source `yaml:"v"`
		}
		err := yaml.Load([]byte("v: "+tt.in), &got)
		if tt.wantErr == "" && err != nil || tt.wantErr != "" && (err == nil || !strings.Contains(err.Error(), tt.wantErr)) {
			t.Errorf("%s: error %v, want %q", tt.in, err, tt.wantErr)
		}
		if diff := cmp.Diff(tt.want, got.V); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.in, diff)
		}
		if got.V.IsZero() != (tt.want.File == "" && tt.want.Inline == nil) {
			t.Errorf("%s: IsZero is wrong", tt.in)
		}
	}
}
