package audit

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// BenchmarkCall writes the two records of calls, one call after the other for a lone caller
// and for many. The processor time of the whole process, which has what the background does
// for the records as well, is what auditing costs a call.
func BenchmarkCall(b *testing.B) {
	for _, made := range []struct {
		name string
		call func() *telemetry.Exchange
	}{{"plain", plainCall}, {"forwarded", forwarded}} {
		for _, callers := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s/%d", made.name, callers), func(b *testing.B) {
				l, _ := signedLog(b, Config{Dir: b.TempDir()}, nil)
				b.ReportAllocs()
				begin := cpuTime(b)
				callAll(b, l, callers, made.call)
				b.ReportMetric(float64(cpuTime(b)-begin)/1e3/float64(b.N), "cpu-us/call")
				b.ReportMetric(float64(recorded(made.call())), "bytes/call")
			})
		}
	}
}

// recorded is how long both records of a call are, some way into a log.
func recorded(e *telemetry.Exchange) int {
	c, gateway := chain.Chain{Seq: 1_000_000}, gatewayMember("gw-1")
	var intent, call telemetry.Line
	appendIntent(&intent, e, e.Start)
	appendCall(&call, e, e.Start)
	return len(c.Assemble(c.Assemble(nil, gateway, intent.Bytes(), nil), gateway, call.Bytes(), nil))
}

// callAll writes the records of b.N calls, which so many callers share.
func callAll(b *testing.B, l *Log, callers int, call func() *telemetry.Exchange) {
	var left atomic.Int64
	var group sync.WaitGroup
	left.Store(int64(b.N))
	for range callers {
		group.Go(func() {
			e := call()
			for n := left.Add(-1); n >= 0; n = left.Add(-1) {
				if n%100 == 0 {
					e.Start = time.Now() // of about now, as calls are
				}
				if err := errors.Join(l.Intent(e), l.Call(e)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
}

// BenchmarkMembers is the share of a call's cost that is putting its records into words.
func BenchmarkMembers(b *testing.B) {
	var line telemetry.Line
	e, begin := forwarded(), cpuTime(b)
	for b.Loop() {
		line.Reset()
		appendIntent(&line, e, e.Start)
		line.Reset()
		appendCall(&line, e, e.Start)
	}
	b.ReportMetric(float64(cpuTime(b)-begin)/1e3/float64(b.N), "cpu-us/call")
}

// plainCall is a call of which little is known.
func plainCall() *telemetry.Exchange { return exchange("0190b2c4-6a3e-7000-8000-000000000001") }

// forwarded is a call as a gateway has it of a client that has shown a token, asks for an
// extension, is traced and goes on with a task. Records of the demonstration are as long.
func forwarded() *telemetry.Exchange {
	e := exchange("0190b2c4-6a3e-7000-8000-000000000001")
	e.TraceID, e.SpanID = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	e.Client, e.AuthMethod, e.KeyID = "billing-client", "oidc", "key-2026-11"
	e.Groups, e.Scopes = []string{"finance"}, []string{"billing.read", "billing.refund", "weather.read"}
	e.ContextID, e.MessageID = "0190b2c4-6a3e-7000-8000-000000000002", "0190b2c4-6a3e-7000-8000-000000000003"
	e.ExtensionsRequested = []string{"https://extensions.example/ledger/v1"}
	e.ExtensionsActivated = e.ExtensionsRequested
	e.Endpoint, e.UpstreamStatus, e.UpstreamDuration = "http://10.0.0.5:9001/a2a", 200, 2*time.Millisecond
	e.TaskState, e.ResponseDigest = "TASK_STATE_COMPLETED", e.Digest
	return e
}

// BenchmarkIntent writes records from many goroutines at once. CPU time per
// record is what it costs a gateway; the clock also shows how long the disk took.
func BenchmarkIntent(b *testing.B) {
	for _, durability := range []string{durabilityWrite, durabilitySync} {
		for _, callers := range []int{1, 16, 64} {
			b.Run(fmt.Sprintf("%s/%d", durability, callers), func(b *testing.B) {
				l := opened(b, Config{Dir: b.TempDir(), Durability: durability}, nil)
				e := exchange("0190b2c4-6a3e-7000-8000-000000000001")
				b.SetParallelism(callers)
				b.ReportAllocs()
				begin := cpuTime(b)
				b.ResetTimer()
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						if err := l.Intent(e); err != nil {
							b.Error(err)
							return
						}
					}
				})
				b.ReportMetric(float64(cpuTime(b)-begin)/float64(b.N), "cpu-ns/op")
			})
		}
	}
}

// BenchmarkEncrypted is BenchmarkIntent for encrypted files.
func BenchmarkEncrypted(b *testing.B) {
	l := opened(b, Config{Dir: b.TempDir(), Encryption: oneKey}, nil)
	e := exchange("0190b2c4-6a3e-7000-8000-000000000001")
	b.ReportAllocs()
	begin := cpuTime(b)
	for b.Loop() {
		if err := l.Intent(e); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpuTime(b)-begin)/float64(b.N), "cpu-ns/op")
}

// BenchmarkVerify verifies logs of so many records; A2A_GATEWAY_BENCH_RECORDS says how many.
func BenchmarkVerify(b *testing.B) {
	n := 50_000
	if s := os.Getenv("A2A_GATEWAY_BENCH_RECORDS"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	dir := b.TempDir()
	l, ring := signedLog(b, Config{Dir: dir}, newFakeDisk())
	e := exchange("0190b2c4-6a3e-7000-8000-000000000001")
	for range n {
		if err := l.Intent(e); err != nil {
			b.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	records, begin := 0, cpuTime(b)
	for b.Loop() {
		r, err := Verify(b.Context(), reader.Source{Path: dir}, Check{Keys: ring.JWKS()})
		if err != nil || len(r.Findings) > 0 {
			b.Fatal(err, r)
		}
		b.SetBytes(r.Bytes)
		records += r.Records
	}
	b.ReportMetric(float64(cpuTime(b)-begin)/float64(records), "cpu-ns/record")
	b.ReportMetric(float64(records)/b.Elapsed().Seconds(), "records/s")
}

func cpuTime(b *testing.B) int64 {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		b.Fatal(err)
	}
	return use.Utime.Nano() + use.Stime.Nano()
}
