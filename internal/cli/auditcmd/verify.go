package auditcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/arguments"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/progress"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
)

// verification is what `audit verify` is asked for: where the log is, whose signatures count, what
// is known of its end, and which days are looked at.
type verification struct {
	from      *auditSource
	jwks, key string
	head      string
	// as --from and --to have them; "" for the whole log
	first, last string // days
	noContent   bool
	output      string
}

// auditVerify is `audit verify`. It exits 0 for a log that is as it was written, 1 where anything
// was found, and 2 where it could not look: no log, a key that is none, a day that is none. A
// script may rely on that: 1 is an alarm, 2 is a mistake of the script.
//
// The report goes to standard output in either format, findings included; the one line on standard
// error says what kind they are of.
func auditVerify(from *auditSource) *cobra.Command {
	v := verification{from: from}
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Find changed, missing and moved records in the audit log",
		Long: "Find changed, missing and moved records in the audit log. Exit 1 if there are any.\n\n" +
			"The command verifies signatures with the keys from --jwks or --key. Without either, it uses the keys\n" +
			"in the log itself. These reveal damage, but not a forger who signed the log again. Records since the\n" +
			"last checkpoint are not signed yet; this is normal while the gateway writes. Captured content must\n" +
			"exist unless it was erased. With -c and the gateway's keys, the command compares the content with\n" +
			"the digests in the records.",
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return v.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&v.jwks, "jwks", "", "`file or URL` of the gateway's JWK set, /.well-known/jwks.json")
	verb.AddProxy(f)
	f.StringVar(&v.key, "key", "", "PEM `file` with the key that signed last, private or public")
	f.StringVar(&v.head, "head", "", "`file` with the last known checkpoint, a copy of audit.head (default: audit.head in the directory; \""+audit.NoHead+"\": do not check the end)")
	f.StringVar(&v.first, "from", "", "first `day`, such as 2026-11-21")
	f.StringVar(&v.last, "to", "", "last `day`")
	f.BoolVar(&v.noContent, "no-content", false, "do not check captured content, for a copy of the records alone")
	f.StringVarP(&v.output, "output", "o", "text", "`format`: text or json")
	progress.Flag(cmd)
	return cmd
}

// run looks at the log and prints the report. The flags are all checked before the first record is
// read, as reading a large log takes minutes.
func (v *verification) run(cmd *cobra.Command) error {
	source, err := v.from.open()
	if err != nil {
		return err
	}
	// What the report is compared with: the last checkpoint that is known, the days, and whose
	// keys count.
	check := audit.Check{Head: v.head, NoContent: v.noContent}
	if check.From, err = dayFlag("from", v.first); err != nil {
		return err
	}
	if check.To, err = dayFlag("to", v.last); err != nil {
		return err
	}
	if !check.To.IsZero() && check.To.Before(check.From) {
		return verb.Usage(fmt.Errorf("--from %s --to %s: it ends before it begins", v.first, v.last))
	}
	if check.Keys, err = v.keys(cmd); err != nil {
		return verb.Usage(err)
	}
	// After the keys, since a configuration with keys of its own makes none of those flags
	// unnecessary: the sealing keys are others than those that sign.
	done, err := v.configured(cmd.ErrOrStderr(), source, &check)
	if err != nil {
		return err
	}
	defer done()
	told := progress.New(cmd, "lines verified")
	check.Progress = told.At
	report, err := audit.Verify(cmd.Context(), source, check)
	told.End()
	if err != nil {
		return verb.Usage(err)
	}
	// The report is shown before it decides about the exit code: an alarm without its findings is
	// no use.
	if err := verb.Show(cmd.OutOrStdout(), v.output, report, func(w io.Writer) { printReport(w, report) }); err != nil {
		return err
	}
	return found(report)
}

