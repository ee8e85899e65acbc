package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// profiled are the profiles that are taken of a gateway, and go tool pprof reads.
var profiled = []string{"profile", "allocs", heap}

// heap is what is alive as a round begins: of so many seconds it would be the difference.
const heap = "heap"

// profile takes profiles of a gateway while it does one round of work, and keeps
// those of the latest round as WORKLOAD-SUBJECT-PROFILE.pprof in a folder. Subjects
// without an admin listener have none.
func (l *lane) profile(folder, of string) (wait func() error) {
	if folder == "" || l.running.dataDir == "" {
		return func() error { return nil }
	}
	taken := make(chan error, len(profiled))
	for _, kind := range profiled {
		go func() {
			to := filepath.Join(folder, fmt.Sprintf("%s-%s-%s.pprof", l.workload.name, of, kind))
			taken <- l.running.profile(l.ctx, kind, to, l.options.time)
		}()
	}
	return func() (err error) {
		for range profiled {
			err = errors.Join(err, <-taken)
		}
		return err
	}
}

// profile asks the admin listener for one profile of so many seconds.
func (r *running) profile(ctx context.Context, kind, to string, length time.Duration) error {
	address, err := os.ReadFile(filepath.Join(r.dataDir, "admin.address"))
	if err != nil {
		return err
	}
	token, err := os.ReadFile(filepath.Join(r.dataDir, "admin.token"))
	if err != nil {
		return err
	}
	url := fmt.Sprintf("http://%s/debug/pprof/%s", strings.TrimSpace(string(address)), kind)
	if kind != heap {
		url += fmt.Sprintf("?seconds=%d", max(1, int(length.Seconds())))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", kind, resp.Status)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil { // for others to read
		return err
	}
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, resp.Body)
	return errors.Join(err, f.Close())
}
