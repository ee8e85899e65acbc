//go:build !minimal

package kafka_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/a2a-gateway/a2a-gateway/audit/kafka"
	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// jars is where `make kafka` puts a broker.
const jars = "../../bin/kafka"

// broker is Apache Kafka, one node that is its own controller.
type broker struct {
	java, dir string
	plain     string // address for whoever comes
	guarded   string // address for who has a password
	cmd       *exec.Cmd
	said      bytes.Buffer
}

const password = "correct horse"

// properties are the configuration of a broker: data directory, ports. Whoever is the
// broker itself comes to the first.
const properties = `process.roles=broker,controller
node.id=1
log.dirs=%[1]s
listeners=PLAINTEXT://%[2]s,SASL_PLAINTEXT://%[3]s,CONTROLLER://%[4]s
inter.broker.listener.name=PLAINTEXT
controller.listener.names=CONTROLLER
controller.quorum.voters=1@%[4]s
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT
sasl.enabled.mechanisms=SCRAM-SHA-512
listener.name.sasl_plaintext.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
auto.create.topics.enable=true
`

// newBroker makes and starts a broker, or skips.
func newBroker(t testing.TB) *broker {
	t.Helper()
	java, err := exec.LookPath("java")
	if err == nil {
		_, err = os.Stat(filepath.Join(jars, "slf4j-simple-1.7.36.jar"))
	}
	if err != nil {
		testenv.Missing(t, "Apache Kafka is needed, by java and make kafka: %v", err)
	}
	b := &broker{java: java, dir: t.TempDir(), plain: freeAddress(t), guarded: freeAddress(t)}
	config := fmt.Sprintf(properties, filepath.Join(b.dir, "data"), b.plain, b.guarded, freeAddress(t))
	if err := os.WriteFile(filepath.Join(b.dir, "server.properties"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	format := b.command("kafka.tools.StorageTool", "format", "-t", "a2aGatewayAuditTestsA", "-c", "server.properties",
		"--add-scram", "SCRAM-SHA-512=[name=gateway,password="+password+"]")
	if out, err := format.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b.start(t)
	t.Cleanup(b.kill)
	return b
}

func freeAddress(t testing.TB) string {
	t.Helper()
	address := gatewaytest.FreeAddress()
	if address == "" {
		t.Fatal("no port is free")
	}
	return address
}

func (b *broker) command(class string, args ...string) *exec.Cmd {
	lib, _ := filepath.Abs(jars)
	// Quick to start, and no larger than it has to be.
	cmd := exec.Command(b.java, append([]string{"-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", // a test
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp", lib + "/*", class}, args...)...)
	cmd.Dir = b.dir
	return cmd
}

// start returns when the broker answers.
func (b *broker) start(t testing.TB) {
	t.Helper()
	b.cmd = b.command("kafka.Kafka", "server.properties")
	b.said.Reset()
	b.cmd.Stdout, b.cmd.Stderr = &b.said, &b.said
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	client := b.client(t)
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	for client.Ping(ctx) != nil {
		select {
		case <-ctx.Done():
			b.kill()
			t.Fatalf("the broker does not start: %s", b.said.String())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// kill leaves it no time for anything.
func (b *broker) kill() {
	if b.cmd != nil {
		_ = b.cmd.Process.Kill()
		_ = b.cmd.Wait()
		b.cmd = nil
	}
}

func (b *broker) client(t testing.TB) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(b.plain))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// create makes a topic.
func (b *broker) create(t testing.TB, name string, configs map[string]string) {
	t.Helper()
	client := b.client(t)
	defer client.Close()
	r := kmsg.NewPtrCreateTopicsRequest()
	r.TimeoutMillis = 20_000
	wanted := kmsg.NewCreateTopicsRequestTopic()
	wanted.Topic, wanted.NumPartitions, wanted.ReplicationFactor = name, partitions, 1
	for key, value := range configs {
		wanted.Configs = append(wanted.Configs, kmsg.CreateTopicsRequestTopicConfig{Name: key, Value: &value})
	}
	r.Topics = append(r.Topics, wanted)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	answer, err := r.RequestWith(ctx, client)
	if err == nil {
		err = kerr.ErrorForCode(answer.Topics[0].ErrorCode)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// config is that of a gateway with a password.
func (b *broker) config(topic string) kafka.Config {
	return kafka.Config{Brokers: []string{b.guarded}, Topic: topic, SASL: &kafka.SASL{Username: "gateway", Password: secret.New(password)}}
}

// TestBroker is what only Kafka itself can show. One broker is enough for all of it.
func TestBroker(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	t.Run("refuses", b.refuses)
	t.Run("takes", b.takes)
	t.Run("is killed", b.isKilled)
}

// refuses: what Kafka refuses is said in the words that are expected.
func (b *broker) refuses(t *testing.T) {
	refused := func(c kafka.Config, words string) {
		t.Helper()
		err := putWithin(t, sinkOf(t, c, "gw"), 20*time.Second, entries(1, 50, 1000))
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want: %s", err, words)
		}
	}
	refused(b.config("nowhere"), `topic "nowhere" is not there`) // although the broker would make it
	c := b.config("small")
	c.SASL.Password = secret.New("battery staple")
	refused(c, "SASL_AUTHENTICATION_FAILED")
	b.create(t, "small", map[string]string{"max.message.bytes": "10000"})
	c = b.config("small")
	c.Compression = "none"
	refused(c, `topic "small": too large for messageSize`)
}

// takes: Kafka takes every compression, and records that are as long as can be.
func (b *broker) takes(t *testing.T) {
	b.create(t, "taken", nil)
	from := 1
	for _, compression := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		c := b.config("taken")
		c.Compression = compression
		put(t, sinkOf(t, c, "gw"), entries(from, 200, 500)...)
		from += 200
	}
	if copies := inOrder(t, numbers(t, messages(t, "taken", b.plain)), 1000); copies != 0 {
		t.Errorf("%d records are there again", copies)
	}
	b.create(t, "greatest", nil)
	c := b.config("greatest")
	c.Compression = "none"
	put(t, sinkOf(t, c, "gw"), greatest(t)...)
}

// isKilled: it is killed while records come, and comes back: all of them are in the topic,
// in their order, and what is read from there holds.
func (b *broker) isKilled(t *testing.T) {
	b.create(t, topic, nil)
	w := begin(t, b.config(topic))
	const total = 10_000
	for i := range total {
		w.write(t)
		switch i {
		case total / 4:
			until(t, "the first are there", func() bool { return w.metric(t, "records_total") > 0 })
		case total / 2:
			b.kill()
		case total * 3 / 4:
			until(t, "it is noticed", func() bool { return w.metric(t, "failing") == 1 })
			b.start(t)
		default:
		}
	}
	until(t, "all are there", func() bool { return w.metric(t, "lag_records") == 0 })
	last := w.end(t)
	if last < total {
		t.Fatalf("the log has %d records only", last)
	}
	got := messages(t, topic, b.plain)
	copies := inOrder(t, numbers(t, got), last)
	t.Logf("%d records, %d of them again", last, copies)
	w.compare(t, got)
}
