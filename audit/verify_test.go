package audit

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/audit/segment"
	"github.com/a2a-gateway/a2a-gateway/internal/keys"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// specimen is a closed log of several segments, with the keys that signed it.
func specimen(t testing.TB) (dir string, ring *keys.Ring) {
	t.Helper()
	dir = t.TempDir()
	d := newFakeDisk()
	l, ring := signedLog(t, Config{Dir: dir, Checkpoint: Checkpoint{Every: 10}}, d)
	for i := range 60 {
		if i%15 == 14 {
			d.set(func() { d.clock = d.clock.Add(24 * time.Hour) })
		}
		if err := errors.Join(l.Intent(exchange(fmt.Sprint(i)))); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, ring
}

func verified(t testing.TB, dir string, c Check) *Report {
	t.Helper()
	r, err := Verify(t.Context(), reader.Source{Path: dir}, c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestVerifyWhole(t *testing.T) {
	t.Parallel()
	dir, ring := specimen(t)
	r := verified(t, dir, Check{Keys: ring.JWKS()})
	if len(r.Findings) > 0 || r.Segments != 5 || r.Records != int(r.To) || r.From != 1 || r.Signed != r.To-1 || // small
		r.Head != r.To || !r.Trusted || len(r.Keys) != 1 || len(r.Torn) > 0 || r.Unchained > 0 {
		t.Errorf("%+v", r)
	}
	if r = verified(t, dir, Check{}); len(r.Findings) > 0 || r.Trusted {
		t.Errorf("without keys: %+v", r)
	}
}

// TestVerifyDays: of the days that are asked for every record is counted and no other one, what is
// missing at their ends is found, and days without records are no finding.
func TestVerifyDays(t *testing.T) {
	t.Parallel()
	// Of each day from 2026-11-21 to 25 there is a file.
	whole, ring := specimen(t)
	names, err := segment.List(whole)
	if err != nil {
		t.Fatal(err)
	}
	const none = "none"
	for _, test := range []struct {
		first, last string
		without     []string // days
		cut         string   // the day of a file that loses all records but one
		want        string   // the days that are counted, none, or a finding
	}{
		{"2026-11-23", "2026-11-23", nil, "", "2026-11-23"},
		{"2026-11-22", "2026-11-23", nil, "", "2026-11-22 2026-11-23"},
		{"2026-11-23", "", nil, "", "2026-11-23 2026-11-24 2026-11-25"},
		{"", "2026-11-22", nil, "", "2026-11-21 2026-11-22"},
		{"2026-11-26", "", nil, "", none},
		{"2026-11-27", "2026-11-30", nil, "", none},
		{"2026-11-01", "2026-11-20", nil, "", none},
		{"2026-11-23", "2026-11-23", nil, "2026-11-23", kindTruncated},
		{"2026-11-25", "", nil, "2026-11-25", kindTruncated},
		{"2026-11-25", "", []string{"2026-11-25"}, "", kindMissingSegment},
		{"2026-11-24", "", []string{"2026-11-24", "2026-11-25"}, "", kindMissingSegment},
		{"2026-11-23", "2026-11-23", []string{"2026-11-23"}, "", kindMissingSegment},
		{"2026-11-23", "", []string{"2026-11-23"}, "", kindMissingSegment},
		{"2026-11-22", "2026-11-23", []string{"2026-11-22"}, "", kindMissingSegment},
		{"2026-11-27", "", nil, chain.HeadFile, Unsigned},
	} {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
		for _, n := range names {
			if slices.Contains(test.without, n.Day) {
				err = errors.Join(err, os.Remove(n.Path(dir)))
			}
		}
		for _, f := range filesOf(t, dir) {
			if strings.Contains(f.path, test.cut) && test.cut != "" {
				err = errors.Join(err, os.WriteFile(f.path, bytes.Join(f.lines[:1], nil), 0o600))
			}
		}
		if test.cut == chain.HeadFile {
			err = errors.Join(err, os.Remove(filepath.Join(dir, chain.HeadFile)))
		}
		if err != nil {
			t.Fatal(err)
		}
		c := Check{Keys: ring.JWKS(), From: dayOf(t, test.first), To: dayOf(t, test.last)}
		if err := wantDays(verified(t, dir, c), filesOf(t, dir), test.want); err != nil {
			t.Errorf("%+v: %v", test, err)
		}
	}
	if _, err := Verify(t.Context(), reader.Source{Path: whole}, Check{From: dayOf(t, "2026-11-23"), To: dayOf(t, "2026-11-22")}); !errors.Is(err, errDays) {
		t.Error(err)
	}
}

// dayOf reads a day, "" for the zero time.
func dayOf(t *testing.T, text string) (day time.Time) {
	if text != "" {
		var err error
		if day, err = time.Parse(time.DateOnly, text); err != nil {
			t.Fatal(err)
		}
	}
	return day
}

// wantDays compares a report with the days that it should have counted, "none" without records, or
// the kind of the one finding that it should have.
func wantDays(r *Report, files []*fileOf, want string) error {
	if !strings.HasPrefix(want, "2026") && want != "none" {
		if len(r.Findings) != 1 || r.Findings[0].Kind != want {
			return fmt.Errorf("%+v", r)
		}
		return nil
	}
	segments, count := 0, 0
	for _, f := range files {
		if n, _ := segment.ParseName(filepath.Base(f.path)); strings.Contains(want, n.Day) {
			segments, count = segments+1, count+len(f.lines)
		}
	}
	if len(r.Findings) > 0 || r.Segments != segments || r.Records != count || r.Empty != (want == "none") || r.Unsigned > 0 {
		return fmt.Errorf("%+v, want %d records in %d files", r, count, segments)
	}
	return nil
}

// damage is one thing that is done to a log.
type damage struct {
	kinds    []string // by which it may be named
	from, to uint64   // records that the finding has to be about, give or take one
}

// file is a segment in memory.
type fileOf struct {
	path  string
	lines [][]byte
}

func filesOf(t testing.TB, dir string) (all []*fileOf) {
	t.Helper()
	names, err := segment.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		content, err := os.ReadFile(n.Path(dir))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, &fileOf{n.Path(dir), bytes.SplitAfter(content, []byte("\n"))})
		all[len(all)-1].lines = slices.DeleteFunc(all[len(all)-1].lines, func(l []byte) bool { return len(l) == 0 })
	}
	return all
}

func (f *fileOf) seq(i int) uint64 {
	n, _ := chain.LastSeq(f.lines[i])
	return n
}

func (f *fileOf) write(t *rapid.T) {
	if err := os.WriteFile(f.path, bytes.Join(f.lines, nil), 0o600); err != nil {
		t.Fatal(err)
	}
}

// damages are what may be done, by what they are called in the test.
var damages = map[string]func(t *rapid.T, files []*fileOf) damage{
	"byte": func(t *rapid.T, files []*fileOf) damage {
		f, i := place(t, files)
		line := f.lines[i]
		at := rapid.IntRange(0, len(line)-2).Draw(t, "at")
		old := line[at]
		line[at] = rapid.ByteRange(' ', '~').Filter(func(b byte) bool { return b != old }).Draw(t, "byte")
		seq := uint64(0)
		for n := range files { // lines are numbered through
			for k := range files[n].lines {
				seq++
				if files[n] == f && k == i {
					return damage{[]string{kindChanged}, seq, seq}
				}
			}
		}
		return damage{}
	},
	"without a line": func(t *rapid.T, files []*fileOf) damage {
		f, i := place(t, files)
		seq := f.seq(i)
		f.lines = slices.Delete(f.lines, i, i+1)
		return damage{[]string{kindMissing, kindTruncated, kindMissingSegment}, seq, seq}
	},
	"a line twice": func(t *rapid.T, files []*fileOf) damage {
		f, i := place(t, files)
		to, k := place(t, files)
		to.lines = slices.Insert(to.lines, k, bytes.Clone(f.lines[i]))
		seq := f.lines[i]
		n, _ := chain.LastSeq(seq)
		if to == f && k <= i {
			n, _ = chain.LastSeq(f.lines[i+1])
		}
		return damage{[]string{kindDuplicated}, n, n}
	},
	"a line elsewhere": func(t *rapid.T, files []*fileOf) damage {
		f, i := place(t, files)
		to, k := place(t, files)
		if f == to && len(f.lines) < 3 {
			return damage{}
		}
		if f == to && (k == i || k == i+1 || k == i-1) {
			k = (i + 2) % len(f.lines)
		}
		line, seq := f.lines[i], f.seq(i)
		target := to.lines[k]
		f.lines = slices.Delete(f.lines, i, i+1)
		k = slices.IndexFunc(to.lines, func(l []byte) bool { return &l[0] == &target[0] })
		to.lines = slices.Insert(to.lines, k, line)
		if before := k > 0 && to.seq(k-1) == seq-1; before { // it is where it was
			return damage{}
		}
		return damage{[]string{kindReordered}, 0, 0}
	},
	"a line of one's own": func(t *rapid.T, files []*fileOf) damage {
		f, i := place(t, files)
		f.lines = slices.Insert(f.lines, i, []byte("{\"hello\":\"world\"}\n"))
		return damage{[]string{kindInserted, kindChanged}, 0, 0}
	},
	"without a newline": func(t *rapid.T, files []*fileOf) damage {
		f, i := place(t, files)
		seq := f.seq(i)
		f.lines[i] = f.lines[i][:len(f.lines[i])-1]
		if i == len(f.lines)-1 {
			return damage{[]string{kindTruncated}, seq, seq}
		}
		return damage{[]string{kindChanged}, seq, seq}
	},
	"a cut": func(t *rapid.T, files []*fileOf) damage {
		f, i := place(t, files)
		seq, last := f.seq(i), f.seq(len(f.lines)-1)
		f.lines = f.lines[:i+1]
		f.lines[i] = f.lines[i][:rapid.IntRange(0, len(f.lines[i])-1).Draw(t, "length")]
		if i == 0 && len(f.lines[0]) == 0 {
			f.lines = nil
		}
		return damage{[]string{kindTruncated, kindMissingSegment}, seq, last}
	},
	"no file": func(t *rapid.T, files []*fileOf) damage {
		f := some(t, files)
		first, last := f.seq(0), f.seq(len(f.lines)-1)
		if err := os.Remove(f.path); err != nil {
			t.Fatal(err)
		}
		f.path = os.DevNull
		if first == 1 {
			first = 0
		}
		return damage{[]string{kindMissingSegment, kindTruncated}, first, last}
	},
	"files swapped": func(t *rapid.T, files []*fileOf) damage {
		i := rapid.IntRange(0, len(files)-1).Draw(t, "one")
		k := (i + rapid.IntRange(1, len(files)-1).Draw(t, "other")) % len(files)
		files[i].path, files[k].path = files[k].path, files[i].path
		return damage{[]string{kindRenamed}, 0, 0}
	},
	"a file twice": func(t *rapid.T, files []*fileOf) damage {
		f := some(t, files)
		twin := &fileOf{strings.TrimSuffix(f.path, ".jsonl") + "_007.jsonl", f.lines}
		twin.write(t)
		return damage{[]string{kindDuplicated}, f.seq(0), f.seq(len(f.lines) - 1)}
	},
	// Who says that retention did it has to have it signed.
	"a removal of one's own": func(t *rapid.T, files []*fileOf) damage {
		n := rapid.IntRange(1, len(files)-1).Draw(t, "files")
		forgeRemoval(files, files[n].seq(0)-uint64(rapid.IntRange(0, 1).Draw(t, "less"))) //nolint:gosec // 0 or 1
		for _, f := range files[:n] {
			if err := os.Remove(f.path); err != nil {
				t.Fatal(err)
			}
			f.path = os.DevNull
		}
		return damage{[]string{kindMissingSegment}, 0, files[n].seq(0) - 1}
	},
	// Whoever has no key can compute all hashes anew, and no signature.
	"rewritten": func(t *rapid.T, files []*fileOf) damage {
		f, i := place(t, files)
		seq := f.seq(i)
		f.lines[i] = bytes.Replace(f.lines[i], []byte(`"time":"2026`), []byte(`"time":"2025`), 1)
		rehash(files)
		return damage{[]string{kindSignature, kindChanged}, seq, 1 << 60}
	},
}

// forgeRemoval appends a record to a log, as it would be if it had been made by retention.
func forgeRemoval(files []*fileOf, through uint64) {
	f := files[len(files)-1]
	last := f.lines[len(f.lines)-1]
	c := chain.Chain{Segment: filepath.Base(f.path)}
	c.Seq, _ = chain.LastSeq(last)
	_, c.Hash, _ = chain.CutHash(last[:len(last)-1])
	var hash chain.Link
	for _, f := range files {
		for i, line := range f.lines {
			if f.seq(i) == through {
				_, hash, _ = chain.CutHash(line[:len(line)-1])
			}
		}
	}
	f.lines = append(f.lines, c.Assemble(nil, gatewayMember("gw-1"), fmt.Appendf(nil,
		`,"type":"event","time":"2026-11-25T12:00:00.000000000Z","event":"audit.removed","attrs":{"files":"1","hash":"%s","to":"%d"}`,
		hash, through), nil))
}

// rehash makes the chain fit again.
func rehash(files []*fileOf) {
	sum := chain.NewSummer()
	var before chain.Link
	for _, f := range files {
		for i, line := range f.lines {
			body, old, _ := chain.CutHash(line[:len(line)-1])
			body = bytes.Clone(body)
			if k := bytes.LastIndex(body, []byte(`,"segment":`)); k >= 0 && !before.IsZero() {
				if h := bytes.LastIndex(body, []byte(`"hash":"`)); h > k {
					copy(body[h+len(`"hash":"`):], before[:])
				}
			}
			_ = old
			before = sum.Link(before, body)
			f.lines[i] = append(append(append(body, hashPrefix...), before[:]...), hashSuffix+"\n"...)
		}
	}
}

func some(t *rapid.T, files []*fileOf) *fileOf {
	return files[rapid.IntRange(0, len(files)-1).Draw(t, "file")]
}

// place draws a line.
func place(t *rapid.T, files []*fileOf) (*fileOf, int) {
	f := some(t, files)
	return f, rapid.IntRange(0, len(f.lines)-1).Draw(t, "line")
}

// TestVerifyFindsDamage does one thing to a log, and wants it found and named.
func TestVerifyFindsDamage(t *testing.T) {
	testenv.Long(t, "a log is verified once for each kind of damage")
	t.Parallel()
	original, ring := specimen(t)
	head, err := os.ReadFile(filepath.Join(original, chain.HeadFile))
	if err != nil {
		t.Fatal(err)
	}
	kinds := slices.Sorted(maps.Keys(damages))
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "") //nolint:usetesting // one for each draw
		if err != nil {
			r.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		files := filesOf(t, original)
		for _, f := range files {
			f.path = filepath.Join(dir, filepath.Base(f.path))
			f.write(r)
		}
		if err := os.WriteFile(filepath.Join(dir, chain.HeadFile), head, 0o600); err != nil {
			r.Fatal(err)
		}
		want := damages[rapid.SampledFrom(kinds).Draw(r, "what")](r, files)
		for _, f := range files {
			if f.path != os.DevNull {
				f.write(r)
			}
		}
		if want.kinds == nil {
			return
		}
		report, err := Verify(t.Context(), reader.Source{Path: dir}, Check{Keys: ring.JWKS()})
		if err != nil {
			r.Fatal(err)
		}
		if !slices.ContainsFunc(report.Findings, func(f Finding) bool {
			return slices.Contains(want.kinds, f.Kind) && (want.from == 0 || f.From == 0 || f.From <= want.to+1 && f.To+1 >= want.from)
		}) {
			r.Fatalf("want %+v, found %s", want, said(report))
		}
	})
}

