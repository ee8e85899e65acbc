package health

import (
	"context"
	"crypto/x509"
	"encoding/hex"
	"net/http"
	"reflect"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
)

// Health is the answer of GET /api/v1/health: what the process knows of itself.
type Health struct {
	Build        Build         `json:"build"`
	Limits       []Limit       `json:"limits" doc:"limits of this process whose use is known"`
	State        StoreHealth   `json:"state"`
	Audit        AuditHealth   `json:"audit"`
	Sinks        []SinkHealth  `json:"sinks" doc:"sinks of the audit log (telemetry.audit.sinks), by kind"`
	Certificates []Certificate `json:"certificates" doc:"certificates that the gateway serves now; none without TLS"`
}

// Build says which program this is, and where it runs.
type Build struct {
	ID         string `json:"id,omitzero" doc:"name of the gateway (server.id)"`
	Host       string `json:"host,omitzero"`
	Go         string `json:"go" doc:"version of Go of the build"`
	Platform   string `json:"platform" doc:"operating system and architecture"`
	Revision   string `json:"revision,omitzero" doc:"revision of the sources, if the build knows it"`
	Processors int    `json:"processors" doc:"processors that the gateway uses at the same time"`
}

// Limit is one limit and how much of it is in use.
type Limit struct {
	Name    string  `json:"name" doc:"key of the limit in the configuration"`
	Unit    string  `json:"unit"`
	Used    float64 `json:"used"`
	Max     float64 `json:"max" doc:"value of the limit; 0 for no limit"`
	Refuses bool    `json:"refuses" doc:"the gateway refuses calls because of this limit now"`
}

// StoreHealth is how the state is doing.
type StoreHealth struct {
	Driver string `json:"driver" doc:"driver of the state store (state.driver)"`
	Shared bool   `json:"shared" doc:"other gateways may share the state store"`
	OK     bool   `json:"ok"`
	Why    string `json:"why,omitzero"`
}

// AuditHealth is how the audit log is doing.
type AuditHealth struct {
	OK       bool    `json:"ok"`
	Why      string  `json:"why,omitzero"`
	FailOpen bool    `json:"failOpen" doc:"calls continue without records"`
	Seq      int     `json:"seq" doc:"number of the latest record"`
	Unsynced int     `json:"unsynced" doc:"records that may not be on disk yet"`
	Oldest   float64 `json:"oldest" doc:"age in seconds of the oldest of these records"`
}

// SinkHealth is how the sinks of a kind are doing.
type SinkHealth struct {
	Kind    string  `json:"kind"`
	Waiting int     `json:"waiting" doc:"records that these sinks have not received yet"`
	Oldest  float64 `json:"oldest" doc:"age in seconds of the oldest of these records"`
	Failing int     `json:"failing" doc:"number of sinks that accept no records"`
}

// Where certificates are served.
const (
	atPublic = "server"
	atAdmin  = "admin"
)

// Certificate is one that is served.
type Certificate struct {
	Listener  string    `json:"listener" doc:"listener that serves the certificate: server or admin"`
	Names     []string  `json:"names"`
	Issuer    string    `json:"issuer"`
	Serial    string    `json:"serial" doc:"serial number in hexadecimal"`
	NotBefore time.Time `json:"notBefore"`
	NotAfter  time.Time `json:"notAfter"`
	Renewal   string    `json:"renewal,omitzero" doc:"why server.tls.acme could not renew the certificate"`
}

// screen says it.
type screen struct {
	of     func(context.Context) Health
	leaves func() []*x509.Certificate
}

// Screen says what the process knows of itself, but for leaves, the certificates of the
// admin listener.
func Screen(health func(context.Context) Health, leaves func() []*x509.Certificate) api.Screen {
	s := &screen{health, leaves}
	return api.Screen{
		Title: "Health",
		Operations: []api.Operation{{
			Method: http.MethodGet, Path: "/api/v1/health", ID: "health", Tag: "gateway", Role: api.Viewer,
			Summary: "Show the health of this gateway: build, use of limits, state store, audit log and sinks, certificates",
			Out:     reflect.TypeFor[Health](), Answer: s.health,
		}},
	}
}

func (s *screen) health(c *api.Call) (any, error) {
	h := s.of(c.Context())
	for _, leaf := range s.leaves() {
		h.Certificates = append(h.Certificates, certificateOf(atAdmin, leaf))
	}
	return h, nil
}

// PublicCertificate describes one that the public listener serves.
func PublicCertificate(leaf *x509.Certificate) Certificate { return certificateOf(atPublic, leaf) }

func certificateOf(listener string, leaf *x509.Certificate) Certificate {
	c := Certificate{
		Listener: listener, Names: leaf.DNSNames, Issuer: leaf.Issuer.String(), Serial: hex.EncodeToString(leaf.SerialNumber.Bytes()),
		NotBefore: leaf.NotBefore.UTC(), NotAfter: leaf.NotAfter.UTC(),
	}
	for _, ip := range leaf.IPAddresses {
		c.Names = append(c.Names, ip.String())
	}
	if len(c.Names) == 0 {
		c.Names = []string{leaf.Subject.String()}
	}
	return c
}
