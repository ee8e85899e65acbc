package arguments

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
)

// FlagError says what is wrong with the value of a flag: the flag's name, and what it takes. pflag's own words
// quote those of the functions of Go that read it. Other errors of pflag are sentences as they are.
func FlagError(_ *cobra.Command, err error) error {
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return err
	}
	var number *strconv.NumError
	switch cause := bad.Unwrap(); {
	case !errors.As(cause, &number):
		return fmt.Errorf("--%s: %w", bad.GetFlag().Name, cause)
	case errors.Is(number.Err, strconv.ErrRange):
		return fmt.Errorf("--%s: the number %s is too large", bad.GetFlag().Name, verb.Cell(bad.GetValue()))
	case bad.GetFlag().Value.Type() == "bool":
		return fmt.Errorf("--%s: %q is neither true nor false", bad.GetFlag().Name, bad.GetValue())
	}
	return fmt.Errorf("--%s: %q is not a whole number", bad.GetFlag().Name, bad.GetValue())
}

// group matches cobra's errors for flags that belong together, and that exclude each other. It says no more of
// them in any other form.
var group = regexp.MustCompile(`^if any flags in the group \[[^\]]*\] are set (they must all be set; missing|none of the others can be;) \[([^\]]*)\]`)

// FlagsTogether checks which flags of a command are there: those it needs (MarkFlagRequired), and the groups it
// has (MarkFlagsMutuallyExclusive and the like). cobra checks the same just after it, in words of a library.
func FlagsTogether(cmd *cobra.Command, _ []string) error {
	var missing []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if required := f.Annotations[cobra.BashCompOneRequiredFlag]; len(required) > 0 && required[0] == "true" && !f.Changed {
			value, _ := pflag.UnquoteUsage(f)
			missing = append(missing, "--"+f.Name+" "+value)
		}
	})
	if len(missing) > 0 {
		return fmt.Errorf("%s needs %s", cmd.CommandPath(), strings.Join(missing, " and "))
	}
	err := cmd.ValidateFlagGroups()
	if err == nil {
		return nil
	}
	m := group.FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	flags := "--" + strings.Join(strings.Fields(m[2]), " and --")
	if strings.HasPrefix(m[1], "none") {
		return fmt.Errorf("%s: choose one", flags)
	}
	return fmt.Errorf("%s is missing: the other flags that were given need it", flags)
}
