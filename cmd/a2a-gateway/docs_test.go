package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/postgres/postgrestest"
	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// TestTutorials does what docs/tutorials says, page by page: files are written, commands run
// by a shell, and what they print is what the page shows. How blocks are read is said in
// docs/tutorials/README.md.
func TestTutorials(t *testing.T) {
	t.Parallel()
	followPages(t, "../../docs/tutorials/*.md", 3)
}

// TestRecipes does what docs/recipes says, in the same way. Pages without a terminal are about
// systems of others: what they show of the gateway has a test of its own.
func TestRecipes(t *testing.T) {
	t.Parallel()
	followPages(t, "../../docs/recipes/*.md", 6)
}

// followPages does what each page says, as somebody in an empty directory; there are least of them.
func followPages(t *testing.T, pattern string, least int) {
	t.Helper()
	pages, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	pages = slices.DeleteFunc(pages, func(path string) bool { return filepath.Base(path) == "kagent.md" }) // TestRecipeKagent
	ran := 0
	for _, path := range pages {
		name := strings.TrimSuffix(filepath.Base(path), ".md")
		blocks := blocksOf(t, path)
		if !slices.ContainsFunc(blocks, func(b fence) bool { return b.info == "terminal" }) {
			continue
		}
		ran++
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, program := range []string{"curl", "jq", "openssl", "psql", "redis-server", "haproxy"} {
				if _, err := exec.LookPath(program); err != nil && uses(blocks, program) {
					testenv.Missing(t, "the commands need %s: %v", program, err)
				}
			}
			r := newReader(t)
			if uses(blocks, "psql") {
				t.Cleanup(postgrestest.New(t, t.TempDir(), r.ports["5432"]).End)
			}
			for _, b := range blocks {
				r.follow(b)
			}
			r.interruptAll()
		})
	}
	if ran < least {
		t.Errorf("%d pages: is the test looking in the right place?", ran)
	}
}

// uses reports whether commands of a page start a program.
func uses(blocks []fence, program string) bool {
	return slices.ContainsFunc(blocks, func(b fence) bool {
		return b.lang == "sh" && strings.Contains(b.text, program+" ")
	})
}

// fence is a fenced block of a document.
type fence struct {
	page   string
	line   int
	lang   string
	info   string // behind the language
	text   string
	before string // the last line of text before it

	section string // the heading of the second level that it is below
}

func (f fence) String() string { return fmt.Sprintf("%s:%d: ```%s %s", f.page, f.line, f.lang, f.info) }

// blocksOf reads the fenced blocks of a page.
func blocksOf(t *testing.T, path string) []fence {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var blocks []fence
	var open *fence
	var body strings.Builder
	before, section := "", ""
	for i, line := range strings.Split(string(text), "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case open == nil && strings.HasPrefix(trimmed, "```"):
			lang, info, _ := strings.Cut(strings.TrimPrefix(trimmed, "```"), " ")
			open = &fence{page: filepath.Base(path), line: i + 1, lang: lang, info: info, before: before, section: section}
			body.Reset()
		case open != nil && trimmed == "```":
			open.text = body.String()
			blocks = append(blocks, *open)
			open, before = nil, ""
		case open != nil:
			body.WriteString(line + "\n")
		case trimmed != "":
			before = trimmed
			if heading, ok := strings.CutPrefix(line, "## "); ok {
				section = heading
			}
		}
	}
	if open != nil {
		t.Fatalf("%v is not closed", open)
	}
	return blocks
}

// reader does what a page says, as somebody who copies every block would.
type reader struct {
	t         *testing.T
	dir       string
	ports     map[string]string // of the page → free here
	shows     string            // what the last command printed
	ended     bool              // there is such a command, and nobody has looked yet
	terminals []*terminal       // running
	seen      int               // of what the last one has printed, when the block before was done
}

// terminal is a window in which a program goes on running.
type terminal struct {
	cmd  *exec.Cmd
	done chan error

	mu  sync.Mutex // guards out
	out bytes.Buffer
}

