// Package callcmd is `a2a-gateway call`: a client of A2A for people, who want to know in one line
// whether an agent answers, through the gateway or without it.
//
// It reads the agent's card, picks an interface, sends one message and shows what comes, event by
// event. It speaks one dialect itself, A2A 1.0 over JSON-RPC; internal/wire/translate says it as
// the interface wants it, over every binding and version that the gateway itself speaks:
//
//	target      where the agent is: at a gateway, or at a URL of its own
//	place       which URL that is, by flags, environment and configuration
//	credential  what the caller shows, and to which origin alone
//	words       what is said, as SendMessage of 1.0 has it
//	client      one call: the request, and its answer or its events as results of 1.0
//	narrator    what a terminal is shown of them
//	refusal     errors in words, with what to do about them
//
// What the agent says goes to standard output: messages, artifacts, and the words of the state in
// which the task rests. States on the way go to standard error, so that a pipe gets the answer
// alone.
package callcmd

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/arguments"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// asked is a call as the command line describes it.
type asked struct {
	place      place
	credential given
	words      words

	version, binding string // "" for what the card prefers
	stream, unary    bool
	timeout          quantity.Duration
}

// defaultTimeout is how long a call may take: longer than a person looks at a silent terminal.
const defaultTimeout = 10 * time.Minute

// Command is `a2a-gateway call`, which internal/cli mounts.
func Command() *cobra.Command {
	var a asked
	cmd := &cobra.Command{
		Use:   "call AGENT|URL [TEXT]",
		Short: "Send a message to an agent, and show its answer",
		Long: "Send a message to an agent and show its answer as it comes. Name the agent by its id at a gateway, by\n" +
			"its URL or by the URL of its card. TEXT is the message; - reads it from the standard input.\n\n" +
			"The gateway is --gateway, else $A2A_GATEWAY_URL, else the one in the configuration, else\n" +
			"http://localhost:8080. Authenticate with an API key in $A2A_GATEWAY_KEY or --key-file, or with a\n" +
			"token in $A2A_GATEWAY_TOKEN or --token-file. Secrets in flags are visible in the list of processes.\n" +
			"The command sends a credential only to the origin that you named.\n\n" +
			"The agent's answer goes to standard output, and task states go to standard error. Exit 0 if the task\n" +
			"completes or the agent answers without a task. Exit 1 if the call is refused or fails, or if the task\n" +
			"waits for another message; send that message with --task.",
		Example: "  a2a-gateway call billing 'summarize March'\n" +
			"  A2A_GATEWAY_KEY=$(cat me.key) a2a-gateway call billing hello --gateway https://agents.example.com\n" +
			"  a2a-gateway call http://localhost:9001 hello --json",
		Args: arguments.Count(1, 2),
	}
	a.flags(cmd)
	output := verb.OutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		format, err := output()
		if err != nil {
			return err
		}
		a.place.named, a.place.configured = args[0], cmd.Flags().Changed("config")
		if len(args) > 1 {
			a.words.text = args[1]
		}
		return a.run(cmd, &narrator{out: cmd.OutOrStdout(), err: cmd.ErrOrStderr(), json: format == "json"})
	}
	return cmd
}

// flags are those of where, who, what and how.
func (a *asked) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	a.place.flags(f)
	a.credential.flags(f)
	a.words.flags(f)
	f.StringVar(&a.version, "version", "", "`version` of A2A to speak: 1.0, 0.3 or 0.1; default: the newest in the card")
	f.StringVar(&a.binding, "binding", "", "`binding` to speak: JSONRPC, HTTP+JSON or GRPC")
	f.BoolVar(&a.stream, "stream", false, "request a stream of events, even if the card declares none")
	f.BoolVar(&a.unary, "no-stream", false, "request a single answer")
	verb.DurationVar(f, &a.timeout, "timeout", defaultTimeout, "how `long` the call may take")
	cmd.MarkFlagsMutuallyExclusive("stream", "no-stream")
	cmd.MarkFlagsMutuallyExclusive("as", "key-file", "token", "token-file")
	cmd.MarkFlagsMutuallyExclusive("gateway", "config")
}

// run makes the call. All that can be wrong with the command line is found before anybody is
// asked.
func (a *asked) run(cmd *cobra.Command, show *narrator) error {
	side, err := a.side()
	if err != nil {
		return verb.Usage(err)
	}
	if err := a.words.read(cmd.InOrStdin()); err != nil {
		return verb.Usage(err)
	}
	shown, err := a.credential.read(cmd.InOrStdin())
	if err != nil {
		return verb.Usage(err)
	}
	ctx, cancel := context.WithTimeoutCause(cmd.Context(), a.timeout.Std(), errLate)
	defer cancel()
	to, err := a.place.find(ctx, shown, a.words.skill)
	if err != nil {
		return err
	}
	c, err := to.client(side, a.words.extensions)
	if err != nil {
		return err
	}
	show.agent = a.place.named
	// Where the agent is told of the skill by the path, the message need not say it again.
	params := a.words.params(to.path)
	if err := c.call(ctx, send(a.stream || to.card.Streaming && !a.unary), params, show.result); err != nil {
		return late(ctx, to.refused(ctx, err))
	}
	return late(ctx, a.settle(ctx, c, show))
}

// errLate is the end of --timeout.
var errLate = errors.New("it has taken longer than --timeout")

// late is err, or errLate where that is what it comes of.
func late(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errLate) {
		return verb.Failed(errLate)
	}
	return err
}

// poll is how often a task is asked about that an agent goes on with after its answer.
const poll = time.Second

// settle waits for the task of an agent that answered before it was done, and says how it ended.
// Whoever types a message waits for the answer to it, not for a promise of one.
func (a *asked) settle(ctx context.Context, c *client, show *narrator) error {
	for show.unsettled() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(poll):
		}
		if err := c.call(ctx, look, taskParams(show.task), show.looked); err != nil {
			return verb.Failed(err)
		}
	}
	return show.end()
}
