package limits

import (
	"fmt"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// TestShow: limits are shown as they count, with what is usual where nothing is said.
func TestShow(t *testing.T) {
	t.Parallel()
	l, err := New(Config{OnLoss: lossDeny, Each: []Limit{
		{Name: "all", Key: []string{}, Rate: &Rate{Units: 5}, Quota: &Quota{Units: 9}, Concurrency: 2, OpenTasks: 3, Bytes: 10},
		{Name: "one", Agents: []string{"a"}, Mode: modeShadow, Rate: &Rate{Units: 1, Per: quantity.Duration(time.Hour), Burst: 4}},
	}}, Options{Agents: []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	list, onLoss := l.Show()
	if onLoss != lossDeny || len(list) != 2 {
		t.Fatal(list, onLoss)
	}
	if got := fmt.Sprint(list[0]); got != "{all false [] [{rate 5 1s  5} {quota 9 0s day 0} {concurrency 2 0s  0} {openTasks 3 0s  0} {bytes 10 0s  0}] [] [] [] [] [] []}" {
		t.Error(got)
	}
	if got := fmt.Sprint(list[1]); got != "{one true [principal] [{rate 1 1h0m0s  4}] [a] [] [] [] [] []}" {
		t.Error(got)
	}
	var none *Limiter
	if list, onLoss := none.Show(); list != nil || onLoss != lossLocal {
		t.Error(list, onLoss)
	}
}
