package audit

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/audit/segment"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// TestForgedRemoval: who has no key cannot have older files pass for removed by retention,
// neither before the gateway starts again nor when it has signed what was put there.
func TestForgedRemoval(t *testing.T) {
	t.Parallel()
	for what, forge := range map[string]func(t *testing.T, dir string, files []*fileOf) (gone int){
		"a line at the end": func(_ *testing.T, _ string, files []*fileOf) int {
			forgeRemoval(files, files[3].seq(0)-1)
			return 3
		},
		"of more than is gone": func(_ *testing.T, _ string, files []*fileOf) int {
			forgeRemoval(files, 1000)
			return 3
		},
		"and a checkpoint by another key": func(t *testing.T, dir string, files []*fileOf) int {
			forgeRemoval(files, files[3].seq(0)-1)
			forgeCheckpoint(t, dir, files[4])
			return 3
		},
		"and nothing left that was signed": func(t *testing.T, dir string, files []*fileOf) int {
			last := files[4]
			last.lines = slices.DeleteFunc(last.lines, func(l []byte) bool { return bytes.Contains(l, []byte(`"checkpoint"`)) })
			renumber(last)
			forgeRemoval(files, last.seq(0)-1)
			forgeCheckpoint(t, dir, last)
			return 4
		},
		"and a file that comes after none": func(t *testing.T, dir string, files []*fileOf) int {
			last := files[4]
			last.lines = slices.DeleteFunc(last.lines, func(l []byte) bool { return bytes.Contains(l, []byte(`"checkpoint"`)) })
			line := last.lines[0]
			at := bytes.Index(line, []byte(`","after":`))
			last.lines[0] = fmt.Appendf(nil, `%s"}%s`, line[:at], line[len(line)-1-hashSize:])
			renumber(last)
			forgeCheckpoint(t, dir, last)
			return 4
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			dir, ring := specimen(t)
			known := filepath.Join(t.TempDir(), "head")
			copyTo(t, filepath.Join(dir, chain.HeadFile), known)
			files := filesOf(t, dir)
			gone := forge(t, dir, files)
			for i, f := range files {
				if err := os.WriteFile(f.path, bytes.Join(f.lines, nil), 0o600); err != nil {
					t.Fatal(err)
				}
				if i < gone {
					if err := os.Remove(f.path); err != nil {
						t.Fatal(err)
					}
				}
			}
			missed := func(when string) {
				t.Helper()
				for _, head := range []string{"", known} {
					r := verified(t, dir, Check{Keys: ring.JWKS(), Head: head})
					if k := kindsOf(r); !strings.Contains(k, kindMissingSegment) && !strings.Contains(k, kindMissing) || r.Removed > 0 {
						t.Errorf("%s, with head %q: removed %d, found %s", when, head, r.Removed, said(r))
					}
				}
			}
			missed("before the start")
			d := newFakeDisk()
			d.clock = time.Date(2026, 11, 25, 13, 0, 0, 0, time.UTC)
			for range 2 {
				l := signedBy(t, Config{Dir: dir, Checkpoint: Checkpoint{Every: 10}}, d, ring)
				if err := errors.Join(l.Intent(exchange("later")), l.Close()); err != nil {
					t.Fatal(err)
				}
				missed("after a start")
			}
		})
	}
}

// TestForgedBeginning: records without hashes, as there were before the chain, do not take
// the place of a log of which a checkpoint is known.
func TestForgedBeginning(t *testing.T) {
	t.Parallel()
	dir, ring := specimen(t)
	known := filepath.Join(t.TempDir(), "head")
	copyTo(t, filepath.Join(dir, chain.HeadFile), known)
	for _, f := range filesOf(t, dir) {
		if err := os.Remove(f.path); err != nil {
			t.Fatal(err)
		}
	}
	d := newFakeDisk()
	forged := `{"seq":500,"v":1,"type":"intent","time":"2026-11-20T12:00:00.000000000Z"}` + "\n"
	if err := os.WriteFile(segment.Name{Day: "2026-11-20"}.Path(dir), []byte(forged), 0o600); err != nil {
		t.Fatal(err)
	}
	l := signedBy(t, Config{Dir: dir}, d, ring)
	if err := errors.Join(l.Intent(exchange("later")), l.Close()); err != nil {
		t.Fatal(err)
	}
	if r := verified(t, dir, Check{Keys: ring.JWKS(), Head: known}); kindsOf(r) != kindMissing {
		t.Errorf("found %s", said(r))
	}
	if r := verified(t, dir, Check{Keys: ring.JWKS()}); len(r.Findings) > 0 || r.Unchained != 1 {
		t.Errorf("with no other head: %+v", r)
	}
}

// renumber makes the chain of one file fit again, from its first record on.
func renumber(f *fileOf) {
	seq := f.seq(0)
	for i, line := range f.lines {
		_, rest, _ := bytes.Cut(line, []byte(chain.VersionPrefix))
		f.lines[i] = fmt.Appendf(nil, "%s%d%s%s", chain.SeqPrefix, seq+uint64(i), chain.VersionPrefix, rest) //nolint:gosec // small
	}
	sum, c := chain.NewSummer(), claimOf(f.lines[0][:len(f.lines[0])-1-hashSize])
	var before chain.Link
	copy(before[:], c.Hash)
	for i, line := range f.lines {
		body, _, _ := chain.CutHash(line[:len(line)-1])
		before = sum.Link(before, body)
		f.lines[i] = fmt.Appendf(nil, "%s%s%s%s\n", body, hashPrefix, before, hashSuffix)
	}
}

