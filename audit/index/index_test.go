package index

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// record is one line as the audit log writes it, without what nobody asks for.
func record(seq int, members string, at time.Time) string {
	return fmt.Sprintf(`{"seq":%d,"v":1,"gateway":"g",%s,"time":%q}`+"\n", seq, members, at.Format(time.RFC3339Nano))
}

// append adds lines to a segment of a directory.
func appendTo(t testing.TB, dir, segment string, lines ...string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, segment), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, line := range lines {
		if _, err := f.WriteString(line); err != nil {
			t.Fatal(err)
		}
	}
}

const (
	first  = "audit-2026-11-21.jsonl"
	second = "audit-2026-11-21_001.jsonl"
)

// sample writes two segments.
func sample(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	at := func(n int) time.Time { return noon.Add(time.Duration(n) * time.Second) }
	appendTo(t, dir, first,
		record(1, `"type":"intent","decision":"allow","principal":"alice","agent":"billing","method":"SendMessage"`, at(0)),
		record(2, `"type":"call","decision":"allow","principal":"alice","agent":"billing","skill":"pay","method":"SendMessage","task_id":"t1","context_id":"c1","issuer":"https://id.example","rule":"finance","approval":"approval-1","guards":[{"guard":"keys","on":"request","kind":"key","count":1,"action":"redact"},{"guard":"accounts","on":"answer","kind":"iban","count":2,"action":"redact"}]`, at(1)),
		record(3, `"type":"call","decision":"deny","reason":"UNAUTHORIZED","principal":"bob","agent":"billing","method":"GetTask","task_id":"t1","rule":"default"`, at(2)),
		record(4, `"type":"event","event":"push.delivery","attrs":{"agent":"billing","task_id":"t1","principal":"alice","approval":"approval-1"}`, at(3)),
	)
	appendTo(t, dir, second,
		record(5, `"type":"call","decision":"error","reason":"RATE_LIMITED","principal":"alice","agent":"travel","method":"GetTask","rule":"finance","limit":"policy.limits.calls","guards":[{"guard":"keys","on":"request","kind":"token","count":1,"action":"report"}]`, at(4)),
		record(6, `"type":"checkpoint"`, at(5)),
		record(7, `"type":"event","event":"push.drop","attrs":{"who":"admin-token"}`, at(6)),
		record(8, `"type":"call","decision":"allow","principal":"`+strings.ReplaceAll(telemetry.Clean("eve\u202e\\"), `\`, `\\`)+`","agent":"travel"`, at(7)),
	)
	return dir
}

func open(t testing.TB, dir string, secret []byte) *Index {
	t.Helper()
	i, err := Open(t.Context(), reader.Source{Path: dir}, secret)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = i.Close() })
	return i
}

func numbers(t testing.TB, all iter.Seq2[reader.Entry, error]) (list []uint64) {
	t.Helper()
	for e, err := range all {
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(e.Line), fmt.Sprintf(`{"seq":%d,`, e.Seq)) {
			t.Fatalf("record %d is %s", e.Seq, e.Line)
		}
		list = append(list, e.Seq)
	}
	return list
}

