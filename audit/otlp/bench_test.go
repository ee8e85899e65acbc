//go:build !minimal

package otlp

import (
	"testing"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// BenchmarkPut hands 1,000 records of a usual length to a receiver that does nothing but
// decode them, and reports records a second: of one processor for both sides.
func BenchmarkPut(b *testing.B) {
	var all []reader.Entry
	for i := range uint64(1000) {
		e := entry(i+1, 0)
		e.Line = []byte(whole)
		all = append(all, e)
	}
	web := listen(b)
	calls := serveGRPC(b, &rpcServer{})
	for name, c := range map[string]Config{
		"http":              {Endpoint: secret.URL(web.URL)},
		"http uncompressed": {Endpoint: secret.URL(web.URL), Compression: compressNone},
		"grpc":              {Endpoint: secret.URL("http://" + calls), Protocol: protocolGRPC},
	} {
		b.Run(name, func(b *testing.B) {
			s := open(b, c)
			b.ReportAllocs()
			for b.Loop() {
				s.accepted = reader.Cursor{} // or they would not be sent again
				if err := s.Put(b.Context(), all); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*len(all))/b.Elapsed().Seconds(), "records/s")
		})
	}
}

// BenchmarkRecord makes a log record of an audit record.
func BenchmarkRecord(b *testing.B) {
	f := newForm(Options{Gateway: "gw", Log: "the-log"})
	e := reader.Entry{Seq: 7, Line: []byte(whole)}
	b.ReportAllocs()
	for b.Loop() {
		f.record(e)
	}
}
