package statetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// severalAtOnce: batches answer in their order, whatever is in them.
func severalAtOnce(t *testing.T, l state.Ledger) {
	if got, err := l.ClaimAll(t.Context(), nil); err != nil || len(got) != 0 {
		t.Errorf("claiming nothing gave %v, %v", got, err)
	}
	if got, err := l.LookupAll(t.Context(), "billing", nil); err != nil || len(got) != 0 {
		t.Errorf("asking for nothing gave %v, %v", got, err)
	}
	known := numbered(1, 0, "alice", "acme")
	claim(t, l, known)
	first, again, other := numbered(2, 0, "bob", "acme"), numbered(2, 0, "carol", "acme"), numbered(2, 0, "dave", "acme")
	other.Agent = "weather"
	inContext := first
	inContext.Kind, inContext.Context = state.Context, ""
	taken := known
	taken.Owner = "bob"

	got, err := l.ClaimAll(t.Context(), []state.Record{first, taken, inContext, again, other})
	want := []state.Record{first, known, inContext, first, other}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("ClaimAll: %v (-want +got):\n%s", err, diff)
	}
	got, err = l.LookupAll(t.Context(), "billing", []state.Ref{
		{Kind: state.Context, ID: first.ID},
		{Kind: state.Task, ID: "absent"},
		{Kind: state.Task, ID: first.ID},
		{Kind: state.Context, ID: known.ID},
		{Kind: state.Task, ID: known.ID},
		{Kind: state.Task, ID: first.ID},
	})
	want = []state.Record{inContext, {}, first, {}, known, first}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("LookupAll: %v (-want +got):\n%s", err, diff)
	}
	bare, err := l.ClaimAll(t.Context(), []state.Record{{Agent: "billing", Kind: state.Task, ID: "bare", Extensions: []string{}}})
	if err != nil || bare[0].Created.IsZero() || bare[0].Created.Location() != time.UTC || bare[0].Extensions != nil {
		t.Errorf("what a batch leaves out is filled in as %+v, %v", bare, err)
	}
}

// severalWinners: many callers claim the same ids at once, each in an order of its
// own. No two of them are told different owners of one, and nobody waits forever.
func severalWinners(t *testing.T, l state.Ledger) {
	const rounds, callers, ids = 20, 8, 5
	for round := range rounds {
		got := make([][]state.Record, callers)
		together(callers, func(caller int) {
			var rs []state.Record
			for i := range ids {
				r := Example()
				r.ID, r.Owner = fmt.Sprint("task-", round, "-", (i+caller)%ids), fmt.Sprint("caller-", caller)
				rs = append(rs, r)
			}
			var err error
			if got[caller], err = l.ClaimAll(t.Context(), rs); err != nil {
				t.Errorf("round %d: caller %d: %v", round, caller, err)
			}
		})
		owners := map[string]string{}
		for caller, told := range got {
			for _, r := range told {
				if owner, ok := owners[r.ID]; ok && owner != r.Owner {
					t.Fatalf("round %d: caller %d was told that %s is %s's, another that it is %s's",
						round, caller, r.ID, r.Owner, owner)
				}
				owners[r.ID] = r.Owner
			}
		}
		if len(owners) != ids {
			t.Fatalf("round %d: %d of %d ids have an owner", round, len(owners), ids)
		}
	}
}
