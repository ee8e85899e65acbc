package democmd

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/arguments"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/demo"
)

// part is one of the parts of the demonstration, running. Close waits for calls that are open
// until its context ends.
type part interface{ Close(context.Context) error }

// demoParts are verbs that run one part each, for gateways and containers of somebody's own: the
// compose file in deploy/ and the tutorials use them. Their default addresses are the ones that
// the example configurations name.
func demoParts() []*cobra.Command {
	// Step is the pause between two events of a stream, as in the demonstration.
	agent := func(start func(demo.Options) (*demo.Agent, error)) func(address, url string) (part, string, error) {
		return func(address, url string) (part, string, error) {
			a, err := start(demo.Options{Address: address, URL: url, Step: 400 * time.Millisecond})
			if err != nil {
				return nil, "", err
			}
			return a, "its card is at " + a.CardURL, nil
		}
	}
	// The issuer speaks plain HTTP, as both agents do: TLS is for the gateway in front.
	issuer := func(address, url string) (part, string, error) {
		// Whoever names another address than the default, which is loopback, wants it.
		i, err := demo.NewIssuer(demo.IssuerOptions{Address: address, URL: url, AllowRemote: true})
		if err != nil {
			return nil, "", err
		}
		return i, "the issuer is " + i.URL + "; its secrets are known to everybody", nil
	}
	return []*cobra.Command{
		demoPart("billing", "Run the sample agent for A2A 1.0", "127.0.0.1:9001", agent(demo.Agent10)),
		demoPart("weather", "Run the sample agent for A2A 0.3", "127.0.0.1:9002", agent(demo.Agent03)),
		demoPart("issuer", "Run the development issuer, whose secrets are public", "127.0.0.1:9000", issuer),
	}
}

// demoPart is the verb of one part. It prints where the part is once it listens, which scripts and
// compose files wait for, and runs until SIGTERM or SIGINT, which close it within 5 s. --url is
// for parts that others reach by another name than the address, as in a network of containers:
// cards and tokens have it in them.
func demoPart(name, short, address string, start func(address, url string) (part, string, error)) *cobra.Command {
	cmd := &cobra.Command{Use: name, Short: short, Args: arguments.None}
	at := cmd.Flags().String("address", address, "`address` to listen on; port 0 picks a free one")
	url := cmd.Flags().String("url", "", "`URL` under which others reach it; default: the address")
	cmd.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM, syscall.SIGINT)
		defer stop()
		// The slash at the end of a URL would be doubled in cards.
		p, said, err := start(*at, strings.TrimSuffix(*url, "/"))
		if err != nil {
			return verb.Failed(err)
		}
		defer func() {
			drain, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			err = errors.Join(err, p.Close(drain))
		}()
		if _, err := fmt.Fprintln(cmd.OutOrStdout(), name+":", said); err != nil {
			return verb.Failed(err)
		}
		// The deferred function then closes the part, and calls that are open have 5 s.
		<-ctx.Done()
		return nil
	}
	return cmd
}
