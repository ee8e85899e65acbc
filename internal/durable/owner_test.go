//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package durable

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestRewriteKeepsTheOwner: root, who alone may give files away, leaves them to whom they
// belong. Who else writes a file leaves it to the group that it is of.
func TestRewriteKeepsTheOwner(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	uid, gid := os.Getuid(), os.Getgid()
	if uid == 0 {
		uid, gid = 1234, 2345
	} else if groups, _ := os.Getgroups(); len(groups) > 0 {
		gid = groups[len(groups)-1]
	}
	if err := os.Chown(path, uid, gid); err != nil {
		t.Fatal(err)
	}
	if err := Rewrite(path, []byte("x")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if is, ok := info.Sys().(*syscall.Stat_t); !ok || int(is.Uid) != uid || int(is.Gid) != gid {
		t.Errorf("of user %d and group %d, not %d and %d", is.Uid, is.Gid, uid, gid)
	}
}