func (w *terminal) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(p)
}

func (w *terminal) printed() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.String()
}

// newReader has an empty directory, and the ports that pages use are free ones.
func newReader(t *testing.T) *reader {
	r := &reader{t: t, dir: t.TempDir(), ports: map[string]string{}}
	for _, port := range []string{"8080", "8081", "8082", "9000", "9001", "9002", "9901", "9902", "9903", "9904", "5432", "6379"} {
		_, free, ok := strings.Cut(gatewaytest.FreeAddress(), ":")
		if !ok {
			t.Fatal("there is no free port")
		}
		r.ports[port] = free
	}
	t.Cleanup(func() {
		for _, w := range r.terminals {
			_ = w.cmd.Process.Kill()
			<-w.done
		}
	})
	return r
}

var pagePort = regexp.MustCompile(`\b(127\.0\.0\.1:|localhost:|127\.0\.0\.1 --port )(\d{4})\b`)

// unsaid are commands with ports of their own, which the page does not say.
var unsaid = strings.NewReplacer(
	"a2a-gateway demo billing\n", "a2a-gateway demo billing --address 127.0.0.1:9001\n",
	"a2a-gateway demo weather\n", "a2a-gateway demo weather --address 127.0.0.1:9002\n",
	"a2a-gateway demo issuer\n", "a2a-gateway demo issuer --address 127.0.0.1:9000\n",
	"a2a-gateway init ", "a2a-gateway init --address 127.0.0.1:8080 ",
)

// here is a text of the page with the ports of here.
func (r *reader) here(text string) string {
	text = unsaid.Replace(text)
	return pagePort.ReplaceAllStringFunc(text, func(s string) string {
		host, port := s[:len(s)-4], s[len(s)-4:]
		if free, ok := r.ports[port]; ok {
			return host + free
		}
		r.t.Errorf("%s: this port may be anybody's; the tutorials have %v", s, r.ports)
		return s
	})
}

// follow does what one block says.
func (r *reader) follow(b fence) {
	r.t.Helper()
	text := r.here(b.text)
	word, value, _ := strings.Cut(b.info, "=")
	switch {
	case b.lang == "text" && b.info == "":
		r.compare(b, text)
	case b.lang == "text" && b.info == "interrupt":
		r.interrupt(b)
		r.await(b, text)
	case b.lang == "sh" && b.info == "terminal":
		r.start(text)
	case b.lang == "sh" && (b.info == "" || word == "exit"):
		r.run(b, text, value)
	case b.lang == "yaml" && b.info != "", b.lang == "text" && strings.HasSuffix(b.info, ".cfg"):
		r.write(b.info, text)
	default:
		r.t.Fatalf("%v: nobody knows what to do with this", b)
	}
}

// write does what an editor does. A gateway that watches the file finds it whole.
func (r *reader) write(name, text string) {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	r.look()
	if err := errors.Join(os.WriteFile(path+".new", []byte(text), 0o600), os.Rename(path+".new", path)); err != nil {
		r.t.Fatal(err)
	}
}

// look is where the last terminal is by now: what follows is what comes.
func (r *reader) look() {
	r.ended, r.seen = false, 0
	if n := len(r.terminals); n > 0 {
		r.seen = len(r.terminals[n-1].printed())
	}
}

func (r *reader) command(script string) *exec.Cmd {
	cmd := exec.CommandContext(r.t.Context(), "sh", "-c", script)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "HOME="+r.dir, "XDG_STATE_HOME="+filepath.Join(r.dir, ".state"))
	return cmd
}

// run has a shell of its own do each block, and carries the variables over. A command that
// fails ends it.
func (r *reader) run(b fence, script, status string) {
	r.t.Helper()
	const kept = "set -a; test ! -e .shell || . ./.shell; trap 'status=$?; export -p > .shell; exit $status' EXIT; set -e\n"
	cmd := r.command(kept + script)
	hangs := time.AfterFunc(4*patience, func() { _ = cmd.Process.Kill() })
	defer hangs.Stop()
	out, err := cmd.CombinedOutput()
	r.shows, r.ended = string(out), true
	got := "0"
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = strconv.Itoa(exit.ExitCode())
	} else if err != nil {
		r.t.Fatalf("%v: %v", b, err)
	}
	if got != cmp.Or(status, "0") {
		r.t.Fatalf("%v: exit %s\n%s%s", b, got, out, r.windows())
	}
}

