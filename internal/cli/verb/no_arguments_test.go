package verb

import (
	"testing"

	"github.com/spf13/cobra"
)

func TestNoArguments(t *testing.T) {
	t.Parallel()
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
	} {
		got := ""
		if err := NoArguments(tc.cmd, tc.args); err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%v: %q, want %q", tc.args, got, tc.want)
		}
	}
}
