package doctorcmd

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
)

// Free space of the disk with the data directory, in bytes: what a gateway of a hundred calls a
// second writes in audit records in half an hour, and in two.
const (
	spaceShort = 256 << 20
	spaceLow   = 1 << 30
)

// data looks at the directories that the gateway writes to, and at what it keeps in them.
func (d *doctor) data(cfg *config.Config) {
	d.directory("server.dataDir", cfg.Server.DataDir)
	switch cfg.State.Driver {
	case "memory":
		d.warn("state", "is in memory: a restart forgets whose the tasks are, and their owners cannot go on with them; state.driver: sqlite keeps it")
	case "sqlite":
		path := cfg.State.SQLite.Path
		if path == "" {
			path = filepath.Join(cfg.Server.DataDir, "state.db")
		}
		d.file("state", path)
	}
	if dir := cfg.Telemetry.Audit.Dir; dir != "" && filepath.Clean(filepath.Dir(dir)) != filepath.Clean(cfg.Server.DataDir) {
		d.directory("telemetry.audit.dir", dir)
	}
}

// directory looks whether a directory can be written, or made where it is not there, and how much
// room is left on its disk.
func (d *doctor) directory(about, dir string) {
	info, err := os.Stat(dir)
	at, verbed := dir, "can be written"
	switch {
	case errors.Is(err, fs.ErrNotExist):
		at, verbed = parent(dir), "will be made"
	case err != nil:
		d.fail(about, "%v: is doctor run as the gateway's user?", err)
		return
	case !info.IsDir():
		d.fail(about, "%s is no directory", dir)
		return
	}
	if err := writable(at); err != nil {
		d.fail(about, "%s cannot be written by this user: %v; give it to the gateway's user (chown), or run doctor as that", at, err)
		return
	}
	free, known := space(at)
	switch mib := free >> 20; {
	case !known:
		d.ok(about, "%s %s", dir, verbed)
	case free < spaceShort:
		d.fail(about, "%s has %d MiB left: calls are refused when records cannot be written; make room, or lower telemetry.audit.retention", at, mib)
	case free < spaceLow:
		d.warn(about, "%s has %d MiB left: make room, or lower telemetry.audit.retention", at, mib)
	default:
		d.ok(about, "%s %s, %d MiB are free", dir, verbed, mib)
	}
}

// file looks whether a file can be written, or made where it is not there.
func (d *doctor) file(about, path string) {
	at, text := path, "can be written"
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		at, text = parent(path), "will be made"
	case err != nil:
		d.fail(about, "%v: is doctor run as the gateway's user?", err)
		return
	case info.IsDir():
		d.fail(about, "%s is a directory, and a file is wanted", path)
		return
	}
	if err := writable(at); err != nil {
		d.fail(about, "%s cannot be written by this user: %v; give it to the gateway's user (chown), or run doctor as that", at, err)
		return
	}
	d.ok(about, "%s %s", path, text)
}

// parent is the nearest directory above a path that is there.
func parent(path string) string {
	for {
		up := filepath.Dir(path)
		if _, err := os.Stat(up); err == nil || up == path {
			return up
		}
		path = up
	}
}

// keptDescriptors are for files, sockets and what agents are asked beside calls, as
// internal/server has it.
const keptDescriptors = 64

// fewDescriptors is what a terminal's shell usually has, or a service without LimitNOFILE: enough
// for some hundred calls.
const fewDescriptors = 4096

// descriptors tells how many calls at the same time the system permits. A call takes two: the
// connection of its client and that to its agent. A service's limit may be another than a
// terminal's, so that too few are no error.
func (d *doctor) descriptors(cfg *config.Config) {
	have, from := openFiles(), "LimitNOFILE of the unit, or ulimit -n"
	if l := cfg.Server.Limits.Descriptors; l > 0 && (have == 0 || l < have) {
		have, from = l, "server.limits.descriptors"
	}
	calls := max(have-keptDescriptors, 0) / 2
	switch {
	case have == 0 || calls >= cfg.Server.Limits.Connections:
		d.ok("descriptors", "as many may be open as server.limits.connections: %d takes", cfg.Server.Limits.Connections)
	case have < fewDescriptors:
		d.warn("descriptors", "%d may be open, which is %d calls at the same time; further ones are answered 503: raise %s", have, calls, from)
	default:
		d.ok("descriptors", "%d may be open, which is %d calls at the same time", have, calls)
	}
}
