package audit

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/audit/segment"
	"github.com/a2a-gateway/a2a-gateway/audit/vault"
)

// Check is what a verification goes by.
type Check struct {
	// Keys is the JWK set of the keys whose signatures count. Without it signatures are
	// compared with the keys that stand beside them, which shows damage, but not forgery.
	Keys []byte
	// Head is a file with the last checkpoint that is known; default: audit.head in the
	// directory. A copy that was kept elsewhere proves more.
	Head string
	// Sealer opens captured content, to compare it with the digests in the records. Without
	// it, content is looked for only.
	Sealer vault.Sealer
	// NoContent says that there is no captured content beside the records, in a copy of them.
	NoContent bool
	// Interval is how often a checkpoint is due; default 10s.
	Interval time.Duration
	// From and To choose segments by their days; zero times choose all. Of the first segment behind
	// them the records up to its first checkpoint are read too, since they say what the last of
	// these days ended with.
	From, To time.Time
	// Progress is told now and then how many lines have been verified; nil: nobody is.
	Progress func(lines int)
}

// defaultInterval is how often a checkpoint is due unless the configuration says otherwise.
const defaultInterval = 10 * time.Second

// NoHead is the value of Check.Head for a log whose end is not to be looked at.
const NoHead = "none"

// Verify reads a log, also one that is being written to, and reports whether it is what
// the gateway wrote. The error is about what could not be read; what is wrong with the
// log is in the report.
// It is for auditors: `a2a-gateway audit verify`, and a button of the console. It needs no running
// gateway, and of secrets only what encrypted files and content are opened with. A log of a
// gigabyte takes a few seconds per processor, nearly all of it SHA-256.
//
// Findings are not errors: a log that was tampered with gives a report and a nil error.
func Verify(ctx context.Context, s reader.Source, c Check) (*Report, error) {
	v, err := newVerifier(s, c)
	if err != nil {
		return nil, fmt.Errorf("verify audit log: %w", err)
	}
	if err := v.read(ctx); err != nil {
		return nil, fmt.Errorf("verify audit log: %w", err)
	}
	return v.judge(), nil
}

// verifier is a verification under way. The files are read by one goroutine, in blocks of
// whole lines; since each line holds its own hash, blocks are verified by as many others
// as there are processors; what they find is put together in the order of the files.
type verifier struct {
	source   reader.Source
	head     *chain.Head // nil without one
	headPath string
	keys     keySet
	segments []*scanned
	days     period
	cut      struct{ before, after bool } // there are segments that were not chosen
	removed  []removal                    // by what later records say that were not verified
	now      time.Time
	interval time.Duration
	progress func(lines int) // nil: nobody is told

	shelf   *vault.Shelf // nil: content is not looked for
	held    held
	told    int64 // the place in the log of erasures up to which records had them before
	pending []erasure
}

// scanned is what is known of a file.
type scanned struct {
	name  segment.Name
	later bool  // it is of a day after those that were asked for
	size  int64 // of what is whole
	torn  int64 // bytes behind that
	err   error // why it could not be read to its end

	passages []*passage
}

// newVerifier looks at what there is. The head is read first: the log may grow meanwhile,
// and the head with it. A head that is read too late would name records that were not there
// when the files were listed, and they would be missed.
func newVerifier(s reader.Source, c Check) (*verifier, error) {
	v := &verifier{source: s, headPath: c.Head, now: time.Now(), interval: cmp.Or(c.Interval, defaultInterval), progress: c.Progress}
	if !c.NoContent {
		v.shelf = &vault.Shelf{Reader: s.Held(c.Sealer)}
	}
	if v.headPath == "" {
		v.headPath = filepath.Join(s.Path, chain.HeadFile)
	}
	var err error
	if v.days, err = periodOf(c.From, c.To); err != nil {
		return nil, err
	}
	if v.shelf != nil {
		// Erasures behind this place may be in no record yet.
		if v.told, err = v.shelf.Place(); err != nil {
			return nil, err
		}
	}
	if v.headPath != NoHead {
		if v.head, err = chain.ReadHead(v.headPath); err != nil {
			return nil, err
		}
	}
	if c.Keys != nil {
		v.keys.trusted = &jose.JSONWebKeySet{}
		if err := json.Unmarshal(c.Keys, v.keys.trusted); err != nil || len(v.keys.trusted.Keys) == 0 {
			return nil, errors.New("there is no key in the JWK set")
		}
	}
	names, err := segment.List(s.Path)
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		if v.days.before(n.File()) {
			v.cut.before = true
			continue
		}
		v.segments = append(v.segments, &scanned{name: n, later: v.days.after(n)})
	}
	if len(names) == 0 && v.head == nil {
		return nil, fmt.Errorf("%s: there is no segment of an audit log (audit-YYYY-MM-DD.jsonl)", s.Path)
	}
	return v, nil
}