// configured takes from a configuration what it says of the log: how often a checkpoint is
// due, and the keys that content is sealed with, where there is any. Who may read the log
// need not have the keys.
func (v *verification) configured(w io.Writer, source reader.Source, check *audit.Check) (done func(), err error) {
	done = func() {}
	if v.from.config == "" {
		return done, nil
	}
	cfg, err := config.Load(v.from.config)
	if err != nil {
		return done, verb.Usage(err)
	}
	check.Interval = cfg.Telemetry.Audit.Checkpoint.Interval.Std()
	if v.noContent || !source.Held(nil).Any() {
		return done, nil
	}
	// An auditor has the log and not the keys. What can be said without them is then said: that
	// items are there, and not whether they are what was kept.
	ring, err := sealingKeys(cfg)
	if err != nil {
		_, _ = fmt.Fprintf(w, "captured content is not compared with its digests: %s\n", verb.Printable(err.Error()))
		return done, nil
	}
	check.Sealer = ring
	return ring.Close, nil
}

// found is the error that ends the command with exit code 1, nil without findings. It tells three
// cases apart, because they call for different people: a log that was changed, one whose
// signatures prove nothing (no finding but audit.Unsigned), and records that are sound while
// captured content is not.
func found(r *audit.Report) error {
	n := len(r.Findings)
	if n == 0 {
		return nil
	}
	what := "the log is not what was written"
	switch all := func(kinds ...string) bool {
		return !slices.ContainsFunc(r.Findings, func(f audit.Finding) bool { return !slices.Contains(kinds, f.Kind) })
	}; {
	case all(audit.Unsigned):
		what = "nothing proves that the log is what was written"
	case all(audit.MissingContent, audit.ChangedContent):
		what = "the records are what was written, the captured content is not"
	}
	return verb.Failed(fmt.Errorf("%s: %s", what, plural(n, "finding")))
}

// dayFlag reads --from or --to, a day in UTC as segments are named by, and the zero time of "".
func dayFlag(name, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return day, verb.Usage(fmt.Errorf("--%s: %q is no day; write it as 2026-11-21", name, text))
	}
	return day, nil
}

// keys are those whose signatures count, as a JWK set (RFC 7517 §5); nil when none were given, and
// the keys beside the signatures are used, of which anybody could have made new ones. --key takes
// a PEM file, of which the public half is enough. A URL is fetched without credentials, by the
// proxy that --proxy names; the gateway serves its keys on /.well-known/jwks.json.
func (v *verification) keys(cmd *cobra.Command) ([]byte, error) {
	switch {
	// Two sets of keys would leave open which of them a finding is about.
	case v.jwks != "" && v.key != "":
		return nil, errors.New("--jwks and --key: choose one")
	case v.key != "":
		data, err := os.ReadFile(v.key)
		if err != nil {
			return nil, fmt.Errorf("--key: %w", err)
		}
		set, err := audit.KeySet(data)
		if err != nil {
			return nil, fmt.Errorf("--key: %s: %w", v.key, err)
		}
		return set, nil
	case strings.HasPrefix(v.jwks, "https://"), strings.HasPrefix(v.jwks, "http://"):
		egress, err := verb.EgressOf(cmd)
		if err != nil {
			return nil, err
		}
		data, err := fetch(cmd.Context(), egress, v.jwks)
		if err != nil {
			return nil, fmt.Errorf("--jwks: %w", err)
		}
		return data, nil
	case v.jwks != "":
		data, err := os.ReadFile(v.jwks)
		if err != nil {
			return nil, fmt.Errorf("--jwks: %w", err)
		}
		return data, nil
	}
	return nil, nil
}

// maxJWKS, in bytes, is beyond any set of keys: a key takes less than 1 KiB.
const maxJWKS = 1 << 20

// fetch reads a small document by GET within 10 s. What is longer than maxJWKS is cut off, and is
// then no JSON.
func fetch(ctx context.Context, egress *tunnel.Proxy, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := verb.Fetching(egress).Do(req)
	if err != nil {
		return nil, err
	}
	// A server that goes on sending after maxJWKS is not waited for.
	defer resp.Body.Close() // what is left of it is of no interest
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, resp.Status)
	}
	return io.ReadAll(io.LimitReader(resp.Body, maxJWKS))
}

