package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc/mem"
)

// TestRPCCalls: what is sent over gRPC says the same as over HTTP, and is of the size that is said.
func TestRPCCalls(t *testing.T) {
	t.Parallel()
	call, err := grpcCall("rpc", textMessage)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := grpcText(call); err != nil || text != textMessage || len(call) < 500 || len(call) > 800 {
		t.Errorf("%d bytes, %q, %v", len(call), text, err)
	}
	if _, err := grpcText([]byte{0xff}); err == nil {
		t.Error("what is no message has a text")
	}
}

// TestRPCLost: a stream that ends early or lacks an event is none that has passed.
func TestRPCLost(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		document string
		pieces   int
		want     string
	}{
		{fmt.Sprintf(lastEvent, "t-1", 65), 65, ""},
		{fmt.Sprintf(lastEvent, "t-1", 65), 64, "64 pieces of 65"},
		{`{"task":{"id":"t-1","status":{"state":"TASK_STATE_WORKING"}}}`, 0, "ends with"},
	} {
		last, err := event("%s", test.document)
		if err != nil {
			t.Fatal(err)
		}
		if err := wholeRPC(last, test.pieces); (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.document, err, test.want)
		}
	}
}

// TestRawCodec: bytes pass as they are, and a frame keeps the buffers that it came in.
func TestRawCodec(t *testing.T) {
	t.Parallel()
	said := []byte("a message")
	data, err := rawCodec{}.Marshal(said)
	if err != nil {
		t.Fatal(err)
	}
	var copied []byte
	if err := (rawCodec{}).Unmarshal(data, &copied); err != nil || !bytes.Equal(copied, said) {
		t.Errorf("%s, %v", copied, err)
	}
	pooled := mem.BufferSlice{mem.Copy(bytes.Repeat(said, 1000), mem.DefaultBufferPool())}
	f := new(frame)
	if err := (rawCodec{}).Unmarshal(pooled, f); err != nil {
		t.Fatal(err)
	}
	pooled.Free() // as gRPC does when it has been read
	if out, err := (rawCodec{}).Marshal(f); err != nil || !bytes.Equal(out.Materialize(), bytes.Repeat(said, 1000)) {
		t.Errorf("%v: the frame has lost its buffers", err)
	}
	if _, err := (rawCodec{}).Marshal("text"); err == nil {
		t.Error("a text is taken for bytes")
	}
	if err := (rawCodec{}).Unmarshal(data, new(string)); err == nil {
		t.Error("a text takes bytes")
	}
}
