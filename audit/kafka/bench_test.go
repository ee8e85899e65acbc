//go:build !minimal

package kafka_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/kafka"
	"github.com/a2a-gateway/a2a-gateway/audit/reader"
)

// BenchmarkPut hands over batches as a runner does by default, of records of the size that
// those of calls have.
func BenchmarkPut(b *testing.B) {
	run := func(b *testing.B, c kafka.Config) {
		s := sinkOf(b, c, "gw")
		batch := calls(1000)
		put(b, s, batch...)
		size := 0
		for _, e := range batch {
			size += len(e.Line)
		}
		b.SetBytes(int64(size))
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			put(b, s, batch...)
			n += len(batch)
		}
		b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "records/s")
	}
	b.Run("in process", func(b *testing.B) { run(b, configOf(brokers(b))) })
	b.Run("Kafka", func(b *testing.B) {
		node := newBroker(b)
		node.create(b, topic, nil)
		run(b, node.config(topic))
	})
}

// calls are records whose digests and ids no compression can guess.
func calls(n int) (all []reader.Entry) {
	for i := range n {
		id := fmt.Sprintf("%016x%016x", rand.Uint64(), rand.Uint64()) // not secret
		line := fmt.Sprintf(`{"seq":%d,"v":1,"gateway":"gw","type":"call","time":%q,"start":%[2]q,"request_id":%q,"trace_id":%[3]q,`+
			`"agent":"billing","skill":"pay","method":"SendMessage","binding":"JSONRPC","version":"1.0","principal":"alice",`+
			`"issuer":"https://issuer.example","client":"app","auth_method":"oidc","decision":"allow","rule":"team","task_id":%[3]q,`+
			`"context_id":%[3]q,"message_id":%[3]q,"request_bytes":512,"request_digest":"%[3]s%[3]s","client_ip":"192.0.2.7",`+
			`"host":"gateway.example","path":"/agents/billing","user_agent":"sdk/1.0","endpoint":"https://billing.example/a2a",`+
			`"status":200,"task_state":"TASK_STATE_COMPLETED","response_bytes":2048,"response_digest":"%[3]s%[3]s",`+
			`"upstream_status":200,"upstream_duration_ms":12.345,"duration_ms":12.789,"hash":"%[3]s%[3]s"}`,
			i+1, noon.Format(time.RFC3339Nano), id)
		all = append(all, reader.Entry{Seq: uint64(i + 1), Line: []byte(line)}) // small
	}
	return all
}
