// Package policycmd has the verbs that say what becomes of calls under a configuration's
// rules: explain, policy test with its cases and its replay, and token.
//
// All of them compile a configuration (compiled.go) as far as it judges calls, and ask
// internal/explain. None of them listens or makes a call on an agent, and only --ask, --online
// and the keys of issuers are reasons to connect to anybody:
//
//	explain      flags (explain.go, caller.go) → explain.Inquiry → explanation.go prints it
//	policy test  files with cases (cases.go) → explain.Inquiry each → difference.go → report.go
//	--replay     calls of an audit log → explain.Replay → replay.go prints it
//	guards       a text, or captured content of calls → explain.TryGuards, explain.GuardReplay
//	token        standard input (token.go) → authn → who it is (token_answer.go)
//
// The verbs keep to the exit codes of internal/cli/verb: 0 for yes, 1 for an answer that is no
// or not as wanted, 2 for a question that cannot be put.
package policycmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2a-gateway/a2a-gateway/authn/schemes"
	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/arguments"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/explain"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
)

const explainLong = `Show what the gateway would do with a call, and why. The explanation says whether the caller
may make the call, how each rule decided, and which skill the call is for. It lists the status
of every extension and the reason for it. Of the extensions that the call requests, it says
which reach the agent, which the caller sees, and which are refused or missing.

The command makes no call. It evaluates the configuration with the code of the running gateway.

--subject, --issuer, --group, --scope and similar flags describe the caller. Such a credential
need not exist. Without --subject, the caller has no credential, which only authn.anonymous
permits. You can omit --issuer if only one is configured.

--acr, --amr and --auth-time say how and when the user signed in. --claim adds other claims of
the credential. --actor acts for the caller. --client is the calling software, or --workload
if that software has its own credential. If the call lacks only step-up authentication or a
consent, it is denied, and the explanation shows what it needs.

The agent's card decides its skills and extensions. --card is the card, as a file or a URL.
--online fetches it from the place in the configuration. Without either, the card is unknown:
agents[].skills lists the skills, and the agent declares no extensions.

--skill is the skill in the path of the call. --message is the message of the call in the form
of A2A 1.0, or the params that contain it. Its metadata may name a skill too. Without
--message, conditions on messages are unknown: a deny rule then matches, and an allow rule
does not.

--task-skill is the recorded skill of the task that the call is about, and --task-owner is its
owner. Without either, the task belongs to the caller.

--binding, --version, --source and --at describe how, from where and when the call comes. The
explanation shows which limits apply, what they count and what they allow, but counts nothing.
It lists the authorizers of the call, and asks them only with --ask.

Exit 0 if the call is allowed, 1 if it is denied or refused, 2 if the question or the
configuration is wrong.`

const explainExamples = `  a2a-gateway explain -c config.yaml --agent billing --subject alice --group finance
  a2a-gateway explain -c config.yaml --agent billing --subject bob --group support \
      --skill refund --extension https://billing.example/extensions/cost-centre/v1 --online
  a2a-gateway explain -c config.yaml --agent billing --subject alice --method tasks/search \
      --card billing-card.json --output json
  a2a-gateway explain -c config.yaml --agent billing --subject alice --skill refund \
      --acr urn:example:mfa --amr mfa --auth-time 10m --claim email_verified=true
  a2a-gateway explain -c config.yaml --agent billing --subject alice --source 10.1.2.3 \
      --at 2026-12-24T18:00:00+01:00 --message '{"parts": [{"text": "refund order 12"}]}'`

// explainFlags are what explain is asked. Its parts are filled by the flags directly.
type explainFlags struct {
	callFlags

	// card is a file or a URL, message a file or JSON.
	extensions    []string
	message, card string
	task          verdict.Task
	taskOwner     string // SUBJECT, or SUBJECT@ISSUER
	online, ask   bool
}

// ExplainCommand is the command that internal/cli mounts.
//
// It exits 1 for a call that is denied or refused, so that a script can ask, and 2 where the
// question could not be put; verb.Failed and verb.Usage carry that.
func ExplainCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "explain",
		Short:   "Show what the gateway would do with a call, and why",
		Long:    explainLong,
		Example: explainExamples,
		Args:    arguments.None,
	}
	// The configuration is read when the verb runs, not when its flags are declared.
	path := verb.ConfigFlag(cmd)
	var q explainFlags
	f := cmd.Flags()
	q.callFlags.describe(cmd, "`method`, by its name in any version or in an extension")
	q.describe(f)
	output := f.StringP("output", "o", "text", "`format`: text or json")
	// Both say where the card is, and neither could win without surprise.
	cmd.MarkFlagsMutuallyExclusive("card", "online")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		e, err := q.explain(cmd.Context(), *path)
		if err != nil {
			return err
		}
		// The explanation is shown before the exit code is settled: a refusal is an answer too.
		if err := verb.Show(cmd.OutOrStdout(), *output, e, func(w io.Writer) { printExplanation(w, e) }); err != nil {
			return err
		}
		if e.Verdict != verdict.Allowed {
			return verb.Failed(fmt.Errorf("%s: %s", e.Verdict, e.Reason))
		}
		return nil
	}
	return cmd
}

