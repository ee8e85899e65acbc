//go:build !minimal

package kafka_test

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/a2a-gateway/a2a-gateway/audit/kafka"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv/certtest"
)

// authority is a CA that nobody else knows, with a certificate for 127.0.0.1 in files.
type authority struct {
	pool          *x509.CertPool
	ca, cert, key string
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	root := certtest.Issue(t, x509.Certificate{
		Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, nil)
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	root.Write(t, cert, key)
	return authority{pool: root.Pool(), ca: cert, cert: cert, key: key}
}

// TestTLS: brokers are who their CA says they are, and so is the gateway.
func TestTLS(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	pair, err := tls.LoadX509KeyPair(a.cert, a.key)
	if err != nil {
		t.Fatal(err)
	}
	cluster := brokers(t, kfake.TLS(&tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, ClientCAs: a.pool, ClientAuth: tls.RequireAndVerifyClientCert,
	}))
	c := configOf(cluster)
	for want, setting := range map[string]*kafka.TLS{
		"unknown authority":    {},
		"certificate required": {CA: a.ca},
		"not for.example":      {CA: a.ca, Certificate: a.cert, Key: a.key, ServerName: "not for.example"},
		"":                     {CA: a.ca, Certificate: a.cert, Key: a.key},
	} {
		c.TLS = setting
		err := putWithin(t, sinkOf(t, c, "gw"), 10*time.Second, entries(1, 5, 10))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want: %q", setting, err, want)
		}
	}
	if n := cluster.PartitionInfo(topic, 0).HighWatermark + cluster.PartitionInfo(topic, 1).HighWatermark + cluster.PartitionInfo(topic, 2).HighWatermark; n != 5 {
		t.Errorf("%d records", n)
	}
}

// TestSASL: each mechanism is spoken, who has another password is told so, and the password
// is in no error.
func TestSASL(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	pair, err := tls.LoadX509KeyPair(a.cert, a.key)
	if err != nil {
		t.Fatal(err)
	}
	encrypted := kfake.TLS(&tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}})
	for _, mechanism := range []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", ""} {
		t.Run(mechanism, func(t *testing.T) {
			t.Parallel()
			spoken := mechanism
			if spoken == "" {
				spoken = "SCRAM-SHA-512"
			}
			c := configOf(brokers(t, encrypted, kfake.EnableSASL(), kfake.Superuser(spoken, "gateway", "correct horse")))
			c.TLS = &kafka.TLS{CA: a.ca}
			for _, login := range []*kafka.SASL{
				nil,
				{Mechanism: mechanism, Username: "gateway", Password: secret.New("battery staple")},
				{Mechanism: mechanism, Username: "nobody", Password: secret.New("battery staple")},
			} {
				c.SASL = login
				err := putWithin(t, sinkOf(t, c, "gw"), 5*time.Second, entries(1, 5, 10))
				if err == nil || strings.Contains(err.Error(), "battery") {
					t.Errorf("%v: %v", login, err)
				}
				if login != nil && err != nil && !strings.Contains(err.Error(), "SASL") {
					t.Errorf("it is not said what was wrong: %v", err)
				}
			}
			c.SASL = &kafka.SASL{Mechanism: mechanism, Username: "gateway", Password: secret.New("correct horse")}
			put(t, sinkOf(t, c, "gw"), entries(1, 5, 10)...)
		})
	}
}

// TestRights: what a user may not do is said, and Write and Describe on the topic are enough.
func TestRights(t *testing.T) {
	t.Parallel()
	may := func(user string, operations ...kmsg.ACLOperation) kfake.Opt {
		var acls []kfake.ACL
		for _, o := range operations {
			acls = append(acls, kfake.ACL{Resource: kmsg.ACLResourceTypeTopic, Name: topic, Pattern: kmsg.ACLResourcePatternTypeLiteral, Operation: o, Allow: true})
		}
		return kfake.User("SCRAM-SHA-256", user, "secret", acls...)
	}
	c := configOf(brokers(t, kfake.EnableSASL(), kfake.EnableACLs(), kfake.Superuser("SCRAM-SHA-256", "admin", "secret"),
		may("stranger"), may("reader", kmsg.ACLOperationDescribe, kmsg.ACLOperationRead), may("writer", kmsg.ACLOperationDescribe, kmsg.ACLOperationWrite)))
	for _, user := range []string{"stranger", "reader", "writer"} {
		c.SASL = &kafka.SASL{Mechanism: "SCRAM-SHA-256", Username: user, Password: secret.New("secret")}
		err := putWithin(t, sinkOf(t, c, "gw"), 20*time.Second, entries(1, 5, 10))
		if user == "writer" && err != nil || user != "writer" && (err == nil || !strings.Contains(err.Error(), "needs the rights to Describe and Write")) {
			t.Errorf("%s: %v", user, err)
		}
	}
}

// TestCheck: what is wrong with a configuration is named, and no password is.
func TestCheck(t *testing.T) {
	t.Parallel()
	good := func() kafka.Config {
		return kafka.Config{
			Brokers: []string{"b1:9092", "[::1]:9092"}, Topic: "a2a.audit_log-1", TLS: &kafka.TLS{},
			SASL: &kafka.SASL{Mechanism: "PLAIN", Username: "u", Password: secret.New("hunter2")},
		}
	}
	if err := good().Check(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*kafka.Config){
		"brokers: none":                 func(c *kafka.Config) { c.Brokers = nil },
		`brokers[1]: "b2" is not host`:  func(c *kafka.Config) { c.Brokers[1] = "b2" },
		`topic: "" is not up to 249`:    func(c *kafka.Config) { c.Topic = "" },
		`topic: ".." is not`:            func(c *kafka.Config) { c.Topic = ".." },
		`topic: "a b" is not`:           func(c *kafka.Config) { c.Topic = "a b" },
		`compression: "zip" is not`:     func(c *kafka.Config) { c.Compression = "zip" },
		"messageSize: 1KiB is not":      func(c *kafka.Config) { c.MessageSize = 1 << 10 },
		"messageSize: 1GiB is not":      func(c *kafka.Config) { c.MessageSize = 1 << 30 },
		"tls.certificate: tls.key":      func(c *kafka.Config) { c.TLS.Certificate = "x.pem" },
		"sasl.mechanism: PLAIN shows":   func(c *kafka.Config) { c.TLS = nil },
		`sasl.mechanism: "OAUTH" is no`: func(c *kafka.Config) { c.SASL.Mechanism = "OAUTH" },
		"sasl.username is missing":      func(c *kafka.Config) { c.SASL.Username = "" },
		"sasl.password is missing":      func(c *kafka.Config) { c.SASL.Password = secret.Value{} },
	} {
		c := good()
		change(&c)
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v, want: %s", err, want)
		}
		if _, err := kafka.New(c, kafka.Options{}); err == nil {
			t.Errorf("%s: New takes it", want)
		}
	}
	for want, setting := range map[string]kafka.TLS{
		"tls.ca: open":          {CA: "/nowhere"},
		"tls.ca: secure_test":   {CA: "secure_test.go"},
		"tls.certificate: open": {Certificate: "/nowhere", Key: "/nowhere"},
	} {
		c := good()
		c.TLS = &setting
		if _, err := kafka.New(c, kafka.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want: %s", err, want)
		}
	}
	if strings.Contains(fmt.Sprintf("%+v %#v", good().SASL, *good().SASL), "hunter2") {
		t.Error("the password is printed")
	}
}
