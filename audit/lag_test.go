package audit

import (
	"testing"
	"time"
)

// TestLag: records wait for the disk from when they are written until they are on it.
func TestLag(t *testing.T) {
	t.Parallel()
	tel, _ := watched(t)
	now := noon
	d := realDisk()
	d.linger, d.now = time.Hour, func() time.Time { return now }
	l, err := open(Config{Dir: t.TempDir()}, "gw-1", tel, d)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	lag := func(records int, oldest time.Duration) {
		t.Helper()
		if n, old := l.Lag(); n != records || old != oldest {
			t.Errorf("%d records, the oldest for %v, want %d and %v", n, old, records, oldest)
		}
	}
	lag(0, 0)
	for range 3 {
		if err := l.Intent(exchange("a")); err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Second)
	}
	lag(3, 3*time.Second)
	if err := l.syncNow(); err != nil {
		t.Fatal(err)
	}
	lag(0, 0)
	if err := l.Call(exchange("a")); err != nil {
		t.Fatal(err)
	}
	lag(1, 0)
}

// TestLagOfSyncedRecords: what counts when it is on the disk does not wait there.
func TestLagOfSyncedRecords(t *testing.T) {
	t.Parallel()
	l := opened(t, Config{Dir: t.TempDir(), Durability: durabilitySync}, nil)
	if err := l.Intent(exchange("a")); err != nil {
		t.Fatal(err)
	}
	if n, old := l.Lag(); n != 0 || old != 0 {
		t.Errorf("%d records wait, for %v", n, old)
	}
}