// job is a block of lines on its way.
type job struct {
	segment *scanned
	lines   []byte
	line    int            // number of the first in its file
	count   int            // of them
	before  chain.Previous // the line before it
	found   []*passage
	held    held
	done    chan struct{}
}

// read takes all segments apart. Blocks go to the workers in any order and come back in that
// of the files, by a second channel that has the same jobs: whoever puts them together waits
// for each in turn. Neither channel is long, so that a slow disk, a slow processor and a
// caller who gives up all stop the reading.
func (v *verifier) read(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	n := runtime.GOMAXPROCS(0)
	work, order := make(chan *job, n), make(chan *job, 2*n)
	buffers := &sync.Pool{New: func() any { return make([]byte, 4*segment.BlockSize) }}
	var workers sync.WaitGroup
	for range n {
		workers.Go(func() {
			c := combing{keys: &v.keys, sum: chain.NewSummer(), shelf: v.shelf, today: segment.DayOf(v.now)}
			for j := range work {
				j.found, j.held = c.comb(j)
				buffers.Put(j.lines[:cap(j.lines)]) //nolint:staticcheck // a block is large beside the header of its slice
				close(j.done)
			}
		})
	}
	go func() {
		defer close(order)
		defer close(work)
		for _, s := range v.segments {
			v.readSegment(ctx, s, buffers, func(j *job) { order <- j; work <- j })
			if s.later && s.size > 0 {
				break
			}
		}
	}()
	verified := 0
	for j := range order {
		<-j.done
		v.join(j)
		if verified += j.count; v.progress != nil {
			v.progress(verified)
		}
	}
	workers.Wait()
	for _, s := range v.segments {
		v.cut.after = v.cut.after || s.later && len(s.passages) > 0
		if s.err != nil && !errors.Is(s.err, segment.ErrChanged) {
			return fmt.Errorf("%s: %w", s.name.File(), s.err)
		}
	}
	return errors.Join(ctx.Err(), v.held.fault, v.readPending(), v.readRemoved(ctx))
}

// readSegment cuts a segment into jobs. Blocks end with lines, so that no worker needs another
// one's; what each must know of the line before its first is looked up here.
func (v *verifier) readSegment(ctx context.Context, s *scanned, buffers *sync.Pool, send func(*job)) {
	in, err := v.source.Dir().Open(s.name, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return // removed meanwhile, which others will notice if it was no right of the remover's
	}
	if err != nil {
		s.err = err
		return
	}
	defer func() { _ = in.Close() }() // only read from
	before, line := chain.Previous{First: true}, 1
	for ctx.Err() == nil {
		buf, _ := buffers.Get().([]byte)
		lines, err := in.Next(buf)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				s.err = err
			}
			break
		}
		n := len(lines)
		if s.later {
			n = throughCheckpoint(lines)
		}
		whole := n == len(lines)
		j := &job{segment: s, lines: lines[:n], line: line, before: before, done: make(chan struct{})}
		before, j.count = chain.LastOf(j.lines)
		line += j.count
		send(j) // and lines are the worker's
		if !whole {
			break
		}
	}
	s.size, s.torn = in.Offset(), in.Rest()
}

// throughCheckpoint is how many bytes of a block there are up to the end of its first checkpoint;
// all of them without one.
func throughCheckpoint(lines []byte) (n int) {
	for line := range bytes.Lines(lines) {
		n += len(line)
		if kindOf(line) == 'h' {
			break
		}
	}
	return n
}

// join puts the passages of a block behind those of the blocks before.
func (v *verifier) join(j *job) {
	found := j.found
	s := j.segment
	if !s.later { // whose content was not asked for
		v.held.add(j.held.Contents)
		v.held.fault = errors.Join(v.held.fault, j.held.fault)
		for _, a := range j.held.amiss {
			a.file = s.name.File()
			v.held.amiss = append(v.held.amiss, a)
		}
	}
	if len(s.passages) > 0 && len(found) > 0 && found[0].continues(s.passages[len(s.passages)-1]) {
		s.passages[len(s.passages)-1].extend(found[0])
		found = found[1:]
	}
	for _, p := range found {
		p.segment, p.end = s, s
	}
	s.passages = append(s.passages, found...)
}
