package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/internal/feature"
)

// Lines of what is printed without a verb. Each can be pasted as it is, but for the URL.
const (
	beginHead = `a2a-gateway: a reverse proxy that governs fleets of A2A agents

`
	beginDemo = `  try it with sample agents
    a2a-gateway demo

`
	beginRest = `  put it before an agent of yours, and run it
    a2a-gateway init http://localhost:9001 && a2a-gateway serve -c config.yaml

  call an agent through it, with a key that is made here
    A2A_GATEWAY_KEY=$(a2a-gateway keys create --file keys.yaml --id me) a2a-gateway call AGENT hello

  see why calls are refused, as it happens
    a2a-gateway audit tail -c config.yaml --why --follow

  see what is wrong with it
    a2a-gateway doctor -c config.yaml

All verbs: a2a-gateway help; one of them: a2a-gateway help call
`
)

// begin prints what people do first. A list of twenty verbs is of use to those who know which one
// they want, and a2a-gateway help has it.
func begin(cmd *cobra.Command, _ []string) error {
	text := beginHead
	if feature.Need(feature.Demo) == nil {
		text += beginDemo
	}
	_, err := fmt.Fprint(cmd.OutOrStdout(), text+beginRest)
	return err
}