// printReport says the report to a person: each finding first, as that is what was asked for, then
// what was read, and then what the log could not prove.
//
// An example of a log that is sound:
//
//	1204 records in 3 files, numbers 1 to 1204
//	signed up to record 1200, at 2026-11-27T09:00:00Z; 4 records since are not signed yet: …
//	the signatures fit the keys beside them; give --jwks or --key to know whose they are: 3tqH…
func printReport(w io.Writer, r *audit.Report) {
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	for _, f := range r.Findings {
		p("%s", f)
	}
	if r.Empty {
		p("there are no records of these days")
		printUncounted(p, r)
		printHead(p, r)
		return
	}
	p("%s in %s, numbers %d to %d", plural(r.Records, "record"), plural(r.Segments, "file"), r.From, r.To)
	printUncounted(p, r)
	if r.Unchained > 0 {
		p("%s of an older version have no hashes: nothing is known of them", plural(r.Unchained, "record"))
	}
	printSigned(p, r)
	if !r.Trusted && r.Signed > 0 {
		p("the signatures fit the keys beside them; give --jwks or --key to know whose they are: %s", strings.Join(r.Keys, ", "))
	}
	printHead(p, r)
	if c := r.Content; c != nil {
		printContents(p, c)
	}
}

// printUncounted says which records are not there, without a finding about it.
func printUncounted(p func(string, ...any), r *audit.Report) {
	if r.Removed > 0 {
		p("records up to %d were removed by retention", r.Removed)
	}
	for _, file := range r.Torn {
		p("%s ends in a torn line, as after a crash", file)
	}
}

// printHead says that nothing was known of the end of the log.
func printHead(p func(string, ...any), r *audit.Report) {
	if r.Head == 0 && !r.Young {
		p("no checkpoint was known before: what is missing at the end could not be found")
	}
}

// printSigned says how far the log is signed. The time since the last checkpoint is not a finding
// (telemetry.audit.checkpoint.interval): whoever writes the files in that time could replace what
// is in them, which a reader has to know to judge the rest.
func printSigned(p func(string, ...any), r *audit.Report) {
	switch {
	case r.Young:
		p("nothing is signed yet: the log has just begun, and the first checkpoint is still to come; until then whoever writes the files could replace the records")
	case r.Signed == 0:
		p("nothing is signed")
	case r.Unsigned == 0:
		p("signed to the end, at %s", r.SignedAt)
	default:
		p("signed up to record %d, at %s; %s since are not signed yet: the next checkpoint covers them, until then whoever writes the files could replace them", r.Signed, r.SignedAt, plural(r.Unsigned, "record"))
	}
}

// printContents says what became of captured content, a line for each state that any item is in.
// The last two lines of the table are findings; the others are how content is meant to end.
func printContents(p func(string, ...any), c *audit.Contents) {
	if c.Records > 0 {
		p("content was captured of %s:", plural(c.Records, "call"))
	}
	for _, line := range []struct {
		n    int
		what string
	}{
		{c.Verified, "there, and what the records say"},
		{c.Unread, "there; give -c and the gateway's keys to compare them with the records"},
		{c.Erased, "erased on request"},
		{c.Expired, "erased by retention"},
		{c.Lost, "never kept, as the records say"},
		{c.Changed, "not what was kept"},
		{c.Missing, "not there, and nobody erased them"},
	} {
		if line.n > 0 {
			p("  %d %s", line.n, line.what)
		}
	}
	if c.Erasures > 0 {
		p("content was erased on request %s", times(c.Erasures))
	}
	if c.Pending > 0 {
		p("%s of these by the files alone: the gateway records it when it starts", times(c.Pending))
	}
}

// times is how often something happened, in words.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// plural counts something: "1 call", "3 calls".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
