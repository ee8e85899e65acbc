//go:build !minimal

package kafka

import (
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"
)

// head is what of a record is beside it in the topic.
// Consumers can filter by message headers without parsing the value.
type head struct {
	Version int       `json:"v"`
	Gateway string    `json:"gateway"`
	Type    string    `json:"type"`
	Time    time.Time `json:"time"`
}

// records make a message of each entry.
// The key is the gateway's id: the partitioner hashes it, so that all records of one gateway are in
// one partition, in which alone Kafka keeps an order.
func (s *Sink) records(entries []reader.Entry) ([]*kgo.Record, error) {
	all := make([]*kgo.Record, len(entries))
	for i, e := range entries {
		var h head
		if err := json.Unmarshal(e.Line, &h); err != nil || h.Type == "" || h.Time.IsZero() {
			return nil, fmt.Errorf("record %d in %s: it is no record of an audit log", e.Seq, e.Cursor.Segment)
		}
		all[i] = &kgo.Record{
			Key:   s.key,
			Value: e.Line,
			// Brokers remove messages by this time, and find them by it.
			Timestamp: h.Time,
			Headers: []kgo.RecordHeader{
				{Key: "gateway", Value: []byte(h.Gateway)},
				{Key: "log", Value: s.log},
				{Key: "seq", Value: strconv.AppendUint(nil, e.Seq, 10)},
				{Key: "v", Value: strconv.AppendInt(nil, int64(h.Version), 10)},
				{Key: "type", Value: []byte(h.Type)},
			},
		}
	}
	return all, nil
}

// More than what surrounds a record, and all records, in a batch: lengths and counts.
const (
	aroundRecord = 100
	aroundBatch  = 100
)

// batch is how many of the records fit into one batch. It is an error if not even the
// first does: to go on with the next one would be to lose it.
func (s *Sink) batch(records []*kgo.Record) (int, error) {
	size := aroundBatch
	for i, r := range records {
		size += aroundRecord + len(r.Key) + len(r.Value)
		for _, h := range r.Headers {
			size += len(h.Key) + len(h.Value)
		}
		switch {
		case size <= int(s.config.messageSize()):
		case i == 0:
			return 0, fmt.Errorf("a record of %d bytes: %w", len(r.Value), kerr.MessageTooLarge)
		default:
			return i, nil
		}
	}
	return len(records), nil
}
