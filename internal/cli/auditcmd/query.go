package auditcmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2a-gateway/a2a-gateway/audit/index"
	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/arguments"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/progress"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/refusal"
)

// filter is the flags of query and export that say which records are meant. A record has to be all
// of what they say. The two times are kept as text until the flags are parsed: how long ago counts
// from one moment for both.
type filter struct {
	query        index.Query
	since, until string
}

func (w *filter) flags(f *pflag.FlagSet) {
	f.StringVar(&w.query.Principal, "caller", "", "caller with this `subject`")
	f.StringVar(&w.query.Agent, "agent", "", "calls to this `agent`")
	f.StringVar(&w.query.Skill, "skill", "", "calls decided for this `skill`")
	f.StringVar(&w.query.Task, "task", "", "calls about this `task`")
	f.StringVar(&w.query.Context, "context", "", "calls about this `context`")
	f.StringVar(&w.query.Method, "method", "", "calls of this `method`, by any name that it has had")
	f.StringVar(&w.query.Event, "event", "", "events of this `kind`, such as push.delivery")
	f.StringVar(&w.query.Decision, "decision", "", "`decision`: allow, deny or error")
	f.StringVar(&w.query.Reason, "reason", "", "calls that failed for this `reason`, such as RATE_LIMITED")
	f.StringVar(&w.query.Issuer, "issuer", "", "callers with a credential from this `issuer`")
	f.StringVar(&w.query.Rule, "rule", "", "calls decided by this `rule`, or refused by this limit")
	f.StringVar(&w.query.Approval, "approval", "", "calls that waited for this `approval`, or went with it, and decisions about it")
	f.StringVar(&w.query.Guard, "guard", "", "calls in which this `guard` found something; * for any")
	f.StringVar(&w.query.Finding, "finding", "", "calls in which a guard found this `kind`, such as iban; with --guard, that guard")
	f.StringVar(&w.query.Stage, "stage", "", "calls refused by this `stage` of the request path: "+strings.Join(refusal.Stages(), ", "))
	f.StringVar(&w.query.Type, "type", "", "`type`: intent, call or event; the default is calls and events")
	f.StringVar(&w.since, "since", "", "records since this `time`, as in RFC 3339 or as an age (24h)")
	f.StringVar(&w.until, "until", "", "records before this `time`")
}

// asked is the query that the flags make, with --since and --until as points in time. What the
// index could not look for, such as an unknown decision, is wrong usage and not an empty result: a
// slip of the pen must not read as "nothing happened".
func (w *filter) asked(now time.Time) (index.Query, error) {
	q := w.query
	var err error
	if q.From, err = momentOf(w.since, now); err != nil {
		return q, verb.Usage(fmt.Errorf("--since: %w", err))
	}
	if q.Until, err = momentOf(w.until, now); err != nil {
		return q, verb.Usage(fmt.Errorf("--until: %w", err))
	}
	if err := q.Check(); err != nil {
		return q, verb.Usage(err)
	}
	return q, nil
}

// momentOf reads a time as RFC 3339 has it, or a duration of Go (24h, 90m) as how long before now;
// the zero time of "". A negative duration would be in the future, and is no time either.
func momentOf(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return t, fmt.Errorf("%q is neither a time as 2026-11-21T15:04:05Z nor how long ago as 24h", text)
	}
	return t, nil
}

