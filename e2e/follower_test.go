package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// follower is a client of one task's stream that keeps account of what it was told. The
// task's chunks are numbered, so that one lost, told twice or out of turn is seen at once.
type follower struct {
	where  func() *caller // the gateway, as long as it is the same
	task   string
	sends  string // the messageId with which it begins the task; "" for one that subscribes
	leaves int    // it goes and comes back after so many events; 0 for never
	total  int    // chunks of the task

	first chan struct{} // closed when it has been told something
	once  sync.Once

	last   string // id of the event it had last
	had    int    // chunks
	over   bool
	whole  bool     // the task as a whole is what comes now
	gaps   int      // tasks shown in the place of what it missed
	older  int      // tasks shown that had less than it knew of, when it came without an id
	ends   []string // what its streams ended with that ended early
	events int
	wrong  error
	heard  func(chunk string) // may be nil
}

// follow has the follower listen until the task is over.
func (f *follower) follow(ctx context.Context) {
	for !f.over && f.wrong == nil {
		if ctx.Err() != nil {
			f.wrong = fmt.Errorf("it has had %d of %d when time is up, its streams ended with %q", f.had, f.total, f.ends)
			return
		}
		if err := f.listen(ctx); err != nil {
			f.ends = append(f.ends, err.Error())
			time.Sleep(50 * time.Millisecond)
		}
	}
	if f.wrong == nil && f.had != f.total {
		f.wrong = fmt.Errorf("it has had %d of %d", f.had, f.total)
	}
}

// listen follows one stream; an error says that it has ended too early.
func (f *follower) listen(ctx context.Context) error {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	method, params, last := "SubscribeToTask", fmt.Sprintf(`{"id":%q}`, f.task), []string(nil)
	if f.sends != "" && f.events == 0 {
		method, params = "SendStreamingMessage", fmt.Sprintf(message, f.sends)
	}
	if f.whole = f.last == ""; !f.whole {
		last = []string{f.last}
	}
	resp, err := f.where().do(ctx, method, "f", params, last...)
	if err != nil {
		return errors.New("not reached")
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	lines, id, given, data := bufio.NewScanner(resp.Body), "", false, ""
	lines.Buffer(nil, 4<<20)
	for n := 0; lines.Scan(); {
		line := lines.Text()
		if rest, ok := strings.CutPrefix(line, "id:"); ok {
			id, given = strings.TrimPrefix(rest, " "), true // "" has it forget the one it has
		}
		if rest, ok := strings.CutPrefix(line, "data: "); ok {
			data = rest
		}
		if line != "" || data == "" {
			continue
		}
		if err := f.take(data); err != nil || f.over || f.wrong != nil {
			return err
		}
		if data = ""; given {
			f.last, given = id, false
		}
		if n++; n == f.leaves {
			return nil
		}
	}
	return errors.Join(errors.New("cut off"), lines.Err())
}

// told is what a follower reads of an event.
type told struct {
	Result struct {
		Task *struct {
			Status    struct{ State string }
			Artifacts []chunks
		}
		StatusUpdate   *struct{ Status struct{ State string } }
		ArtifactUpdate *struct{ Artifact chunks }
	}
	Error *struct {
		Code    int
		Message string
	}
}

// chunks are an artifact: words that begin with their number.
type chunks struct{ Parts []struct{ Text string } }

// take adds an event. An error is one that the stream was ended with.
func (f *follower) take(data string) error {
	var e told
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		f.wrong = err
		return nil
	}
	switch r := e.Result; {
	case e.Error != nil:
		return fmt.Errorf("error %d %s", e.Error.Code, e.Error.Message)
	case r.Task != nil:
		if !f.whole {
			f.gaps++
		}
		had := f.had
		f.had = 0
		for _, a := range r.Task.Artifacts {
			f.add(a, had)
		}
		if f.had < had && f.whole {
			f.older++
		} else if f.had < had && f.wrong == nil {
			f.wrong = fmt.Errorf("it has had %d, and is shown a task of %d", had, f.had)
		}
		f.over = r.Task.Status.State == "TASK_STATE_COMPLETED"
	case r.StatusUpdate != nil:
		f.over = r.StatusUpdate.Status.State == "TASK_STATE_COMPLETED"
	case r.ArtifactUpdate != nil:
		f.add(r.ArtifactUpdate.Artifact, f.had)
	}
	f.whole = false
	f.events++
	f.once.Do(func() { close(f.first) })
	return nil
}