// TestVerifyFindsOtherNumbers changes the number of a record that begins or ends a file, to
// one that another has, that none has, and that is none.
func TestVerifyFindsOtherNumbers(t *testing.T) {
	testenv.Long(t, "a log is verified once for each change that can be made to it")
	t.Parallel()
	dir, ring := specimen(t)
	files, seq := filesOf(t, dir), uint64(0)
	for n, f := range files {
		for i, line := range f.lines {
			seq++
			if within := i > 0 && i < len(f.lines)-1; within {
				continue
			}
			changed := Finding{Kind: kindChanged, Segment: filepath.Base(f.path), Line: i + 1, From: seq, To: seq}
			none := Finding{Kind: kindChanged, Segment: changed.Segment, Line: i + 1, Text: "it is no record"}
			for at := len(chain.SeqPrefix); line[at] != ','; at++ {
				old := line[at]
				for _, b := range []byte("0123456789,") {
					if line[at] = b; b == old {
						continue
					}
					if err := os.WriteFile(f.path, slices.Concat(f.lines...), 0o600); err != nil {
						t.Fatal(err)
					}
					r := verified(t, dir, Check{Keys: ring.JWKS()})
					if !slices.ContainsFunc(r.Findings, func(f Finding) bool {
						if f == none {
							return true
						}
						f.Text = ""
						return f == changed
					}) {
						t.Errorf("file %d, record %d as %s: %s", n+1, seq, line[:len(chain.SeqPrefix)+4], said(r))
					}
				}
				line[at] = old
			}
		}
		if err := os.WriteFile(f.path, slices.Concat(f.lines...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func said(r *Report) string {
	var all []string
	for _, f := range r.Findings {
		all = append(all, f.String()+" ["+strconv.FormatUint(f.From, 10)+"-"+strconv.FormatUint(f.To, 10)+"]")
	}
	return strings.Join(all, "\n")
}
