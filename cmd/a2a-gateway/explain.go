package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

const explainLong = `Say what the gateway would do with a call, and why: may this caller make it, which
rules were asked and what each of them said, which skill the call is for, what every
extension is in the call and who made it so, and, of the extensions that the call asks
for, which reach the agent, which the caller sees, and which are refused or missing.

No call is made. The configuration is compiled, and the questions are put to the same
code that a running gateway asks.

The caller is who --subject, --issuer, --group, --scope and their like describe, whether
or not such a credential exists; without --subject it is a caller without a credential,
where authn.anonymous lets those in. --issuer may be left out where only one is
configured.

How and when the user signed in is what --acr, --amr and --auth-time say, and --claim
adds what else the credential does. Who acts for the caller is an --actor, the software
that calls --client, or --workload where it has a credential of its own. A call that
only lacks another sign-in or a consent is denied, and what it needs is shown.

What only the agent's card can say, its skills and the extensions it declares, is taken
from --card, a file or a URL, or, with --online, from where the configuration says the
card is. Without either, the card counts as unknown: skills are those that
agents[].skills lists, and no extension is declared by the agent.

--skill is the skill that the call names, by its path or its metadata. For a call about
a task it stands for the skill that is recorded for the task; that the task is the
caller's own is taken for granted.

Exit 0 when the call is allowed, 1 when it is denied or refused, 2 when the question or
the configuration is wrong.`

const explainExamples = `  a2a-gateway explain -c config.yaml --agent billing --subject alice --group finance
  a2a-gateway explain -c config.yaml --agent billing --subject bob --group support \
      --skill refund --extension https://billing.example/extensions/cost-centre/v1 --online
  a2a-gateway explain -c config.yaml --agent billing --subject alice --method tasks/search \
      --card billing-card.json --output json
  a2a-gateway explain -c config.yaml --agent billing --subject alice --skill refund \
      --acr urn:example:mfa --amr mfa --auth-time 10m --claim email_verified=true`

// inquiry is what the flags of explain ask.
type inquiry struct {
	agent, method, skill string
	caller               authn.Principal
	said                 said
	now                  time.Time
	extensions           []string
	card                 string
	online               bool
}

func explainCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "explain",
		Short:   "Say what would become of a call, and why",
		Long:    explainLong,
		Example: explainExamples,
		Args:    cobra.NoArgs,
	}
	path := configFlag(cmd)
	var q inquiry
	f := cmd.Flags()
	f.StringVar(&q.agent, "agent", "", "`id` of the agent")
	q.describe(f)
	f.StringVar(&q.skill, "skill", "", "`skill` that the call names")
	f.StringVar(&q.method, "method", wire.SendMessage, "`method`, as any version or an extension calls it")
	f.StringArrayVar(&q.extensions, "extension", nil, "`URI` of an extension that the call asks for; repeatable")
	f.StringVar(&q.card, "card", "", "agent's card, a `file` or a URL")
	f.BoolVar(&q.online, "online", false, "fetch the agent's card")
	output := f.StringP("output", "o", "text", "`format`: text or json")
	cmd.MarkFlagsMutuallyExclusive("card", "online")
	if err := cmd.MarkFlagRequired("agent"); err != nil {
		panic(err) //nolint:forbidigo // the flag is defined above
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		e, err := q.explain(cmd.Context(), *path)
		if err != nil {
			return err
		}
		if err := show(cmd.OutOrStdout(), *output, e, func(w io.Writer) { e.print(w) }); err != nil {
			return err
		}
		if e.Verdict != allowed {
			return failed(fmt.Errorf("%s: %s", e.Verdict, e.Reason))
		}
		return nil
	}
	return cmd
}

// explain puts the question to what the configuration is compiled to.
func (q *inquiry) explain(ctx context.Context, path string) (*explanation, error) {
	cfg, err := config.Load(path)
	if err != nil {
		return nil, usage(err)
	}
	i := slices.Index(cfg.AgentIDs(), q.agent)
	if i < 0 {
		return nil, usage(fmt.Errorf("--agent: %q is none of %s", q.agent, strings.Join(cfg.AgentIDs(), ", ")))
	}
	q.now = time.Now()
	if err := q.identify(&cfg.Authn); err != nil {
		return nil, usage(err)
	}
	asked := ext.Set{}
	for _, uri := range q.extensions {
		if err := ext.CheckURI(uri); err != nil {
			return nil, usage(fmt.Errorf("--extension: %w", err))
		}
		if !asked.Has(uri) {
			asked = append(asked, uri)
		}
	}
	j, err := newJudgement(ctx, cfg, &cfg.Agents[i], q)
	if err != nil {
		return nil, err
	}
	defer j.book.Close()
	return j.explain(q, asked), nil
}

// methodNamed finds an operation by the name that any version, or an extension, has
// for it.
func methodNamed(name string, extra []*wire.Method) (*wire.Method, error) {
	table := wire.Methods()
	for i := range table {
		if m := &table[i]; slices.Contains([]string{m.Name, m.V03, m.V01, m.GRPC03}, name) && name != "" {
			return m, nil
		}
	}
	for _, m := range extra {
		if m.Name == name {
			return m, nil
		}
	}
	return nil, fmt.Errorf("--method: neither A2A nor an extension of the registry has %q", name)
}
