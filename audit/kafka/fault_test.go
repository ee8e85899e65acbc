//go:build !minimal

package kafka_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/a2a-gateway/a2a-gateway/audit/kafka"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// produces are requests that send records.
const produces = int16(kmsg.Produce)

// TestFailures: brokers do whatever they may do wrong, at random, and each batch is handed
// over until it is taken, as from the log: the records are there in their order.
func TestFailures(t *testing.T) {
	testenv.Long(t, "brokers fail hundreds of times")
	t.Parallel()
	cluster := brokers(t)
	c := configOf(cluster)
	c.MessageSize = 64 << 10 // several requests for each batch
	transient := []*kerr.Error{kerr.NotEnoughReplicas, kerr.NotEnoughReplicasAfterAppend, kerr.RequestTimedOut, kerr.NotLeaderForPartition, kerr.KafkaStorageError}
	fatal := []*kerr.Error{kerr.InvalidRecord, kerr.PolicyViolation, kerr.OutOfOrderSequenceNumber, kerr.TopicAuthorizationFailed, kerr.UnknownTopicOrPartition}
	random := rand.New(rand.NewPCG(1, 2)) // the same at each run; for the brokers alone, who are one goroutine
	var failed atomic.Int32
	cluster.ControlKey(produces, func(kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		switch random.IntN(8) {
		case 0:
			failed.Add(1)
			return nil, errors.New("the connection is gone"), true
		case 1:
			failed.Add(1)
			cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: transient[random.IntN(len(transient))]})
		case 2:
			failed.Add(1)
			cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: fatal[random.IntN(len(fatal))]})
		default:
		}
		return nil, nil, false
	})
	s := sinkOf(t, c, "gw")
	sent := entries(1, 750, 5000)
	tries := 0
	for at := 0; at < len(sent); at += 50 {
		for {
			tries++
			err := putWithin(t, s, 20*time.Second, sent[at:at+50])
			if err == nil {
				break
			}
			t.Log(err)
		}
	}
	copies := inOrder(t, numbers(t, messages(t, topic, c.Brokers...)), len(sent))
	t.Logf("%d failures; %d tries for 15 batches; %d records are there again", failed.Load(), tries, copies)
	if failed.Load() < 5 {
		t.Errorf("only %d failures", failed.Load())
	}
}

// TestPart: of a batch that is refused in the middle nothing is sent that comes later, and
// it is not taken for stored.
func TestPart(t *testing.T) {
	t.Parallel()
	cluster := brokers(t)
	c := configOf(cluster)
	c.MessageSize = 64 << 10
	var requests atomic.Int32
	cluster.ControlKey(produces, func(kmsg.Request) (kmsg.Response, error, bool) {
		if requests.Add(1) == 3 {
			cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.InvalidRecord})
		}
		return nil, nil, false
	})
	s := sinkOf(t, c, "gw")
	sent := entries(1, 50, 20_000) // three for each request, or fewer where the client is in a hurry
	if err := putWithin(t, s, 10*time.Second, sent); !errors.Is(err, kerr.InvalidRecord) {
		t.Fatalf("%v, want what the broker said", err)
	}
	first := len(messages(t, topic, c.Brokers...)) // of the two requests that were taken
	if first < 2 || first > 6 {
		t.Errorf("%d records are there, want those of two requests", first)
	}
	inOrder(t, numbers(t, messages(t, topic, c.Brokers...)), first)
	put(t, s, sent...)
	if copies := inOrder(t, numbers(t, messages(t, topic, c.Brokers...)), 50); copies != first {
		t.Errorf("%d records are there again, want %d", copies, first)
	}
}

// TestLate: when time is up nothing is left that would be sent later, and what was under
// way and gets there after all is nothing that anybody misses.
func TestLate(t *testing.T) {
	t.Parallel()
	cluster := brokers(t)
	c := configOf(cluster)
	c.MessageSize = 64 << 10
	var requests atomic.Int32
	go_, landed := make(chan struct{}), make(chan struct{})
	ctx, timeUp := context.WithCancel(t.Context())
	defer timeUp()
	var up time.Time
	cluster.ControlKey(produces, func(kmsg.Request) (kmsg.Response, error, bool) {
		if requests.Add(1) == 2 {
			cluster.SleepControl(func() {
				up = time.Now()
				timeUp()
				<-go_
			})
			defer close(landed)
		}
		return nil, nil, false
	})
	s := sinkOf(t, c, "gw")
	sent := entries(1, 30, 20_000)
	if err := s.Put(ctx, sent[:20]); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v, want that time is up", err)
	}
	if took := time.Since(up); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
	first := len(messages(t, topic, c.Brokers...)) // three, unless the client was in too much of a hurry
	inOrder(t, numbers(t, messages(t, topic, c.Brokers...)), first)
	put(t, s, sent[:20]...)
	close(go_)
	<-landed
	put(t, s, sent[20:]...)
	copies := inOrder(t, numbers(t, messages(t, topic, c.Brokers...)), 30)
	if copies < first+1 || copies > first+3 { // those of the first request and of the late one
		t.Errorf("%d records are there again, of which %d were in the first request", copies, first)
	}
}

