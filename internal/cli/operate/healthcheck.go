package operate

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/arguments"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
)

// HealthcheckCommand is `a2a-gateway healthcheck`, for container images without a shell or curl:
// the image's HEALTHCHECK runs it. It asks /readyz of the status listener once and waits 5 s. Exit
// 0 for status 200, else 1, with the reason on standard error; nothing goes to standard output. No
// proxy of the environment is asked, as the gateway is in the same container. A gateway that
// drains is not ready.
func HealthcheckCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "healthcheck",
		Short: "Check whether a running gateway is ready; exit 0 if it is",
		Args:  arguments.None,
	}
	url := cmd.Flags().String("url", "http://127.0.0.1:9902/readyz", "readiness `URL`")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx, cancel := context.WithTimeout(cmd.Context(), 5*time.Second)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, *url, nil)
		if err != nil {
			return verb.Usage(err)
		}
		// A transport of its own has no Proxy, other than http.DefaultTransport.
		client := &http.Client{Transport: &http.Transport{}}
		resp, err := client.Do(req)
		if err != nil {
			return verb.Failed(err)
		}
		defer resp.Body.Close() // only the status counts
		if resp.StatusCode != http.StatusOK {
			return verb.Failed(fmt.Errorf("not ready: %s", resp.Status))
		}
		return nil
	}
	return cmd
}
