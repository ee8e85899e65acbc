package ownership

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
)

// TestShownBoundsArtifacts: what is remembered of artifacts counts, however it came, and is
// forgotten with its task.
func TestShownBoundsArtifacts(t *testing.T) {
	t.Parallel()
	c := stream.Remembered{Tasks: 1000, Bytes: 128 << 10}
	var s Shown
	var ids []ArtifactKey
	for i := range 2 * MostChunked {
		ids = append(ids, KeyOf([]byte(strings.Repeat("long ", 100)+fmt.Sprint(i))))
	}
	for i := range 100 {
		posted, chunks := ShownKey{"a", fmt.Sprint("posted ", i)}, ShownKey{"a", fmt.Sprint("chunks ", i)}
		s.begin(posted, "TASK_STATE_WORKING", ids[:MostChunked], c)
		s.begin(posted, "TASK_STATE_WORKING", ids[MostChunked:], c)
		s.begin(chunks, "TASK_STATE_WORKING", nil, c)
		for _, id := range ids {
			if err := s.chunk(chunks, id, false, false, c); err != nil {
				t.Fatal(err)
			}
		}
	}
	if most := int(c.Bytes) / (perArtifact * MostChunked); len(s.tasks) == 0 || len(s.tasks) > most+1 {
		t.Errorf("%d tasks are remembered of %d", len(s.tasks), most)
	}
	total := 0
	for el := s.newest.Front(); el != nil; el = el.Next() {
		e, _ := el.Value.(*shownTask)
		total += e.size()
		if len(e.closed) > MostChunked {
			t.Errorf("%d artifacts are remembered of one task", len(e.closed))
		}
	}
	if total != s.bytes || total > int(c.Bytes) {
		t.Errorf("%d bytes are remembered, and %d counted", total, s.bytes)
	}
}

// TestGreedyAgents: an agent whose tasks end without end has its own forgotten, as to their
// number and as to what they say, and an agent of few tasks is still held to them.
func TestGreedyAgents(t *testing.T) {
	t.Parallel()
	for name, doc := range map[string][]byte{"many": nil, "large": []byte(strings.Repeat("x", MostShown))} {
		c := &stream.Config{Remember: stream.Remembered{Tasks: 100, Bytes: 20 * MostShown}}
		var s Shown
		show := func(agent string, n int) {
			_, _ = s.look(Sighting{ShownKey: ShownKey{agent, fmt.Sprint(n)}, State: "TASK_STATE_COMPLETED", doc: doc}, c)
		}
		for n := range 5 {
			show("good", n)
		}
		for n := range 1000 {
			show("greedy", n)
		}
		for n := range 5 {
			if s.ended(ShownKey{"good", fmt.Sprint(n)}) == nil {
				t.Errorf("%s: task %d of the other agent is forgotten", name, n)
			}
		}
		if s.ended(ShownKey{"greedy", "999"}) == nil || s.ended(ShownKey{"greedy", "0"}) != nil {
			t.Errorf("%s: the greedy agent's newest is not remembered, or its oldest is", name)
		}
		tasks, bytes := 0, 0
		for _, has := range s.of {
			tasks, bytes = tasks+has.tasks, bytes+has.bytes
		}
		if tasks != s.newest.Len() || tasks > 100 || bytes != s.bytes || bytes > 20*MostShown {
			t.Errorf("%s: %d tasks and %d bytes are counted, of %d and %d", name, tasks, bytes, s.newest.Len(), s.bytes)
		}
	}
}
