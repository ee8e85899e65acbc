package proxy

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
	var ids []artifactKey
	for i := range 2 * mostChunked {
		ids = append(ids, keyOf([]byte(strings.Repeat("long ", 100)+fmt.Sprint(i))))
	}
	for i := range 100 {
		posted, chunks := shownKey{"a", fmt.Sprint("posted ", i)}, shownKey{"a", fmt.Sprint("chunks ", i)}
		s.begin(posted, "TASK_STATE_WORKING", ids[:mostChunked], c)
		s.begin(posted, "TASK_STATE_WORKING", ids[mostChunked:], c)
		s.begin(chunks, "TASK_STATE_WORKING", nil, c)
		for _, id := range ids {
			if err := s.chunk(chunks, id, false, false, c); err != nil {
				t.Fatal(err)
			}
		}
	}
	if most := int(c.Bytes) / (perArtifact * mostChunked); len(s.tasks) == 0 || len(s.tasks) > most+1 {
		t.Errorf("%d tasks are remembered of %d", len(s.tasks), most)
	}
	total := 0
	for el := s.newest.Front(); el != nil; el = el.Next() {
		e, _ := el.Value.(*shownTask)
		total += e.size()
		if len(e.closed) > mostChunked {
			t.Errorf("%d artifacts are remembered of one task", len(e.closed))
		}
	}
	if total != s.bytes || total > int(c.Bytes) {
		t.Errorf("%d bytes are remembered, and %d counted", total, s.bytes)
	}
}
