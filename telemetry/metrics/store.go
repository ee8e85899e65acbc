package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// storeMetrics are about the state store. What its caller did not wait for is not in them,
// nor is what a store in memory does.
type storeMetrics struct {
	// Operations are ok as well where the answer is that there is no room.
	Operations counterVec               `metric:"state_store_operations_total{operation,result=ok|error}" help:"Operations of the state."`
	Duration   *prometheus.HistogramVec `metric:"state_store_operation_duration_seconds{operation}" help:"Time that operations of the state took." buckets:"store"`
	Evicted    prometheus.Counter       `metric:"state_evicted_total" help:"Keys that the server of the state dropped for want of memory: of this gateway's, or of others that use it."`
	Lost       prometheus.Gauge         `metric:"state_file_lost" help:"Whether the file of the state was deleted, moved or replaced under the gateway."`
}

// Stored counts an operation of the state. Operations are named by the gateway.
func (m *Metrics) Stored(operation string, took time.Duration, err error) {
	operation = oneOf(operation, m.operations...)
	m.store.Operations.with(operation, okOrError(err)).Inc()
	m.store.Duration.WithLabelValues(operation).Observe(took.Seconds())
}

// StateFileLost says whether the file of the state is not where it was opened.
func (m *Metrics) StateFileLost(lost bool) {
	m.store.Lost.Set(truth(lost))
}

// StateEvicted counts keys that the server of the state dropped to make room.
func (m *Metrics) StateEvicted(keys int64) { m.store.Evicted.Add(float64(keys)) }
