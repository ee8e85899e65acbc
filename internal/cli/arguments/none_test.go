package arguments

import (
	"testing"

	"github.com/spf13/cobra"
)

func TestNoArguments(t *testing.T) {
	t.Parallel()
	explain, content := &cobra.Command{Use: "explain"}, &cobra.Command{Use: "content"}
	explain.Flags().String("agent", "", "")
	explain.Flags().String("config", "", "")
	content.Flags().String("id", "", "")
	content.Flags().String("dir", "", "")
	content.Flags().String("config", "", "")
	plain, verify := &cobra.Command{Use: "version"}, &cobra.Command{Use: "verify"}
	verify.Flags().String("dir", "", "")
	for _, tc := range []struct {
		cmd  *cobra.Command
		args []string
		want string
	}{
		{plain, nil, ""},
		{plain, []string{"now"}, "version takes no arguments, and now is one"},
		{verify, []string{"data/audit"}, "verify takes flags and no arguments: was data/audit meant as --dir data/audit?"},
		{explain, []string{"billing"}, "explain takes flags and no arguments: was billing meant as --agent billing?"},
		{explain, []string{"a.yaml"}, "explain takes flags and no arguments: was a.yaml meant as --config a.yaml?"},
		{content, []string{"41"}, "content takes flags and no arguments: was 41 meant as --id 41?"},
		{content, []string{"data/audit"}, "content takes flags and no arguments: was data/audit meant as --dir data/audit?"},
		{content, []string{"config.yml"}, "content takes flags and no arguments: was config.yml meant as --config config.yml?"},
	} {
		got := ""
		if err := None(tc.cmd, tc.args); err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%v: %q, want %q", tc.args, got, tc.want)
		}
	}
}
