package upstream

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// raw lets grpc-go's client carry messages without looking at them, as a gateway
// would.
type raw struct{}

func (raw) Name() string { return "proto" }

func (raw) Marshal(v any) ([]byte, error) { b, _ := v.([]byte); return b, nil }

func (raw) Unmarshal(b []byte, v any) error {
	if to, ok := v.(*[]byte); ok {
		*to = append((*to)[:0], b...)
	}
	return nil
}

// BenchmarkGRPC compares calls over net/http, as they are made here, with those
// of grpc-go's own client. What the server costs is in both.
func BenchmarkGRPC(b *testing.B) {
	const events = 100
	said := strings.Repeat("x", 600)
	_, address := grpcAgent(b, "127.0.0.1:0", func(method, said string, s grpc.ServerStream) error {
		if method != "/test/Stream" {
			return say(s, said)
		}
		for range events {
			if err := say(s, said); err != nil {
				return err
			}
		}
		return nil
	})
	u := newUpstream(b, Config{})
	client, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(raw{})))
	must(b, err)
	b.Cleanup(func() { _ = client.Close() })

	viaHTTP := func(method string) error {
		resp, err := call(b.Context(), u, "http://"+address+"/test/"+method, said)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		if code := resp.Trailer.Get("Grpc-Status"); code != "0" {
			return fmt.Errorf("status %q: %w", code, err)
		}
		return resp.Body.Close()
	}
	viaGRPC := func(method string) error {
		s, err := client.NewStream(b.Context(), &grpc.StreamDesc{ServerStreams: true}, "/test/"+method)
		if err != nil {
			return err
		}
		if err := s.SendMsg(framed(said)[5:]); err != nil {
			return err
		}
		if err := s.CloseSend(); err != nil {
			return err
		}
		var message []byte
		for {
			if err := s.RecvMsg(&message); err != nil {
				if err == io.EOF {
					return nil
				}
				return err
			}
		}
	}
	for _, method := range []string{"Unary", "Stream"} {
		for _, via := range []struct {
			name string
			run  func(method string) error
		}{{"net/http", viaHTTP}, {"grpc-go", viaGRPC}} {
			b.Run(method+" "+via.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					must(b, via.run(method))
				}
			})
		}
	}
}
