package redis

import (
	"errors"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/state/statetest"
)

// What nobody of ours has written is an error for whoever comes by it: an owner that
// cannot be read is not nobody.
func TestGarbage(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	plain, ctx, r := everybody(t).client(t), t.Context(), statetest.Example()
	record := s.names.record(r.Agent, r.Kind, r.ID)
	reads := map[string]func() error{
		"Claim":     func() error { _, err := s.Claim(ctx, r); return err },
		"ClaimAll":  func() error { _, err := s.ClaimAll(ctx, []state.Record{r}); return err },
		"Lookup":    func() error { _, _, err := s.Lookup(ctx, r.Agent, r.Kind, r.ID); return err },
		"LookupAll": func() error { _, err := s.LookupAll(ctx, r.Agent, []state.Ref{{Kind: r.Kind, ID: r.ID}}); return err },
	}
	lists := map[string]func() error{
		"Tasks": func() error {
			_, err := s.Tasks(ctx, state.Query{Agent: r.Agent, Owner: r.Owner, Limit: 9})
			return err
		},
		"Count": func() error { _, err := s.Count(ctx, state.Query{Agent: r.Agent, Owner: r.Owner}); return err },
	}
	fails := func(what string, calls map[string]func() error) {
		t.Helper()
		for name, call := range calls {
			if err := call(); !errors.Is(err, errRecord) || errors.Is(err, state.ErrUnavailable) {
				t.Errorf("%s: %s: %v", what, name, err)
			}
		}
	}
	for _, bad := range []string{"x", "\x01", "\x03" + stored(r)[1:], stored(r)[:20]} {
		plain.Set(ctx, record, bad, 0)
		fails(bad, reads)
	}
	plain.Del(ctx, record)
	if _, err := s.Claim(ctx, r); err != nil {
		t.Fatal(err)
	}
	plain.Set(ctx, record, "\x03"+stored(r)[1:], 0)
	fails("listed, in another form", lists)
	plain.Del(ctx, record)
	plain.LPush(ctx, record, "x")
	fails("of another type", reads)
	index := s.names.owner(r.Agent, r.Owner)
	plain.Del(ctx, index)
	plain.LPush(ctx, index, "x")
	fails("an index of another type", lists)
}

func TestGarbageElsewhere(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	plain, ctx := everybody(t).client(t), t.Context()
	plain.Set(ctx, s.names.step(statetest.ExampleStep()), "paid", 0)
	if got, err := s.Advance(ctx, statetest.ExampleStep(), "", ""); !errors.Is(err, errRecord) {
		t.Errorf("Advance: %q, %v", got, err)
	}
	for _, bad := range []string{"x", "\x01short", "\x02123456789"} {
		plain.Set(ctx, s.names.value("space", "key"), bad, 0)
		if got, ok, err := s.Get(ctx, "space", "key"); !errors.Is(err, errRecord) {
			t.Errorf("Get: %q, %v, %v", got, ok, err)
		}
	}
	if err := s.Put(ctx, "space", "other", nil, 0); err != nil {
		t.Fatal(err)
	}
	plain.Set(ctx, s.names.value("space", "other"), "x", 0)
	if got, err := s.List(ctx, "space", "", 9); !errors.Is(err, errRecord) {
		t.Errorf("List: %v, %v", got, err)
	}
	// A bucket says nothing about who may do what. It begins anew, as one of another kind does.
	for _, k := range []state.DrawKind{state.Rate, state.Quota, state.Hold} {
		d := statetest.ExampleDraw(k)
		for _, bad := range []string{"", "x", "r234567890123456x", "q2345678901234567", "r\xff\xff\xff\xff\xff\xff\xff\xff12345678"} {
			plain.Set(ctx, s.names.limit(d.Key), bad, 0)
			if got, err := s.Draw(ctx, []state.Draw{d}); err != nil || len(got) != 1 {
				t.Errorf("Draw of kind %d over %q: %+v, %v", k, bad, got, err)
			}
		}
		plain.Del(ctx, s.names.limit(d.Key))
	}
}

// A server that was started again, or told to, has forgotten the scripts.
func TestForgottenScripts(t *testing.T) {
	t.Parallel()
	server := serve(t, "--appendonly", "no")
	s, plain, ctx, r := open(t, config(server.address)), server.client(t), t.Context(), statetest.Example()
	d := statetest.ExampleDraw(state.Rate)
	inContext := r
	inContext.Kind = state.Context
	for name, call := range map[string]func() error{
		"Claim": func() error { _, err := s.Claim(ctx, r); return err },
		"ClaimAll": func() error {
			got, err := s.ClaimAll(ctx, []state.Record{inContext, r, inContext})
			if err == nil && (len(got) != 3 || got[2].Owner != r.Owner) {
				t.Errorf("ClaimAll: %+v", got)
			}
			return err
		},
		"Tasks": func() error {
			_, err := s.Tasks(ctx, state.Query{Agent: r.Agent, Everyone: true, Limit: 1})
			return err
		},
		"Advance": func() error { _, err := s.Advance(ctx, statetest.ExampleStep(), "", "paid"); return err },
		"Draw":    func() error { _, err := s.Draw(ctx, []state.Draw{d}); return err },
		"Release": func() error { return s.Release(ctx, []state.Draw{d}) },
		"Put":     func() error { return s.Put(ctx, "space", "key", nil, 0) },
		"List":    func() error { _, err := s.List(ctx, "space", "", 1); return err },
		"Delete":  func() error { return s.Delete(ctx, "space", "key") },
		"Append":  func() error { return s.Append(ctx, "log", 0, nil, small) },
		"Read":    func() error { _, err := s.Read(ctx, "log", 0, 1); return err },
		"Drop":    func() error { return s.Drop(ctx, "log") },
		"sweep":   func() error { return s.sweepAgents(ctx) },
		"Depth":   func() error { _, err := s.Depth(ctx, "q", time.Now()); return err },
	} {
		if err := plain.ScriptFlush(ctx).Err(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := call(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
