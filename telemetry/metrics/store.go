package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Store counts operations of the state store.
type Store struct {
	operations []string // values of the label operation
	metrics    storeMetrics
}

// storeMetrics are about the state store. What its caller did not wait for is not in them,
// nor is what a store in memory does.
type storeMetrics struct {
	// Operations are ok as well where the answer is that there is no room.
	Operations counterVec               `metric:"state_store_operations_total{operation,result=ok|error}" help:"Operations of the state."`
	Duration   *prometheus.HistogramVec `metric:"state_store_operation_duration_seconds{operation}" help:"Time that operations of the state took." buckets:"store"`
	Evicted    prometheus.Counter       `metric:"state_evicted_total" help:"Keys that the server of the state dropped for want of memory: of this gateway's, or of others that use it."`
	Lost       prometheus.Gauge         `metric:"state_file_lost" help:"Whether the file of the state was deleted, moved or replaced under the gateway."`
}

// Did counts an operation of the state. Operations are named by the gateway.
func (s *Store) Did(operation string, took time.Duration, err error) {
	operation = oneOf(operation, s.operations...)
	s.metrics.Operations.with(operation, okOrError(err)).Inc()
	s.metrics.Duration.WithLabelValues(operation).Observe(took.Seconds())
}

// FileLost says whether the file of the state is not where it was opened.
func (s *Store) FileLost(lost bool) {
	s.metrics.Lost.Set(truth(lost))
}

// Evicted counts keys that the server of the state dropped to make room.
func (s *Store) Evicted(keys int64) { s.metrics.Evicted.Add(float64(keys)) }
