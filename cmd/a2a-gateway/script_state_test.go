package main

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
	_ "modernc.org/sqlite" // the database/sql driver
)

// cmdCrash ends the gateway as a power cut would: SIGKILL, and nothing is tidied up.
func cmdCrash(ts *testscript.TestScript, neg bool, _ []string) {
	noNeg(ts, neg)
	p := worldOf(ts).gateway
	p.ended = true
	p.w.client.idle()
	ts.Check(p.cmd.Process.Kill())
	<-p.exited
}

// cmdReplica starts a further `a2a-gateway serve` beside the first: replica NAME CONFIG.
// It sets $NAME. It is ended like the first.
func cmdReplica(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	if len(args) != 2 {
		ts.Fatalf("usage: replica NAME CONFIG")
	}
	w := worldOf(ts)
	first := w.gateway
	w.gateway = nil
	path := ts.MkAbs(args[1])
	p := w.start(ts, path, "serve", "-c", path)
	w.gateway, w.replicas = first, append(w.replicas, p)
	w.name(ts, envName(args[0]), p.url)
}

// cmdSQL has SQLite do a statement on a file, beside whoever uses it: sql FILE STATEMENT.
// Paths in the statement are relative to the script's directory.
func cmdSQL(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	if len(args) != 2 {
		ts.Fatalf("usage: sql FILE STATEMENT")
	}
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	defer db.Close() // nothing is left to write
	_, err = db.ExecContext(context.Background(), strings.Replace(args[1], "INTO '", "INTO '"+ts.MkAbs(".")+"/", 1))
	ts.Check(err)
}

// redisServer is a redis-server process that keeps its data in a directory of the script.
type redisServer struct {
	dir, address string
	cmd          *exec.Cmd
}

// cmdRedis starts a redis-server, or the one of before again: redis. It sets $REDIS, its
// address. "redis down" ends it.
func cmdRedis(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	w := worldOf(ts)
	if len(args) == 1 && args[0] == "down" {
		w.redis.end()
		return
	}
	if w.redis == nil {
		w.redis = &redisServer{dir: ts.MkAbs("."), address: gatewaytest.FreeAddress()}
		w.name(ts, "REDIS", w.redis.address)
	}
	ts.Check(w.redis.start())
}

// start returns when the server answers.
func (s *redisServer) start() error {
	_, port, _ := net.SplitHostPort(s.address)
	s.cmd = exec.Command("redis-server", "--bind", "127.0.0.1", "--port", port, //nolint:noctx // ended by end
		"--dir", s.dir, "--save", "", "--appendonly", "yes", "--appendfsync", "always")
	var said strings.Builder
	s.cmd.Stdout, s.cmd.Stderr = &said, &said
	if err := s.cmd.Start(); err != nil {
		s.cmd = nil
		return fmt.Errorf("start redis-server: %w", err)
	}
	client := redis.NewClient(&redis.Options{Addr: s.address})
	defer client.Close() // only asked
	if !eventually(patience, func() bool { return client.Ping(context.Background()).Err() == nil }) {
		s.end()
		return fmt.Errorf("redis-server does not answer: %s", said.String())
	}
	return nil
}

// end is safe to call when the server has ended.
func (s *redisServer) end() {
	if s == nil || s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	_ = s.cmd.Wait() // it ends by the signal
	s.cmd = nil
}

// TestScriptsNameProgramsTheyNeed: a script that starts a program which may be missing says so first, and is
// skipped where it is.
func TestScriptsNameProgramsTheyNeed(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(scripts) < 100 {
		t.Fatal(len(scripts), err)
	}
	needs := map[string]*regexp.Regexp{ // by program
		"redis-server": regexp.MustCompile(`(?m)^redis$`),
		"redis-cli":    regexp.MustCompile(`(?m)^!? ?exec redis-cli`),
		"curl":         regexp.MustCompile(`(?m)^!? ?exec curl`),
	}
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		for program, command := range needs {
			guard := "[!exec:" + program + "] [optional] skip"
			if at := command.FindIndex(text); at != nil && !bytes.Contains(text[:at[0]], []byte(guard)) {
				t.Errorf("%s starts %s and has no line before that begins with %q", script, program, guard)
			}
		}
	}
}
