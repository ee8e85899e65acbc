package arguments

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// TestFlagErrors: what is wrong with flags and arguments is said with their names, and in no words of a library.
func TestFlagErrors(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"a", "--agent", "x"}, ""},
		{[]string{"a"}, "probe needs --agent id"},
		{nil, "an argument is missing: probe A B"},
		{[]string{"a", "b", "c", "--agent", "x"}, "c is one argument too many: probe A B"},
		{[]string{"a", "--agent", "x", "-n", "x"}, `--limit: "x" is not a whole number`},
		{[]string{"a", "--agent", "x", "-n", "99999999999999999999"}, `--limit: the number 99999999999999999999 is too large`},
		{[]string{"a", "--agent", "x", "--quick=maybe"}, `--quick: "maybe" is neither true nor false`},
		{[]string{"a", "--agent", "x", "--ttl", "30"}, `--ttl: read duration "30": the unit is missing, for seconds write "30s"`},
		{[]string{"a", "--agent", "x", "--as", "x", "--token", "y"}, "--as and --token: choose one"},
		{[]string{"a", "--agent", "x", "--oidc", "x"}, "--audience is missing: the other flags that were given need it"},
		{[]string{"a", "--agnt", "x"}, "unknown flag: --agnt"},
		{[]string{"a", "--agent"}, "flag needs an argument: --agent"},
	} {
		cmd := &cobra.Command{Use: "probe A B", Args: Count(1, 2), SilenceErrors: true, SilenceUsage: true, PersistentPreRunE: FlagsTogether,
			RunE: func(*cobra.Command, []string) error { return nil }}
		cmd.SetFlagErrorFunc(FlagError)
		f := cmd.Flags()
		for _, name := range []string{"as", "token", "oidc", "audience"} {
			f.String(name, "", "")
		}
		f.String("agent", "", "`id` of the agent")
		f.IntP("limit", "n", 0, "")
		f.Bool("quick", false, "")
		verb.DurationVar(f, new(quantity.Duration), "ttl", 0, "")
		if err := cmd.MarkFlagRequired("agent"); err != nil {
			t.Fatal(err)
		}
		cmd.MarkFlagsMutuallyExclusive("as", "token")
		cmd.MarkFlagsRequiredTogether("oidc", "audience")
		cmd.SetArgs(append([]string{}, tc.args...))
		got := ""
		if err := cmd.Execute(); err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%q: %q, want %q", tc.args, got, tc.want)
		}
	}
}
