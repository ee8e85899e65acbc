package verb

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"
)

// OutputFlag adds -o/--output and its short form --json, and gives the function that says which
// format was chosen: one of Formats, or an error with exit code 2. It is asked before anything is
// done, so that a wrong word costs no call.
func OutputFlag(cmd *cobra.Command) func() (string, error) {
	output := cmd.Flags().StringP("output", "o", "text", "`format`: text or json")
	short := cmd.Flags().Bool("json", false, "short for --output json")
	return func() (string, error) {
		switch {
		case *short && cmd.Flags().Changed("output") && *output != "json":
			return "", Usage(errors.New("--json and --output: choose one"))
		case *short:
			return "json", nil
		case !slices.Contains(Formats, *output):
			return "", Usage(ErrOutput)
		}
		return *output, nil
	}
}