// TestSilent: a broker that answers nothing holds Put up for no longer than it may take.
func TestSilent(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s := sinkOf(t, kafka.Config{Brokers: []string{l.Addr().String()}, Topic: topic}, "gw")
	for range 2 {
		began := time.Now()
		if err := putWithin(t, s, 200*time.Millisecond, entries(1, 10, 10)); err == nil {
			t.Fatal("it is taken for stored")
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("it took %v", took)
		}
	}
}

// TestRefused: what a broker does not want is said in words that help, and the records are
// there once somebody has put it right.
func TestRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		opts []kfake.Opt
		want []string
		mend func(*testing.T, *kfake.Cluster)
	}{
		"no such topic": {
			opts: []kfake.Opt{kfake.SeedTopics(1, "other")},
			want: []string{`topic "a2a-audit" is not there`, "UNKNOWN_TOPIC_OR_PARTITION"},
			mend: func(t *testing.T, c *kfake.Cluster) { create(t, c, nil) },
		},
		"the topic is made anew": {
			opts: []kfake.Opt{kfake.SeedTopics(partitions, topic)},
			want: []string{`topic "a2a-audit" is not there`},
			mend: func(t *testing.T, c *kfake.Cluster) { create(t, c, nil) },
		},
		"too large for the topic": {
			opts: []kfake.Opt{kfake.SeedTopics(1, "other")},
			want: []string{`topic "a2a-audit": too large for messageSize, 1048576 bytes, or for the topic`, "max.message.bytes", "MESSAGE_TOO_LARGE"},
			mend: func(t *testing.T, c *kfake.Cluster) {
				t.Helper()
				if err := c.DeleteTopic(topic); err != nil {
					t.Fatal(err)
				}
				create(t, c, nil)
			},
		},
		"replicas are missing": {
			opts: []kfake.Opt{kfake.SeedTopics(partitions, topic)},
			want: []string{"NOT_ENOUGH_REPLICAS"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster, err := kfake.NewCluster(append(c.opts, kfake.NumBrokers(1))...)
			if err != nil {
				t.Fatal(err)
			}
			defer cluster.Close()
			config := configOf(cluster)
			config.Compression = "none"
			s := sinkOf(t, config, "gw")
			switch name {
			case "the topic is made anew":
				put(t, s, entries(1, 1, 10)...)
				if err := cluster.DeleteTopic(topic); err != nil {
					t.Fatal(err)
				}
			case "too large for the topic":
				small := "10000"
				create(t, cluster, map[string]string{"max.message.bytes": small})
			case "replicas are missing":
				fault := cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.NotEnoughReplicas, Count: -1})
				c.mend = func(*testing.T, *kfake.Cluster) { fault.Remove() }
			}
			for range 2 {
				err := putWithin(t, s, 30*time.Second, entries(1, 20, 1000))
				for _, want := range c.want {
					if err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("%v, want: %s", err, want)
					}
				}
			}
			c.mend(t, cluster)
			put(t, s, entries(1, 20, 1000)...)
			inOrder(t, numbers(t, messages(t, topic, config.Brokers...)), 20)
		})
	}
}

func create(t *testing.T, c *kfake.Cluster, configs map[string]string) {
	t.Helper()
	if err := c.CreateTopic(topic, partitions, configs); err != nil {
		t.Fatal(err)
	}
}

// TestTooLarge: a record that is more than messageSize is not passed over: it is said what
// is in the way.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	c := configOf(brokers(t))
	c.MessageSize = 64 << 10
	s := sinkOf(t, c, "gw")
	sent := append(append(entries(1, 1, 60_000), entries(2, 1, 70_000)...), entries(3, 1, 10)...)
	err := putWithin(t, s, 10*time.Second, sent)
	if err == nil || !strings.Contains(err.Error(), "too large for messageSize, 65536 bytes") {
		t.Fatal(err)
	}
	inOrder(t, numbers(t, messages(t, topic, c.Brokers...)), 1)
	c.MessageSize = 0
	put(t, sinkOf(t, c, "gw"), sent[1:]...)
	inOrder(t, numbers(t, messages(t, topic, c.Brokers...)), 3)
}

// TestNobodyThere: who cannot be reached is named.
func TestNobodyThere(t *testing.T) {
	t.Parallel()
	s := sinkOf(t, kafka.Config{Brokers: []string{"127.0.0.1:1"}, Topic: topic}, "gw")
	if err := putWithin(t, s, 20*time.Second, entries(1, 1, 10)); err == nil || !strings.Contains(err.Error(), "127.0.0.1:1: connect: connection refused") {
		t.Error(err)
	}
}