// auditQuery is `audit query`. It prints the newest records first, at most --limit of them, as a
// line of text each, or byte for byte with --output json. The exit code is 0 also where nothing
// was found. --no-index and a directory that is read-only take longer and have the same result.
func auditQuery(from *auditSource) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "query",
		Short: "Find records by caller, agent, skill, task, decision or time",
		Long: "Find the newest records that match all flags. The command first updates an index beside the segments,\n" +
			"and then searches the index. The index holds no names. If the command cannot write the index, it reads\n" +
			"the whole log.",
		Args: arguments.None,
	}
	var w filter
	f := cmd.Flags()
	progress.Flag(cmd)
	w.flags(f)
	f.IntVarP(&w.query.Limit, "limit", "n", 100, "largest `number` of records; 0 for all")
	f.BoolVar(&w.query.Oldest, "oldest", false, "the oldest records instead of the newest")
	scan := f.Bool("no-index", false, "read the whole log instead of the index")
	output := f.StringP("output", "o", "text", "`format`: text, or json for records as the gateway wrote them")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *output != "text" && *output != "json" {
			return verb.Usage(fmt.Errorf("--output: %q is neither text nor json", *output))
		}
		// 0 is all; a negative number would be all too, by accident.
		if w.query.Limit < 0 {
			return verb.Usage(errors.New("--limit: is negative"))
		}
		// The flags are checked before the log is opened: opening the index takes a lock, and
		// time.
		q, err := w.asked(time.Now())
		if err != nil {
			return err
		}
		source, err := from.open()
		if err != nil {
			return err
		}
		if err := there(source); err != nil {
			return err
		}
		// search reads as it goes: the first lines are there before the last segment has been
		// opened.
		search, done, err := find(cmd, source, *scan)
		if err != nil {
			return verb.Failed(err)
		}
		defer done()
		out := bufio.NewWriter(cmd.OutOrStdout())
		tried := attempts{}
		if q.Oldest {
			tried = nil // what came of a change is then read behind it
		}
		none := true
		for e, err := range search(q) {
			if err == nil {
				none = false
				err = printRecord(out, e.Line, *output, tried)
			}
			if err != nil {
				return verb.Failed(err)
			}
		}
		if none {
			if err := noMatch(cmd.ErrOrStderr(), q, search); err != nil {
				return verb.Failed(err)
			}
		}
		return out.Flush()
	}
	return cmd
}

// there refuses a directory without a segment, with exit code 2. An empty result for a misspelt
// directory would be taken for an answer.
func there(source reader.Source) error {
	all, err := source.Segments()
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%s: there is no segment of an audit log (audit-YYYY-MM-DD.jsonl)", source.Path)
	}
	if err != nil {
		return verb.Usage(err)
	}
	return nil
}

// find gives what searches for records, in the order that is asked for, and done, which closes the
// index. Where the index cannot be written, the log being somebody else's, it reads the
// whole log and says so on standard error; any other failure of the index is one of the command,
// as the index may then say too little.
func find(cmd *cobra.Command, source reader.Source, scan bool) (search func(index.Query) iter.Seq2[reader.Entry, error], done func(), err error) {
	done = func() {}
	if !scan {
		i, err := updated(cmd, source)
		if err == nil {
			return func(q index.Query) iter.Seq2[reader.Entry, error] { return i.Find(cmd.Context(), q) }, func() { _ = i.Close() }, nil
		}
		// A directory that may not be written to is the usual case of a log of another user.
		if !errors.Is(err, fs.ErrPermission) {
			return nil, nil, err
		}
		_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "%v; the whole log is read\n", err)
	}
	return func(q index.Query) iter.Seq2[reader.Entry, error] {
		if q.Oldest {
			return index.Scan(cmd.Context(), source, q)
		}
		return newest(cmd.Context(), source, q)
	}, done, nil
}