func TestFind(t *testing.T) {
	t.Parallel()
	dir := sample(t)
	i := open(t, dir, nil)
	if err := i.Update(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		q    Query
		want []uint64 // the oldest first
	}{
		{"all", Query{}, []uint64{2, 3, 4, 5, 7, 8}},
		{"intents", Query{Type: "intent"}, []uint64{1}},
		{"calls", Query{Type: "call"}, []uint64{2, 3, 5, 8}},
		{"a caller's", Query{Principal: "alice"}, []uint64{2, 4, 5}},
		{"an agent's", Query{Agent: "billing"}, []uint64{2, 3, 4}},
		{"a skill's", Query{Skill: "pay"}, []uint64{2}},
		{"a task's", Query{Task: "t1"}, []uint64{2, 3, 4}},
		{"a context's", Query{Context: "c1"}, []uint64{2}},
		{"denied", Query{Decision: "deny"}, []uint64{3}},
		{"failed", Query{Decision: "error"}, []uint64{5}},
		{"allowed", Query{Decision: "allow"}, []uint64{2, 8}},
		{"for a reason", Query{Reason: "RATE_LIMITED"}, []uint64{5}},
		{"for a reason and of somebody", Query{Reason: "UNAUTHORIZED", Principal: "bob"}, []uint64{3}},
		{"for a reason and of an agent", Query{Reason: "UNAUTHORIZED", Agent: "billing", Decision: "deny"}, []uint64{3}},
		{"for a reason and of nobody", Query{Reason: "UNAUTHORIZED", Principal: "alice"}, nil},
		{"by a rule", Query{Rule: "finance"}, []uint64{2}},
		{"by a limit", Query{Rule: "policy.limits.*"}, []uint64{5}},
		{"denied by a rule", Query{Rule: "default", Decision: "deny"}, []uint64{3}},
		{"refused by a stage", Query{Stage: "limits"}, []uint64{5}},
		{"refused by another stage", Query{Stage: "policy", Agent: "billing"}, []uint64{3}},
		{"of an approval", Query{Approval: "approval-1"}, []uint64{2, 4}},
		{"of another approval", Query{Approval: "approval-2"}, nil},
		{"in which a guard found something", Query{Guard: "keys"}, []uint64{2, 5}},
		{"in which any guard found something", Query{Guard: "*", Principal: "alice"}, []uint64{2, 5}},
		{"in which something was found", Query{Finding: "iban"}, []uint64{2}},
		{"in which a guard found a kind", Query{Guard: "keys", Finding: "k*"}, []uint64{2}},
		{"in which a guard did not find a kind", Query{Guard: "keys", Finding: "iban"}, nil},
		{"an issuer's", Query{Issuer: "https://id.example"}, []uint64{2}},
		{"a method's", Query{Method: "GetTask"}, []uint64{3, 5}},
		{"a method's by its name of 0.3", Query{Method: "tasks/get"}, []uint64{3, 5}},
		{"a kind of event", Query{Event: "push.drop"}, []uint64{7}},
		{"an operator's", Query{Principal: "admin-token"}, []uint64{7}},
		{"of strange names", Query{Principal: "eve\u202e\\"}, []uint64{8}},
		{"two things", Query{Principal: "alice", Agent: "travel"}, []uint64{5}},
		{"nothing", Query{Principal: "alice", Decision: "deny"}, nil},
		{"nobody's", Query{Principal: "carol"}, nil},
		{"from a time on", Query{From: noon.Add(4 * time.Second)}, []uint64{5, 7, 8}},
		{"before a time", Query{Until: noon.Add(4 * time.Second)}, []uint64{2, 3, 4}},
		{"between", Query{From: noon.Add(time.Second), Until: noon.Add(3 * time.Second)}, []uint64{2, 3}},
		{"after all", Query{From: noon.Add(time.Hour)}, nil},
		{"before all", Query{Until: noon}, nil},
	} {
		if err := tt.q.Check(); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		tt.q.Oldest = true
		if got := numbers(t, i.Find(t.Context(), tt.q)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
		if got := numbers(t, Scan(t.Context(), reader.Source{Path: dir}, tt.q)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: scanned %v, want %v", tt.name, got, tt.want)
		}
		tt.q.Oldest, tt.q.Limit = false, 2
		newest := slices.Clone(tt.want)
		slices.Reverse(newest)
		if newest = newest[:min(2, len(newest))]; !slices.Equal(numbers(t, i.Find(t.Context(), tt.q)), newest) {
			t.Errorf("%s: the newest are not %v", tt.name, newest)
		}
	}
	for _, q := range []Query{
		{Decision: "maybe"}, {Type: "checkpoint"}, {From: noon, Until: noon}, {Method: "GetTask", Event: "x"},
		{Method: "GetTask", Type: "event"}, {Event: "x", Type: "call"}, {Event: "x", Type: "intent"},
	} {
		if q.Check() == nil {
			t.Errorf("%+v is found possible", q)
		}
	}
}

// TestBehind: what comes behind a record is told in either order, by the index and without.
func TestBehind(t *testing.T) {
	t.Parallel()
	dir := sample(t)
	i := open(t, dir, nil)
	if err := i.Update(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		q    Query
		want []uint64
	}{
		{Query{Behind: 5}, []uint64{4, 3, 2}},
		{Query{Behind: 6, Limit: 2}, []uint64{5, 4}},
		{Query{Behind: 2}, nil},
		{Query{Behind: 99}, []uint64{8, 7, 5, 4, 3, 2}},
		{Query{Behind: 5, Principal: "alice"}, []uint64{4, 2}},
		{Query{Behind: 5, Until: noon.Add(3 * time.Second)}, []uint64{3, 2}},
		{Query{Behind: 3, Oldest: true}, []uint64{4, 5, 7, 8}},
		{Query{Behind: 3, Oldest: true, Task: "t1"}, []uint64{4}},
		{Query{Behind: 8, Oldest: true}, nil},
		{Query{Behind: 99, Oldest: true}, nil},
	} {
		if got := numbers(t, i.Find(t.Context(), tt.q)); !slices.Equal(got, tt.want) {
			t.Errorf("%+v: %v, want %v", tt.q, got, tt.want)
		}
		if !tt.q.Oldest {
			continue // a log is read in its order
		}
		if got := numbers(t, Scan(t.Context(), reader.Source{Path: dir}, tt.q)); !slices.Equal(got, tt.want) {
			t.Errorf("%+v by reading: %v, want %v", tt.q, got, tt.want)
		}
	}
}

// TestUpdate: an index goes on where it was, forgets what was removed, and is made anew
// where it leads nowhere, is damaged, or has another key or version.
func TestUpdate(t *testing.T) {
	t.Parallel()
	dir := sample(t)
	all := func(secret []byte) []uint64 {
		t.Helper()
		i := open(t, dir, secret)
		defer func() { _ = i.Close() }()
		if err := i.Update(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		return numbers(t, i.Find(t.Context(), Query{Oldest: true}))
	}
	wants := func(step string, secret []byte, want ...uint64) {
		t.Helper()
		if got := all(secret); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", step, got, want)
		}
	}
	wants("first", nil, 2, 3, 4, 5, 7, 8)
	appendTo(t, dir, second, record(9, `"type":"call","agent":"a"`, noon))
	wants("one more", nil, 2, 3, 4, 5, 7, 8, 9)
	wants("again", nil, 2, 3, 4, 5, 7, 8, 9)
	if err := os.Remove(filepath.Join(dir, first)); err != nil {
		t.Fatal(err)
	}
	wants("one segment removed", nil, 5, 7, 8, 9)
	wants("another key", []byte("secret"), 5, 7, 8, 9)
	if err := os.WriteFile(filepath.Join(dir, File), []byte(strings.Repeat("garbage", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	wants("damaged", []byte("secret"), 5, 7, 8, 9)
	for _, by := range []int{-1, +1} {
		other := open(t, dir, []byte("secret"))
		for _, statement := range []string{"DROP TABLE records", fmt.Sprintf("PRAGMA user_version = %d", version+by)} {
			if _, err := other.db.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
		wants(fmt.Sprintf("%+d version", by), []byte("secret"), 5, 7, 8, 9)
	}
	text, err := os.ReadFile(filepath.Join(dir, File))
	if err != nil || strings.Contains(string(text), "alice") || strings.Contains(string(text), "travel") || strings.Contains(string(text), "secret") {
		t.Errorf("the index has names in it: %v", err)
	}
	if err := os.Rename(filepath.Join(dir, second), filepath.Join(t.TempDir(), second)); err != nil {
		t.Fatal(err)
	}
	appendTo(t, dir, "audit-2026-11-22.jsonl", record(1, `"type":"call","agent":"a"`, noon))
	wants("another log", []byte("secret"), 1)
	if info, err := os.Stat(filepath.Join(dir, File)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

// TestForms: what is compressed, encrypted or both is found like what is neither, and the
// index of an encrypted log is of no use without its key.
func TestForms(t *testing.T) {
	t.Parallel()
	key := secret.New(strings.Repeat("7f", 31) + "00")
	for name, c := range map[string]audit.Config{
		"as written":    {},
		"compressed":    {Compress: true},
		"encrypted":     {Encryption: audit.Encryption{Keys: []secret.Value{key}}},
		"both of these": {Compress: true, Encryption: audit.Encryption{Keys: []secret.Value{key}}},
	} {
		c.Dir, c.SegmentSize = t.TempDir(), 64<<10
		tel, err := telemetry.Open(t.Context(), telemetry.Config{}, "test")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = tel.Close(context.Background()) })
		log, err := audit.Open(c, "g", tel)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 1000 {
			attrs := map[string]string{"agent": fmt.Sprint("agent-", n%7), "pad": strings.Repeat("x", 200)}
			if err := log.Event("push.retry", attrs); err != nil {
				t.Fatal(err)
			}
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		i, err := Open(t.Context(), c.Source(), c.Source().Secret(File))
		if err != nil {
			t.Fatal(err)
		}
		if err := i.Update(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		q := Query{Agent: "agent-3", Oldest: true}
		found, scanned := numbers(t, i.Find(t.Context(), q)), numbers(t, Scan(t.Context(), c.Source(), q))
		if len(found) != 143 || !slices.Equal(found, scanned) {
			t.Errorf("%s: %d found, %d by reading all", name, len(found), len(scanned))
		}
		q.Oldest, q.Limit = false, 3
		if newest := numbers(t, i.Find(t.Context(), q)); len(newest) != 3 || newest[0] != scanned[142] {
			t.Errorf("%s: the newest are %v", name, newest)
		}
		_ = i.Close()
		if encrypted := len(c.Encryption.Keys) > 0; encrypted {
			text, err := os.ReadFile(filepath.Join(c.Dir, File))
			if err != nil || strings.Contains(string(text), string(c.Source().Secret(File))) {
				t.Errorf("%s: the key lies in the index: %v", name, err)
			}
		}
	}
}

// TestRolledBack: of a log that was restored from a copy, and goes on with numbers that the
// index has had, everything is found that is there, and nothing else.
func TestRolledBack(t *testing.T) {
	t.Parallel()
	dir, copied := t.TempDir(), t.TempDir()
	tel, err := telemetry.Open(t.Context(), telemetry.Config{}, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tel.Close(context.Background()) })
	write := func(dir, agent string, n int) {
		t.Helper()
		log, err := audit.Open(audit.Config{Dir: dir}, "g", tel)
		for range n {
			err = errors.Join(err, log.Event("push.retry", map[string]string{"agent": agent}))
		}
		if err := errors.Join(err, log.Close()); err != nil {
			t.Fatal(err)
		}
	}
	write(dir, "before", 10)
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	write(dir, "gone", 20)
	i := open(t, dir, nil)
	if err := i.Update(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if err := i.Close(); err != nil {
		t.Fatal(err)
	}
	for _, after := range []int{5, 50} {
		write(copied, "after", after)
		text, err := os.ReadFile(filepath.Join(dir, File))
		if err == nil {
			err = os.WriteFile(filepath.Join(copied, File), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		i := open(t, copied, nil)
		if err := i.Update(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		for _, agent := range []string{"before", "gone", "after"} {
			q := Query{Agent: agent, Oldest: true}
			found, scanned := numbers(t, i.Find(t.Context(), q)), numbers(t, Scan(t.Context(), reader.Source{Path: copied}, q))
			if !slices.Equal(found, scanned) {
				t.Errorf("%s: %v found, %v by reading all", agent, found, scanned)
			}
		}
		if err := i.Close(); err != nil {
			t.Fatal(err)
		}
		for _, behind := range []string{"-wal", "-shm"} {
			_ = os.Remove(filepath.Join(copied, File+behind)) // they are of the index that is replaced
		}
	}
}

// TestBroken: what is no record is named, and where.
func TestBroken(t *testing.T) {
	t.Parallel()
	dir := sample(t)
	appendTo(t, dir, second, `{"seq":9,"type":7}`+"\n")
	i := open(t, dir, nil)
	if err := i.Update(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "record 9 in "+second) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := i.Update(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestUpdateInterrupted: an update that does not come to its end keeps what it has done so
// far, and what it has not done it does not take for done.
func TestUpdateInterrupted(t *testing.T) {
	t.Parallel()
	dir := sample(t)
	i := open(t, dir, nil)
	i.spell = 0 // a transaction for each record
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := i.Update(ctx, func(added int) {
		if added == 3 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	left := 0
	if err := i.Update(t.Context(), func(added int) { left = added }); err != nil || left != 5 {
		t.Errorf("%d were left of 8 when 3 were added: %v", left, err)
	}
	if got := numbers(t, i.Find(t.Context(), Query{Oldest: true})); !slices.Equal(got, []uint64{2, 3, 4, 5, 7, 8}) {
		t.Error(got)
	}

	const third = "audit-2026-11-22.jsonl"
	i.spell = time.Hour
	good, bad := record(9, `"type":"call","agent":"a"`, noon), `{"seq":10,"type":7}`+"\n"
	appendTo(t, dir, third, good, bad)
	if err := i.Update(t.Context(), nil); err == nil {
		t.Error("a broken record was added")
	}
	if err := os.Truncate(filepath.Join(dir, third), int64(len(good))); err != nil {
		t.Fatal(err)
	}
	if err := i.Update(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if got := numbers(t, i.Find(t.Context(), Query{Agent: "a"})); !slices.Equal(got, []uint64{9}) {
		t.Errorf("behind what was rolled back: %v", got)
	}
}

// TestFindIsScan holds the index against reading everything, for any log and query.
func TestFindIsScan(t *testing.T) {
	testenv.Long(t, "a hundred logs are searched in two ways")
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "") //nolint:usetesting // t.TempDir has one name for all draws
		if err != nil {
			t.Fatal(err)
		}
		name := rapid.SampledFrom([]string{"", "a", "b"})
		decision := rapid.SampledFrom([]string{"", "allow", "deny", "error"})
		second := rapid.Map(rapid.IntRange(0, 30), func(n int) time.Time { return noon.Add(time.Duration(n) * time.Second) })
		i := open(t, dir, nil)
		defer func() { _ = i.Close() }()
		if rapid.Bool().Draw(rt, "bulk") {
			i.spell, i.bulk = 0, 1
		}
		i.stretch = rapid.Int64Range(1, 4).Draw(rt, "stretch") // much less than the clock is set by
		seq := 0
		for segment := range rapid.IntRange(1, 3).Draw(rt, "segments") {
			for range rapid.IntRange(0, 10).Draw(rt, "records") {
				seq++
				appendTo(t, dir, fmt.Sprintf("audit-2026-11-2%d.jsonl", segment), record(seq, fmt.Sprintf(
					`"type":%q,"principal":%q,"agent":%q,"task_id":%q,"skill":%q,"method":%q,"decision":%q`,
					rapid.SampledFrom([]string{"intent", "call", "event"}).Draw(rt, "type"), name.Draw(rt, "principal"),
					name.Draw(rt, "agent"), name.Draw(rt, "task"), name.Draw(rt, "skill"), name.Draw(rt, "method"), decision.Draw(rt, "decision")), second.Draw(rt, "time")))
			}
			if rapid.Bool().Draw(rt, "update") {
				if err := i.Update(t.Context(), nil); err != nil {
					rt.Fatal(err)
				}
			}
		}
		if err := i.Update(t.Context(), nil); err != nil {
			rt.Fatal(err)
		}
		q := Query{
			Principal: name.Draw(rt, "q principal"), Agent: name.Draw(rt, "q agent"), Task: name.Draw(rt, "q task"),
			Skill: name.Draw(rt, "q skill"), Method: name.Draw(rt, "q method"),
			Decision: decision.Draw(rt, "q decision"), Oldest: true, Limit: rapid.IntRange(0, 5).Draw(rt, "limit"),
			Type: rapid.SampledFrom([]string{"", "intent", "call", "event"}).Draw(rt, "q type"),
		}
		if rapid.Bool().Draw(rt, "from") {
			q.From = second.Draw(rt, "q from")
		}
		if rapid.Bool().Draw(rt, "until") {
			q.Until = second.Draw(rt, "q until")
		}
		found, scanned := numbers(t, i.Find(t.Context(), q)), numbers(t, Scan(t.Context(), reader.Source{Path: dir}, q))
		if !slices.Equal(found, scanned) {
			rt.Fatalf("%+v: %v by the index, %v by reading all", q, found, scanned)
		}
	})
}

// TestClockSet: whenever the clock showed what, each record is found by the time that it has.
func TestClockSet(t *testing.T) {
	testenv.Long(t, "thousands of records are asked for in every stretch of time")
	t.Parallel()
	dir := t.TempDir()
	i := open(t, dir, nil)
	i.stretch = 100
	var lines []string
	for _, from := range []time.Duration{0, -30 * time.Minute, 30 * time.Minute, 1000 * time.Hour, time.Hour} {
		for k := range 900 {
			lines = append(lines, record(len(lines)+1, `"type":"call","principal":"alice"`, noon.Add(from+time.Duration(k*4)*time.Second)))
		}
	}
	appendTo(t, dir, first, lines...)
	if err := i.Update(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for from := -time.Hour; from < 3*time.Hour; from += 10 * time.Minute {
		for _, q := range []Query{
			{From: noon.Add(from)}, {Until: noon.Add(from)}, {From: noon.Add(from), Until: noon.Add(from + 15*time.Minute)},
		} {
			q.Oldest = true
			found, scanned := numbers(t, i.Find(t.Context(), q)), numbers(t, Scan(t.Context(), reader.Source{Path: dir}, q))
			if !slices.Equal(found, scanned) {
				t.Errorf("from %v until %v: %d found, %d by reading all", q.From, q.Until, len(found), len(scanned))
			}
		}
	}
}

// many writes a log of n records in segments of 100,000.
func many(b *testing.B, n int) string {
	b.Helper()
	dir := b.TempDir()
	random := rand.New(rand.NewPCG(1, 2))
	var lines strings.Builder
	for k := range n {
		decision, reason := "allow", ""
		if k%1000 == 1 {
			decision, reason = "deny", "UNAUTHORIZED"
		}
		principal, agent := fmt.Sprintf("user-%d", random.IntN(10000)), random.IntN(100)
		if k%10 == 0 {
			principal, agent = "busy", agent/10*10 // which asks a few agents only
		}
		skill, method := random.IntN(300), "SendMessage"
		switch { // what is asked for often, but never together
		case k%10 == 3 && agent != 80:
			method = "CancelTask"
		case k%10 == 4:
			skill = 300
		}
		lines.WriteString(record(k+1, fmt.Sprintf(
			`"type":"call","decision":%q,"principal":%q,"agent":"agent-%d","skill":"skill-%d","method":%q,"task_id":"task-%d","rule":"rule-%d","issuer":"https://id-%d.example","reason":%q,"pad":%q`,
			decision, principal, agent, skill, method, k/3, skill%30, min(k%1000, 1), reason, strings.Repeat("x", 300)),
			noon.Add(time.Duration(k)*time.Millisecond)))
		if (k+1)%100000 == 0 || k+1 == n {
			appendTo(b, dir, fmt.Sprintf("audit-2026-11-21_%03d.jsonl", k/100000+1), lines.String())
			lines.Reset()
		}
	}
	return dir
}

// BenchmarkUpdate is the time to index 100,000 records.
func BenchmarkUpdate(b *testing.B) {
	dir := many(b, 100000)
	for b.Loop() {
		_ = os.Remove(filepath.Join(dir, File))
		i := open(b, dir, nil)
		if err := i.Update(b.Context(), nil); err != nil {
			b.Fatal(err)
		}
		_ = i.Close()
	}
	b.ReportMetric(100000*float64(b.N)/b.Elapsed().Seconds(), "records/s")
	info, err := os.Stat(filepath.Join(dir, File))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(info.Size())/100000, "B/record")
}

// BenchmarkFind asks an index of A2A_GATEWAY_BENCH_RECORDS records, 200,000 without it, for
// a page of 100. The first time, for which the disk may have to be read, is a figure of its own.
func BenchmarkFind(b *testing.B) {
	n := 200000
	if s := os.Getenv("A2A_GATEWAY_BENCH_RECORDS"); s != "" {
		if _, err := fmt.Sscan(s, &n); err != nil {
			b.Fatal(err)
		}
	}
	i := open(b, many(b, n), nil)
	if err := i.Update(b.Context(), nil); err != nil {
		b.Fatal(err)
	}
	middle := noon.Add(time.Duration(n/2) * time.Millisecond)
	for name, q := range map[string]Query{
		"newest": {}, "principal": {Principal: "user-7"}, "agent": {Agent: "agent-7"}, "task": {Task: "task-777"},
		"denied": {Decision: "deny"}, "denied of an agent": {Decision: "deny", Agent: "agent-7"},
		"principal at an agent": {Principal: "user-7", Agent: "agent-7"}, "skill before": {Skill: "skill-7", Until: middle},
		"nobody": {Principal: "nobody"}, "an hour": {From: middle, Until: middle.Add(time.Hour)},
		"principal long ago": {Principal: "user-7", Until: noon.Add(time.Minute)}, "events": {Type: "event"},
		"agent in an hour":      {Agent: "agent-7", From: middle, Until: middle.Add(time.Hour)},
		"denied of a principal": {Decision: "deny", Principal: "user-7"}, "denied of a skill": {Decision: "deny", Skill: "skill-7"},
		"denied of a method": {Decision: "deny", Method: "SendMessage"}, "errors of an agent": {Decision: "error", Agent: "agent-7"},
		"busy principal at an agent": {Principal: "busy", Agent: "agent-8"}, "busy principal": {Principal: "busy"},
		"denied at an agent long ago":   {Decision: "deny", Agent: "agent-7", Until: noon.Add(time.Minute)},
		"skill at an agent":             {Skill: "skill-7", Agent: "agent-7"},
		"method never used by an agent": {Method: "CancelTask", Agent: "agent-80"}, "denied intents": {Decision: "deny", Type: "intent"},
		"rule": {Rule: "rule-7"}, "denied by a rule": {Decision: "deny", Rule: "rule-7"}, "rule never used": {Rule: "none"},
		"stage": {Stage: "policy"}, "stage at an agent": {Stage: "policy", Agent: "agent-7"}, "rare issuer at an agent": {Issuer: "https://id-0.example", Agent: "agent-7"},
		"rule at an agent": {Rule: "rule-7", Agent: "agent-8"}, "rule for a principal": {Rule: "rule-7", Principal: "busy"}, "issuer": {Issuer: "https://id-1.example"},
		"method never used by a busy principal": {Method: "CancelTask", Principal: "busy"},
		"skill never used by a busy principal":  {Skill: "skill-300", Principal: "busy"},
	} {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			q.Limit = 100
			begin := time.Now()
			numbers(b, i.Find(b.Context(), q))
			first := time.Since(begin)
			for b.Loop() {
				numbers(b, i.Find(b.Context(), q))
			}
			b.ReportMetric(float64(first.Microseconds())/1e3, "first-ms")
		})
	}
}

// TestPlans: whatever is asked for together, records are read one after the other and as few
// as can be: nothing is collected to be sorted, no record is read that an index rules out,
// and no index is there for nothing.
func TestPlans(t *testing.T) {
	t.Parallel()
	i := open(t, t.TempDir(), nil)
	parts := []func(*Query){
		func(q *Query) { q.Principal = "p" }, func(q *Query) { q.Agent = "a" }, func(q *Query) { q.Skill = "s" },
		func(q *Query) { q.Task = "t" }, func(q *Query) { q.Context = "c" }, func(q *Query) { q.Method = "SendMessage" },
		func(q *Query) { q.Reason = "r" },
		func(q *Query) { q.Issuer = "i" }, func(q *Query) { q.Rule = "u" }, func(q *Query) { q.Stage = "limits" },
		func(q *Query) { q.Approval = "v" }, func(q *Query) { q.Guard = "*" }, func(q *Query) { q.Finding = "iban" },
		func(q *Query) { q.Decision = "deny" }, func(q *Query) { q.Decision = "allow" }, func(q *Query) { q.Type = "event" },
		func(q *Query) { q.Type = "intent" }, func(q *Query) { q.From = noon }, func(q *Query) { q.Until = noon.Add(time.Hour) }, func(q *Query) { q.Oldest = true },
	}
	var used strings.Builder
	asked := map[Query]bool{}
	for _, a := range parts {
		for _, b := range parts {
			for _, c := range parts {
				var q Query
				a(&q)
				b(&q)
				c(&q)
				if asked[q] {
					continue
				}
				asked[q] = true
				for _, step := range steps(t, i, &q) {
					used.WriteString(step + "\n")
					if strings.Contains(step, "TEMP B-TREE") || strings.HasPrefix(step, "SEARCH records USING INDEX") || strings.HasPrefix(step, "SCAN segments") {
						t.Errorf("%+v: %s", q, step)
					}
				}
			}
		}
	}
	for _, name := range regexp.MustCompile(`CREATE INDEX (\w+)`).FindAllStringSubmatch(schema, -1) {
		if name[1] != "by_segment" && !strings.Contains(used.String(), "INDEX "+name[1]+" ") { // that is for forget
			t.Errorf("nothing is found by %s", name[1])
		}
	}
}

// steps are how SQLite goes about a query.
func steps(t *testing.T, i *Index, q *Query) (all []string) {
	t.Helper()
	statement, args, err := i.plan(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := i.db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+statement, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }() // its error is that of Err
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		all = append(all, step)
	}
	if err := rows.Err(); err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	return all
}
