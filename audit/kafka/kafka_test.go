//go:build !minimal

package kafka_test

import (
	"context"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/audit/kafka"
	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

const (
	topic      = "a2a-audit"
	partitions = 3
)

// brokers is a cluster of brokers that are not Kafka's, with a topic of three partitions.
func brokers(t testing.TB, opts ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(3), kfake.SeedTopics(partitions, topic)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func configOf(c *kfake.Cluster) kafka.Config {
	return kafka.Config{Brokers: c.ListenAddrs(), Topic: topic}
}

func sinkOf(t testing.TB, c kafka.Config, gateway string) *kafka.Sink {
	t.Helper()
	s, err := kafka.New(c, kafka.Options{Gateway: gateway, Log: "log-of-" + gateway})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// put hands records over that have to be taken.
func put(t testing.TB, s *kafka.Sink, entries ...reader.Entry) {
	t.Helper()
	if err := putWithin(t, s, 20*time.Second, entries); err != nil {
		t.Fatal(err)
	}
}

func putWithin(t testing.TB, s *kafka.Sink, limit time.Duration, entries []reader.Entry) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	return s.Put(ctx, entries)
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 123456789, time.UTC)

// entries are n records of a gateway, with text of some length in them.
func entries(from, n, length int) (all []reader.Entry) {
	for i := from; i < from+n; i++ {
		line := fmt.Sprintf(`{"seq":%d,"v":1,"gateway":"gw","type":"event","time":%q,"event":%q}`,
			i, noon.Format(time.RFC3339Nano), strings.Repeat("x", length))
		all = append(all, reader.Entry{Seq: uint64(i), Line: []byte(line)}) // small
	}
	return all
}

// messages are all that the topic has, as somebody reads them who comes now.
func messages(t testing.TB, topic string, addresses ...string) (all []*kgo.Record) {
	t.Helper()
	client, err := kgo.NewClient(
		kgo.SeedBrokers(addresses...), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxWait(100*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	left := map[int32]int64{} // offsets at which partitions end that have not been read
	ends := kmsg.NewPtrListOffsetsRequest()
	ends.Topics = []kmsg.ListOffsetsRequestTopic{{Topic: topic}}
	for p := range int32(partitions) {
		ends.Topics[0].Partitions = append(ends.Topics[0].Partitions, kmsg.ListOffsetsRequestTopicPartition{Partition: p, CurrentLeaderEpoch: -1, Timestamp: -1})
	}
	answer, err := ends.RequestWith(ctx, client)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range answer.Topics[0].Partitions {
		if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
			t.Fatal(err)
		}
		if p.Offset > 0 {
			left[p.Partition] = p.Offset
		}
	}
	for len(left) > 0 {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			all = append(all, r)
			if r.Offset+1 >= left[r.Partition] {
				delete(left, r.Partition)
			}
		})
	}
	return all
}

// numbers are those of records in the order in which they stand in the topic.
func numbers(t testing.TB, all []*kgo.Record) (seqs []int) {
	t.Helper()
	for _, r := range all {
		seq, err := strconv.Atoi(header(r, "seq"))
		if err != nil || !strings.HasPrefix(string(r.Value), fmt.Sprintf(`{"seq":%d,`, seq)) {
			t.Fatalf("record %d is %.100s: %v", seq, r.Value, err)
		}
		seqs = append(seqs, seq)
	}
	return seqs
}

func header(r *kgo.Record, key string) string {
	for _, h := range r.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}

// inOrder fails unless the first copies of records are 1 to n in their order: what a
// reader has who drops each record whose number is not greater than the last. It returns
// how many other copies there are.
func inOrder(t testing.TB, seqs []int, n int) (copies int) {
	t.Helper()
	last := 0
	for at, seq := range seqs {
		if seq > last+1 {
			t.Fatalf("at %d record %d comes after %d: %v", at, seq, last, seqs)
		}
		if seq == last+1 {
			last = seq
		}
	}
	if last != n {
		t.Fatalf("there are %d records, want %d", last, n)
	}
	return len(seqs) - n
}

// TestMessages: a message is the record byte for byte, under the gateway's key, and says
// beside it which record it is.
func TestMessages(t *testing.T) {
	t.Parallel()
	for _, compression := range []string{"", "none", "gzip", "snappy", "lz4", "zstd"} {
		t.Run("compression "+compression, func(t *testing.T) {
			t.Parallel()
			cluster := brokers(t)
			c := configOf(cluster)
			c.Compression = compression
			sent := entries(1, 300, 500)
			s := sinkOf(t, c, "gw")
			put(t, s, sent[:200]...)
			put(t, s, sent[200:]...)
			got := messages(t, topic, c.Brokers...)
			if copies := inOrder(t, numbers(t, got), 300); copies != 0 {
				t.Errorf("%d records came again", copies)
			}
			for i, r := range got {
				head := fmt.Sprintf("%s gateway=%s log=%s v=%s type=%s", r.Key, header(r, "gateway"), header(r, "log"), header(r, "v"), header(r, "type"))
				if want := "gw gateway=gw log=log-of-gw v=1 type=event"; head != want {
					t.Fatalf("a message has %s, want %s", head, want)
				}
				if string(r.Value) != string(sent[i].Line) || !r.Timestamp.Equal(noon.Truncate(time.Millisecond)) || r.Partition != got[0].Partition {
					t.Fatalf("%v", r)
				}
			}
		})
	}
}

// TestGateways: each gateway's records are in one partition, whatever becomes of the gateway.
func TestGateways(t *testing.T) {
	t.Parallel()
	c := configOf(brokers(t))
	for range 3 {
		for i := range 8 {
			s := sinkOf(t, c, fmt.Sprint("gw", i))
			put(t, s, entries(1, 5, 10)...)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	places := map[string]int32{}
	used := map[int32]bool{}
	for _, r := range messages(t, topic, c.Brokers...) {
		if p, ok := places[string(r.Key)]; ok && p != r.Partition {
			t.Errorf("records of %s are in partitions %d and %d", r.Key, p, r.Partition)
		}
		places[string(r.Key)] = r.Partition
		used[r.Partition] = true
	}
	if len(places) != 8 || len(used) < 2 {
		t.Errorf("gateways and their partitions: %v", places)
	}
}

// TestNoRecord: what is no record of an audit log is not sent.
func TestNoRecord(t *testing.T) {
	t.Parallel()
	s := sinkOf(t, kafka.Config{Brokers: []string{"127.0.0.1:1"}, Topic: topic}, "gw")
	for _, line := range []string{"", "{", `{"seq":1}`, `{"type":"call"}`} {
		e := reader.Entry{Seq: 7, Line: []byte(line), Cursor: reader.Cursor{Segment: "audit-2026-11-21.jsonl"}}
		if err := s.Put(t.Context(), []reader.Entry{e}); err == nil || !strings.Contains(err.Error(), "record 7 in audit-2026-11-21.jsonl") {
			t.Errorf("%q: %v", line, err)
		}
	}
}

// TestGreatest: records with all that fits into them from outside are taken by a topic that
// nobody has configured, with the sink as it is by itself.
func TestGreatest(t *testing.T) {
	t.Parallel()
	all := greatest(t)
	c := configOf(brokers(t))
	c.Compression = "none"
	put(t, sinkOf(t, c, "gw"), all...)
	if got := messages(t, topic, c.Brokers...); len(got) != len(all) {
		t.Errorf("%d messages of %d records", len(got), len(all))
	}
}

// greatest are records that are as long as can be.
func greatest(t testing.TB) []reader.Entry {
	t.Helper()
	dir := t.TempDir()
	l := openLog(t, dir)
	var e telemetry.Exchange
	fill(reflect.ValueOf(&e).Elem())
	e.Start = noon
	intent := l.Intent(&e)
	// These are from the configuration, which nobody writes like this; as much as fits is left.
	e.Skills, e.Consent, e.ExtensionsInjected = nil, nil, nil
	for _, err := range []error{intent, l.Call(&e), l.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	all := read(t, dir)
	longest := 0
	for _, e := range all {
		longest = max(longest, len(e.Line))
	}
	if longest < 900_000 {
		t.Errorf("the longest record has %d bytes only", longest)
	}
	return all
}

// fill makes everything as long as can be, and such that writing it takes more room.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(strings.Repeat("\x01", 4096))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 200, 200))
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1 << 30)
	default:
	}
}

func openLog(t testing.TB, dir string) *audit.Log {
	t.Helper()
	tel, err := telemetry.Open(t.Context(), telemetry.Config{Logs: telemetry.Logs{Output: t.Output()}}, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tel.Close(context.Background()) })
	l, err := audit.Open(audit.Config{Dir: dir}, "gw", tel)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// read returns all records of a log.
func read(t testing.TB, dir string) (all []reader.Entry) {
	t.Helper()
	for e, err := range (reader.Source{Path: dir}).Records(t.Context(), reader.Cursor{}) {
		if err != nil {
			t.Fatal(err)
		}
		e.Line = append([]byte(nil), e.Line...)
		all = append(all, e)
	}
	return all
}
