package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// peerName is how a peer may be called in tables and flags.
var peerName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*$`)

// readPeer makes a subject of NAME=FILE.
func readPeer(flag string, taken []subject) (subject, error) {
	name, file, ok := strings.Cut(flag, "=")
	if !ok || !peerName.MatchString(name) || file == "" {
		return subject{}, errors.New("want NAME=FILE, the name of small letters, digits, dots and hyphens")
	}
	for _, s := range taken {
		if s.name == name {
			return subject{}, fmt.Errorf("there is a subject %q already", name)
		}
	}
	d, err := readDescription(file)
	if err != nil {
		return subject{}, err
	}
	// It is started elsewhere than where the run was.
	if command := d.Command[0]; strings.Contains(command, "/") && !strings.HasPrefix(command, "{{") {
		if d.Command[0], err = filepath.Abs(command); err != nil {
			return subject{}, err
		}
	}
	cannot := d.Cannot
	if d.lacks(canTLS) { // over which HTTP/2 is agreed on
		cannot = append(cannot, canHTTP2)
	}
	return subject{
		name: name, what: d.About, cannot: cannot,
		start: func(st *stage, how setup) (*running, error) { return st.startPeer(name, d, how) },
	}, nil
}

// startPeer writes what the process needs, starts it, and waits until it takes calls.
func (st *stage) startPeer(name string, d *description, how setup) (*running, error) {
	if d.lacks(canTLS) {
		how.plain = true
		st.note(name, "speaks no TLS, which others pay for")
	}
	if d.Awake {
		st.note(name, "is not stopped while others are measured")
	}
	address, err := freePort()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(st.dir, "peer-")
	if err != nil {
		return nil, err
	}
	values, err := st.values(dir, address, how.plain)
	if err != nil {
		return nil, err
	}
	r := values.rendering()
	d = d.rendered(r)
	for _, w := range r.wrongs { // such as that no port is free
		return nil, fmt.Errorf("%s: %w", w.path, w.err)
	}
	program, err := exec.LookPath(d.Command[0])
	if err != nil {
		return nil, fmt.Errorf("%s %w: %v", name, errMissing, err)
	}
	for path, content := range d.Files {
		if err := writeBelow(dir, path, content); err != nil {
			return nil, err
		}
	}
	cmd := exec.Command(program, d.Command[1:]...)
	cmd.Dir, cmd.Env = dir, d.environ()
	p, err := st.spawn(cmd)
	if err != nil {
		return nil, err
	}
	if err := st.prepared(p, d, address); err != nil {
		return nil, err
	}
	return &running{
		url: strings.TrimSuffix(d.URL, "/"), pid: p.cmd.Process.Pid, version: d.version(st.ctx), stop: p.stop,
		credential: d.Credential, awake: d.Awake,
	}, nil
}

func (d *description) lacks(a ability) bool { return slices.Contains(d.Cannot, a) }

func (d *description) environ() []string {
	env := os.Environ()
	for name, value := range d.Environment {
		env = append(env, name+"="+value)
	}
	return env
}

func writeBelow(dir, path, content string) error {
	path = filepath.Join(dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(content), 0o600)
}

// prepared waits until a process is ready, and makes the requests that prepare it.
func (st *stage) prepared(p *process, d *description, address string) error {
	within := d.Within.Std()
	if within == 0 {
		within = startTimeout
	}
	client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{TLSClientConfig: st.tls(), DisableKeepAlives: true}}
	if d.Ready == "" {
		if err := p.reachable(st.ctx, address, within); err != nil {
			return err
		}
	} else if err := p.until(st.ctx, within, func(ctx context.Context) error {
		return request(ctx, client, preparation{Method: http.MethodGet, URL: d.Ready})
	}); err != nil {
		return err
	}
	for i, r := range d.Prepare {
		if err := request(st.ctx, client, r); err != nil {
			return fmt.Errorf("prepare[%d]: %w", i, err)
		}
	}
	return nil
}

// request makes one that has to be answered 2xx.
func request(ctx context.Context, client *http.Client, r preparation) error {
	req, err := http.NewRequestWithContext(ctx, r.Method, r.URL, strings.NewReader(r.Body))
	if err != nil {
		return err
	}
	for name, value := range r.Headers {
		req.Header.Set(name, value)
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(io.LimitReader(resp.Body, 1000))
	if err == nil && resp.StatusCode/100 != 2 {
		err = fmt.Errorf("%s %s is answered %d: %.300s", r.Method, r.URL, resp.StatusCode, said)
	}
	return err
}

// versionNumber is what a version looks like.
var versionNumber = regexp.MustCompile(`v?\d+\.\d+[-+.\w]*`)

// version is the first of what the program says that looks like one, "" for none.
func (d *description) version(ctx context.Context) string {
	if len(d.Version) == 0 {
		return ""
	}
	cmd := exec.CommandContext(ctx, d.Version[0], d.Version[1:]...)
	cmd.Env = d.environ()
	said, _ := cmd.CombinedOutput()
	return string(versionNumber.Find(said))
}