// add takes chunks, of which those below old are not new.
func (f *follower) add(a chunks, old int) {
	for _, p := range a.Parts {
		for _, word := range strings.Fields(p.Text) {
			number, _, _ := strings.Cut(word, "@")
			if number != strconv.Itoa(f.had) && f.wrong == nil {
				f.wrong = fmt.Errorf("event %d has chunk %s where %d is due", f.events+1, number, f.had)
			}
			if f.had++; f.had > old && f.heard != nil {
				f.heard(word)
			}
		}
	}
}

// audience is all followers of some tasks.
type audience struct {
	t    *testing.T
	all  []*follower
	done sync.WaitGroup
	stop context.CancelFunc
	// It comes by several gateways. One that follows another knows of events a moment later,
	// so that who comes without an id may be shown a task that is as much older.
	lags bool
}

// attend has tasks of a sample begun, each with followers: one that sends, some that
// subscribe once the task is there, and some that go and come back again and again. heard
// is told of every new chunk that anybody gets; it may be nil.
func attend(t *testing.T, s *sample, where func() *caller, tasks, subscribers, returning int, heard func(chunk string)) *audience {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Duration(s.events)*s.every+2*time.Minute)
	a := &audience{t: t, stop: stop}
	t.Cleanup(stop)
	for range tasks {
		id := fmt.Sprintf("m%d", s.begun)
		s.begun++
		begin := func(sends string, leaves int) *follower {
			f := &follower{
				where: where, task: s.name + "-" + id, sends: sends, leaves: leaves, total: s.events,
				first: make(chan struct{}), heard: heard,
			}
			a.all = append(a.all, f)
			a.done.Go(func() { f.follow(ctx) })
			return f
		}
		select {
		case <-begin(id, 0).first:
		case <-ctx.Done():
			t.Fatal("no task begins")
		}
		for range subscribers {
			begin("", 0)
		}
		for i := range returning {
			begin("", 7+5*i)
		}
	}
	for _, f := range a.all {
		select {
		case <-f.first:
		case <-ctx.Done():
			t.Fatal("a follower is told nothing")
		}
	}
	return a
}

// missed are the tasks of which somebody was shown one in the place of events. Where a
// follower starts over, others see that in their own streams, which had no gap, so that each
// of these tasks has a gap on record and not each follower. It is asked once all are over.
func (a *audience) missed() (tasks []string) {
	for _, f := range a.all {
		if f.gaps > 0 && !slices.Contains(tasks, f.task) {
			tasks = append(tasks, f.task)
		}
	}
	return tasks
}

// ends waits until all tasks are over, and reports what followers found wrong; then how
// many gaps they were told of, and how many streams ended early.
func (a *audience) ends() (gaps, ends int) {
	a.t.Helper()
	a.done.Wait()
	defer a.stop()
	events, older, reasons := 0, 0, map[string]int{}
	for i, f := range a.all {
		if f.wrong != nil {
			a.t.Errorf("follower %d of %s (comes back after %d): %v", i, f.task, f.leaves, f.wrong)
		}
		if f.older > 0 && !a.lags {
			a.t.Errorf("follower %d of %s was shown %d tasks that had less than it knew of", i, f.task, f.older)
		}
		gaps, ends, events, older = gaps+f.gaps, ends+len(f.ends), events+f.events, older+f.older
		for _, e := range f.ends {
			reasons[strings.ReplaceAll(e, "\n", ": ")]++
		}
	}
	a.t.Logf("%d followers had %d events; %d gaps; %d older tasks; %d streams ended early: %v", len(a.all), events, gaps, older, ends, reasons)
	return gaps, ends
}

// recorded counts the audit records of a data directory that have all of the marks.
func recorded(t *testing.T, data string, marks ...string) (n int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(data, "audit", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no audit segments below %s: %v", data, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
	records:
		for line := range strings.Lines(string(text)) {
			for _, mark := range marks {
				if !strings.Contains(line, mark) {
					continue records
				}
			}
			n++
		}
	}
	return n
}
