package state_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/state/statetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, c state.Config) *state.Memory {
	t.Helper()
	m := state.NewMemory(c)
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return m
}

func TestMemoryConforms(t *testing.T) {
	t.Parallel()
	statetest.Ledger(t, func(t testing.TB) state.Ledger { return open(t, state.Config{}) })
}

func TestMemoryStepsConform(t *testing.T) {
	t.Parallel()
	statetest.Steps(t, func(t testing.TB) state.Steps { return open(t, state.Config{}) })
}

func TestMemoryRefusesWhenFull(t *testing.T) {
	t.Parallel()
	m := open(t, state.Config{Memory: state.MemoryConfig{Records: 3}})
	for i := range 3 {
		if _, err := m.Claim(t.Context(), owned(i)); err != nil {
			t.Fatalf("claim %d of 3: %v", i, err)
		}
	}
	if r, err := m.Claim(t.Context(), owned(3)); !errors.Is(err, state.ErrFull) || r.Owner != "" {
		t.Errorf("the claim above the limit gave %+v, %v; want ErrFull", r, err)
	}
	if _, ok, _ := m.Lookup(t.Context(), "billing", state.Task, record(3).ID); ok {
		t.Error("the refused record is there")
	}
	list, err := m.Tasks(t.Context(), state.Query{Agent: "billing", Everyone: true, Limit: 9})
	if err != nil || len(list) != 3 {
		t.Errorf("%d tasks are listed, %v; want those that were accepted", len(list), err)
	}
	if r, err := m.Claim(t.Context(), owned(1)); err != nil || r.ID != record(1).ID {
		t.Errorf("claiming a known id of a full store gave %+v, %v", r, err)
	}
}

// The limit holds exactly however many claim at once.
func TestMemoryLimitUnderContention(t *testing.T) {
	t.Parallel()
	const limit, callers = 100, 8
	m := open(t, state.Config{Memory: state.MemoryConfig{Records: limit}})
	var stored atomic.Int64
	var wg sync.WaitGroup
	for caller := range callers {
		wg.Go(func() {
			for i := range limit {
				if _, err := m.Claim(t.Context(), owned(caller*limit+i)); err == nil {
					stored.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if stored.Load() != limit || m.Len() != limit {
		t.Errorf("%d claims were accepted and %d records stand, want %d", stored.Load(), m.Len(), limit)
	}
}

// TestGreedyOwners: who makes tasks without end owns half of what can be remembered at most,
// others have room for theirs, and what is forgotten makes room again.
func TestGreedyOwners(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := open(t, state.Config{Memory: state.MemoryConfig{Records: 100}, Retention: quantity.Duration(time.Hour)})
		made := 0
		for err := error(nil); err == nil; made++ {
			room := m.Room(record(made).Owner, 1)
			if _, err = m.Claim(t.Context(), record(made)); (err == nil) != (room == nil) {
				t.Errorf("record %d: there is room: %v, claimed: %v", made, room, err)
			}
		}
		if m.Room("somebody else", 25) != nil || m.Room("somebody else", 26) == nil {
			t.Error("somebody else has other room than half of what is left")
		}
		if m.Len() != 50 {
			t.Errorf("one owner has %d of 100", m.Len())
		}
		for i := range 20 {
			if _, err := m.Claim(t.Context(), owned(1000+i)); err != nil {
				t.Errorf("somebody else's: %v", err)
			}
		}
		time.Sleep(2 * time.Hour)
		if _, err := m.Claim(t.Context(), record(made)); err != nil {
			t.Errorf("after all were forgotten: %v", err)
		}
	})
}

// owned is a record of an owner of its own.
func owned(i int) state.Record {
	r := record(i)
	r.Owner = fmt.Sprint("owner-", i)
	return r
}

func TestMemoryForgetsAfterRetention(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := open(t, state.Config{Retention: quantity.Duration(48 * time.Hour)})
		for i := range 2 {
			if _, err := m.Claim(t.Context(), record(i)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(47 * time.Hour)
		if _, ok, _ := m.Lookup(t.Context(), "billing", state.Task, record(0).ID); !ok {
			t.Fatal("forgotten before the retention was over")
		}
		time.Sleep(4 * time.Hour) // 51 h after both claims, 4 h after the use of the first
		synctest.Wait()
		if m.Len() != 1 {
			t.Errorf("%d records stand, want the one that was used", m.Len())
		}
		if _, ok, _ := m.Lookup(t.Context(), "billing", state.Task, record(1).ID); ok {
			t.Error("the unused record is still found")
		}
		other := record(1)
		other.Owner = "bob"
		if r, err := m.Claim(t.Context(), other); err != nil || r.Owner != "bob" {
			t.Errorf("claiming the forgotten id gave %q, %v; want the new owner", r.Owner, err)
		}
	})
}

// What ran out counts as unknown at once, not only when the sweeper comes by.
func TestMemoryExpiresLazily(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := open(t, state.Config{Memory: state.MemoryConfig{Records: 2}, Retention: quantity.Duration(time.Hour)})
		if err := m.Close(); err != nil { // no sweeper from here on
			t.Fatal(err)
		}
		for i := range 2 {
			if _, err := m.Claim(t.Context(), owned(i)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Hour + 2*time.Second)
		if _, ok, _ := m.Lookup(t.Context(), "billing", state.Task, owned(0).ID); ok {
			t.Error("an expired record is found")
		}
		other := owned(1)
		other.Owner = "bob"
		if r, err := m.Claim(t.Context(), other); err != nil || r.Owner != "bob" {
			t.Errorf("claiming an expired id gave %q, %v", r.Owner, err)
		}
		if m.Len() != 1 {
			t.Errorf("%d records stand, want 1", m.Len())
		}
	})
}

func TestMemoryCloseTwice(t *testing.T) {
	t.Parallel()
	m := state.NewMemory(state.Config{})
	for range 2 {
		if err := m.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	if _, err := m.Claim(t.Context(), record(1)); err != nil {
		t.Errorf("a call that was in flight at Close: %v", err)
	}
}

func TestConfigValidate(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		in   state.Config
		want string // part of the error; empty for none
	}{
		"zero":             {},
		"memory":           {in: state.Config{Driver: "memory", Memory: state.MemoryConfig{Records: 1}}},
		"sqlite":           {in: state.Config{Driver: "sqlite"}},
		"redis":            {in: state.Config{Driver: "redis"}},
		"sync":             {in: state.Config{SQLite: state.SQLiteConfig{Sync: "full"}}},
		"sync misspelt":    {in: state.Config{SQLite: state.SQLiteConfig{Sync: "off"}}, want: "sqlite.sync"},
		"driver misspelt":  {in: state.Config{Driver: "Memory"}, want: `driver is "Memory"; it must be`},
		"negative records": {in: state.Config{Memory: state.MemoryConfig{Records: -1}}, want: "memory.records"},
		"negative retention": {
			in:   state.Config{Retention: -1},
			want: "retention",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := tc.in.Validate()
			if tc.want == "" && err != nil {
				t.Errorf("Validate() = %v", err)
			}
			if tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("Validate() = %v, want %q in it", err, tc.want)
			}
		})
	}
}

// record is one of many tasks as calls leave them behind.
func record(i int) state.Record {
	r := statetest.Example()
	r.ID = fmt.Sprintf("0f8fad5b-d9cb-469f-a165-%012d", i)
	r.Context = fmt.Sprintf("7c9e6679-7425-40de-944b-%012d", i)
	return r
}