// forgeCheckpoint appends a checkpoint by a key of somebody else's, and writes a head of it.
func forgeCheckpoint(t *testing.T, dir string, f *fileOf) {
	t.Helper()
	l, _ := signedLog(t, Config{Dir: t.TempDir()}, newFakeDisk())
	last := f.lines[len(f.lines)-1]
	c := chain.Chain{Segment: filepath.Base(f.path)}
	c.Seq, _ = chain.LastSeq(last)
	_, c.Hash, _ = chain.CutHash(last[:len(last)-1])
	members, jws, err := l.signer.members(&c, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	f.lines = append(f.lines, c.Assemble(nil, gatewayMember("gw-1"), members, nil))
	if err := chain.WriteHead(dir, &chain.Head{Segment: c.Segment, Seq: c.Seq, Hash: c.Hash.String(), Checkpoint: jws}); err != nil {
		t.Fatal(err)
	}
}

func copyTo(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestRemovalInterrupted: killed between the record of a removal and its checkpoint, the
// gateway has removed nothing. The next one takes the record back, and removes with another.
func TestRemovalInterrupted(t *testing.T) {
	t.Parallel()
	dir, killed := t.TempDir(), t.TempDir()
	d := newFakeDisk()
	config := Config{Dir: dir, Retention: Retention{Age: quantity.Duration(36 * time.Hour)}}
	l, ring := signedLog(t, config, d)
	days(t, l, d, 4, 10)
	if err := l.Event(eventRemoved, map[string]string{"files": "2", "to": "30", "hash": "00"}); err != nil {
		t.Fatal(err)
	}
	for _, f := range filesOf(t, dir) {
		copyTo(t, f.path, filepath.Join(killed, filepath.Base(f.path)))
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	config.Dir = killed
	if r := verified(t, killed, Check{Keys: ring.JWKS(), Head: NoHead}); len(r.Findings) > 0 {
		t.Errorf("killed: %s", said(r))
	}
	l = signedBy(t, config, d, ring)
	l.tidyNow()
	if got := fmt.Sprint(formsIn(t, killed)); got != "[23 24 25]" {
		t.Errorf("left %s", got)
	}
	holds(t, config, ring, false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	holds(t, config, ring, false)
	if n := strings.Count(strings.Join(lines(t, killed), ""), `"`+eventDistrusted+`"`); n != 1 {
		t.Errorf("%d records take something back", n)
	}
}

// TestDistrustFarBack: the last checkpoint is found where many records are behind it, and what
// is before it is trusted. Where it is too far away, nothing is.
func TestDistrustFarBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, ring := signedLog(t, Config{Dir: dir, Checkpoint: Checkpoint{Every: 1 << 30, Interval: quantity.Duration(time.Hour)}}, newFakeDisk())
	if err := l.Event(eventRemoved, map[string]string{"files": "1", "to": "1"}); err != nil {
		t.Fatal(err)
	}
	l.sealNow()
	e := exchange("x")
	e.Path = strings.Repeat("x", 250)
	for l.segments.size < closeToEnd+(1<<20) {
		if err := l.Call(e); err != nil {
			t.Fatal(err)
		}
	}
	if s := unsignedRemovals(l.config.Source(), ring.JWKS(), l.Seq()); s != nil {
		t.Errorf("distrusts %+v", *s)
	}
	b := backwards{source: reader.Source{Path: dir}, left: 1 << 20}
	if err := b.segment(l.segments.name); !errors.Is(err, errTooFar) || b.signed != 0 {
		t.Errorf("signed %d, %v", b.signed, err)
	}
	if err := l.Event(eventRemoved, map[string]string{"files": "1", "to": "1"}); err != nil {
		t.Fatal(err)
	}
	if s := unsignedRemovals(l.config.Source(), ring.JWKS(), l.Seq()); s == nil || s.from != 2 || s.to != l.Seq() {
		t.Errorf("distrusts %+v", s)
	}
}

// TestDistrustComesFirst: as long as it cannot be recorded, nothing is signed.
func TestDistrustComesFirst(t *testing.T) {
	t.Parallel()
	dir, ring := specimen(t)
	files := filesOf(t, dir)
	forgeRemoval(files, 1)
	if err := os.WriteFile(files[4].path, bytes.Join(files[4].lines, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	d := newFakeDisk()
	d.clock, d.space = time.Date(2026, 11, 25, 13, 0, 0, 0, time.UTC), 0
	l := signedBy(t, Config{Dir: dir, Checkpoint: Checkpoint{Every: 10}}, d, ring)
	signed := verified(t, dir, Check{}).Signed
	d.set(func() { d.space = -1 })
	for i := range 12 {
		if err := l.Intent(exchange(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	l.sealNow()
	if r := verified(t, dir, Check{Head: NoHead}); r.Signed != signed {
		t.Errorf("signed up to %d, and before %d", r.Signed, signed)
	}
	l.recordDistrust()
	l.sealNow()
	if r := verified(t, dir, Check{Head: NoHead}); r.Signed != r.To-1 {
		t.Errorf("signed up to %d of %d", r.Signed, r.To)
	}
}

// TestUnsignedRemovesNothing: without keys, and when they fail, files stay.
func TestUnsignedRemovesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := newFakeDisk()
	config := Config{Dir: dir, Retention: Retention{Age: quantity.Duration(36 * time.Hour)}}
	l := opened(t, config, d)
	days(t, l, d, 4, 10)
	l.tidyNow()
	l.SignWith(noKeys{})
	l.tidyNow()
	if got := fmt.Sprint(formsIn(t, dir)); got != "[21 22 23 24]" && got != "[21 22 23 24 25]" {
		t.Errorf("left %s", got)
	}
}

// noKeys cannot sign.
type noKeys struct{}

func (noKeys) Sign(string, []byte) (string, error) { return "", errors.New("there is no key") }
func (noKeys) JWKS() []byte                        { return []byte(`{"keys":[]}`) }