// describe declares the flags that say what else the call has, and how it comes.
func (q *explainFlags) describe(f *pflag.FlagSet) {
	f.StringArrayVar(&q.extensions, "extension", nil, "`URI` of an extension that the call requests; repeatable")
	f.StringVar(&q.Binding, "binding", "", "`binding` of the call: JSONRPC (default), HTTP+JSON, GRPC or MCP")
	f.StringVar(&q.Version, "version", "", "`version` of A2A that the caller speaks (default 1.0)")
	f.StringVar(&q.Source, "source", "", "caller's IP `address`")
	f.StringVar(&q.At, "at", "", "`time` of the call, as in RFC 3339 (default now)")
	f.StringVar(&q.message, "message", "", "message of the call, or the params around it, as a `file` or as JSON")
	f.StringVar(&q.task.ID, "task", "", "`id` of the task that the call is about")
	f.StringVar(&q.task.Skill, "task-skill", "", "recorded `skill` of the task")
	f.StringVar(&q.taskOwner, "task-owner", "", "`subject` that owns the task, or subject@issuer (default the caller)")
	f.StringVar(&q.task.Tenant, "task-tenant", "", "`tenant` of the task's owner")
	f.StringVar(&q.card, "card", "", "agent's card, a `file` or a URL")
	f.BoolVar(&q.online, "online", false, "fetch the agent's card")
	f.BoolVar(&q.ask, "ask", false, "ask the authorizers of the call")
}

// explain puts the question to what the configuration is compiled to.
// The error is one of the question or the configuration, as verb.Usage.
func (q *explainFlags) explain(ctx context.Context, path string) (*verdict.Explanation, error) {
	c, err := compile(path)
	if err != nil {
		return nil, verb.Usage(err)
	}
	defer c.close()
	i, err := q.inquire(ctx, c)
	if err != nil {
		return nil, verb.Usage(err)
	}
	return c.Judge.Judge(ctx, i), nil
}

// inquire reads the flags, those about the caller first: the task's owner defaults to the caller.
func (q *explainFlags) inquire(ctx context.Context, c *compiled) (*explain.Inquiry, error) {
	i := &explain.Inquiry{Really: q.ask, Flags: true}
	if err := q.settle(c, i, c.Authn); err != nil {
		return nil, err
	}
	if err := i.Request(q.extensions); err != nil {
		return nil, fmt.Errorf("--extension: %w", err)
	}
	q.task.Owner, q.task.Issuer = splitOwner(q.taskOwner)
	// Without any flag about a task the call is judged as one whose task is not known.
	if q.task != (verdict.Task{}) {
		i.Recall(&q.task)
	}
	message, err := q.read()
	if err == nil {
		err = i.Bring(message)
	}
	if err != nil {
		return nil, fmt.Errorf("--message: %w", err)
	}
	i.Card, err = q.fetch(ctx, i.Agent.Config, c.egress)
	return i, err
}

// read gets the message from where the flag says, if anywhere.
// JSON is told from the name of a file by its first character. Nil for no message.
func (q *explainFlags) read() ([]byte, error) {
	switch text := strings.TrimSpace(q.message); {
	case text == "":
		return nil, nil
	case text[0] == '{':
		return []byte(text), nil
	}
	return os.ReadFile(q.message)
}

// splitOwner takes SUBJECT@ISSUER apart. Subjects may have an @ too; what is behind the
// last one is an issuer if it is one that callers can have.
func splitOwner(text string) (subject, issuer string) {
	// An issuer is a URL, or one of the fixed names.
	i := strings.LastIndexByte(text, '@')
	if i < 0 {
		return text, ""
	}
	if issuer = text[i+1:]; slices.Contains(schemes.Issuers(nil), issuer) || strings.Contains(issuer, "://") {
		return text[:i], issuer
	}
	return text, ""
}

// fetch gets the agent's card from where the flags say, if anywhere.
//
// With --online the agent is asked as the running gateway would ask it, with its credentials and
// through the proxy for egress. Nil where neither flag is given.
func (q *explainFlags) fetch(ctx context.Context, a *agents.Config, egress *tunnel.Proxy) (*card.Card, error) {
	switch {
	case q.online:
		up, err := upstream.New(a.Config, upstream.Options{Egress: egress})
		if err != nil {
			return nil, err
		}
		defer up.Close()
		return card.Fetch(ctx, up.Client(), a.Card.URL, 0)
	case q.card == "":
		return nil, nil //nolint:nilnil // no card is what was asked for
	case strings.Contains(q.card, "://"):
		// Not with the agent's credentials: this address may be anybody's.
		return card.Fetch(ctx, verb.Fetching(egress), secret.URL(q.card), 0)
	}
	raw, err := os.ReadFile(q.card)
	if err != nil {
		return nil, err
	}
	return card.Parse(raw)
}