// newest scans a log from its beginning to its end, as segments can only be read so, and gives the
// last q.Limit of what it finds, the newest first. It holds that many records in memory, or with a
// limit of 0 all that fit the query. Lines are cloned, since the scan reads the next one into the
// same buffer.
func newest(ctx context.Context, source reader.Source, q index.Query) iter.Seq2[reader.Entry, error] {
	return func(yield func(reader.Entry, error) bool) {
		all := q
		all.Limit = 0
		var kept []reader.Entry
		for e, err := range index.Scan(ctx, source, all) {
			if err != nil {
				yield(e, err)
				return
			}
			// The oldest of those that are kept makes room, as a queue does: the newest are asked
			// for.
			if e.Line = slices.Clone(e.Line); q.Limit > 0 && len(kept) == q.Limit {
				kept = append(kept[:0], kept[1:]...)
			}
			kept = append(kept, e)
		}
		for _, e := range slices.Backward(kept) {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// updated is the index with all records in it that the log has by now. Building it for the first
// time reads the whole log, which takes minutes for some tens of gigabytes.
func updated(cmd *cobra.Command, source reader.Source) (*index.Index, error) {
	i, err := index.Open(cmd.Context(), source, source.Secret(index.File))
	if err != nil {
		return nil, err
	}
	told := progress.New(cmd, "records indexed")
	err = i.Update(cmd.Context(), told.At)
	told.End()
	if err != nil {
		return nil, errors.Join(err, i.Close())
	}
	return i, nil
}

// summary are the members of a record that a line of text has. docs/audit.md is the schema.
type summary struct {
	Time      time.Time         `json:"time"`
	Type      string            `json:"type"`
	Decision  string            `json:"decision"`
	Principal string            `json:"principal"`
	Agent     string            `json:"agent"`
	Skill     string            `json:"skill"`
	Method    string            `json:"method"`
	Task      string            `json:"task_id"`
	Rule      string            `json:"rule"`
	Limit     string            `json:"limit"`
	Status    int               `json:"status"`
	Reason    string            `json:"reason"`
	Approval  string            `json:"approval_state"`
	Guards    []reader.Finding  `json:"guards"`
	Event     string            `json:"event"`
	Attrs     map[string]string `json:"attrs"`
}

// printRecord prints a record byte for byte (json), or in short (text):
//
//	2026-11-21T15:04:05.000Z allow  alice billing/refunds SendMessage rule=finance status=200 task=t-1
//
// Names come from callers and agents, who may have put escape sequences for a terminal into them:
// every one of them goes through verb.Cell, which also makes "-" of an empty one, so that the
// columns stay where they are. tried has what is known of changes that came to nothing: their first
// records end in "(attempt)"; nil where records come the oldest first.
func printRecord(w io.Writer, line []byte, output string, tried attempts) error {
	if output == "json" {
		_, err := fmt.Fprintf(w, "%s\n", line)
		return err
	}
	var r summary
	if err := json.Unmarshal(line, &r); err != nil {
		return errors.New("it is no record of an audit log")
	}
	at := r.Time.UTC().Format("2006-01-02T15:04:05.000Z")
	// An event has no caller and no decision: its attributes are what it says.
	if r.Type == "event" {
		text := attributes(r.Attrs)
		if tried != nil && tried.attempted(&r) {
			text += " (attempt)"
		}
		_, err := fmt.Fprintf(w, "%s event  %s%s\n", at, verb.Cell(r.Event), text)
		return err
	}
	what := r.Agent
	if r.Skill != "" {
		what += "/" + r.Skill
	}
	// Where a limit refused the call, the rule has allowed it, and is not what decided.
	if r.Limit != "" {
		r.Rule = ""
	}
	_, err := fmt.Fprintf(w, "%s %-6s %s %s %s%s\n", at, verb.Cell(r.Decision), verb.Cell(r.Principal), verb.Cell(what), verb.Cell(r.Method), attributes(map[string]string{
		"task": r.Task, "rule": r.Rule, "limit": r.Limit, "reason": r.Reason, "approval": r.Approval, "status": statusText(r.Status),
		"guards": findings(r.Guards),
	}))
	return err
}

// findings are those of guards, as guard:kind:action each; those that are alike in several parts once.
func findings(list []reader.Finding) string {
	var each []string
	for _, f := range list {
		if f.Shadow {
			f.Action = "shadow"
		}
		if text := f.Guard + ":" + f.Kind + ":" + f.Action; !slices.Contains(each, text) {
			each = append(each, text)
		}
	}
	return strings.Join(each, ",")
}

// statusText is an HTTP status, "" for none, which attributes leaves out.
func statusText(status int) string {
	if status == 0 {
		return ""
	}
	return fmt.Sprint(status)
}

// attributes are those that there are, in the order of their names.
func attributes(all map[string]string) (text string) {
	names := make([]string, 0, len(all))
	for name, value := range all {
		if value != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		text += " " + verb.Cell(name) + "=" + verb.Cell(all[name])
	}
	return text
}