// start opens a terminal for a program.
func (r *reader) start(script string) {
	r.t.Helper()
	w := &terminal{done: make(chan error, 1), cmd: r.command("exec " + script)}
	w.cmd.Stdout, w.cmd.Stderr = w, w
	if err := w.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	go func() { w.done <- w.cmd.Wait() }()
	r.terminals = append(r.terminals, w)
	r.ended, r.seen = false, 0
}

// compare holds what was printed to what the page shows.
func (r *reader) compare(b fence, text string) {
	r.t.Helper()
	if !r.ended {
		r.await(b, text)
		return
	}
	r.ended = false
	if !regexp.MustCompile(`^` + pattern(text) + `$`).MatchString(strings.TrimSuffix(r.shows, "\n") + "\n") {
		r.t.Errorf("%v\n%s\nbut there was printed\n%s%s", b, text, r.shows, r.windows())
	}
}

// await waits until the last terminal has printed these lines, with others between them.
func (r *reader) await(b fence, text string) {
	r.t.Helper()
	if len(r.terminals) == 0 {
		r.t.Fatalf("%v: nothing has printed it", b)
	}
	w := r.terminals[len(r.terminals)-1]
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, pattern(line))
	}
	want := regexp.MustCompile(`(?s)` + strings.Join(lines, `(?:.*\n)?`))
	if !eventually(4*patience, func() bool { return want.MatchString(w.printed()[r.seen:]) }) {
		r.t.Fatalf("%v\n%s\ndid not come%s", b, text, r.windows())
	}
}

// pattern makes a pattern of what a page shows: … stands for anything on its line, and alone
// on a line for any lines.
func pattern(text string) string {
	var p strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "…" {
			p.WriteString(`(?:[^\n]*\n)*`)
			continue
		}
		p.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), "…", `[^\n]*`))
	}
	return p.String()
}

// interrupt presses ^C in the last terminal, whose program has to end well.
func (r *reader) interrupt(b fence) {
	r.t.Helper()
	if len(r.terminals) == 0 {
		r.t.Fatalf("%v: there is nothing to interrupt", b)
	}
	r.look()
	w := r.terminals[len(r.terminals)-1]
	if err := w.cmd.Process.Signal(syscall.SIGINT); err != nil {
		r.t.Fatalf("%v: %v", b, err)
	}
	r.end(w)
	// It stays there to be looked at, but is not ended again.
	w.done <- nil
}

func (r *reader) end(w *terminal) {
	r.t.Helper()
	select {
	case err := <-w.done:
		if err != nil && !(interrupted(err) && !strings.Contains(w.cmd.Args[2], "a2a-gateway")) {
			r.t.Errorf("%v: %v\n%s", w.cmd.Args, err, w.printed())
		}
	case <-time.After(4 * patience):
		r.t.Errorf("%v did not end\n%s", w.cmd.Args, w.printed())
	}
}

// interrupted reports whether a program died of ^C, as programs of others may.
func interrupted(err error) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGINT
}

// interruptAll ends whatever still runs, the last first.
func (r *reader) interruptAll() {
	for n := len(r.terminals); n > 0; n-- {
		w := r.terminals[n-1]
		_ = w.cmd.Process.Signal(syscall.SIGINT) // it may have ended
		r.end(w)
		r.terminals = r.terminals[:n-1]
	}
}

// windows is what the terminals show, for whoever reads a failure.
func (r *reader) windows() string {
	var all strings.Builder
	for _, w := range r.terminals {
		fmt.Fprintf(&all, "\n$ %s\n%s", strings.TrimPrefix(w.cmd.Args[2], "exec "), w.printed())
	}
	return all.String()
}
