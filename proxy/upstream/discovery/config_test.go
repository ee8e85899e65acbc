package discovery

import (
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, wrong string }{
		{"{file: a}", ""},
		{"{dns: {name: agents.example, port: 80, every: 1s, family: ipv6}}", ""},
		{"{dns: {name: _a2a._tcp.agents.example., records: srv}}", ""},
		{"{kubernetes: {service: billing}, emptyAfter: 1, timeout: 1s, limit: 1, answer: 1KiB}", ""},
		{"{kubernetes: {service: billing, namespace: a, port: http, server: 'https://[::1]:6443/k8s/', token: t, ca: c}}", ""},
		{"{kubernetes: {service: billing, namespace: a, server: 'http://127.0.0.1:8001'}}", ""},
		{"{}", "exactly one"},
		{"{file: a, dns: {name: a}}", "exactly one"},
		{"{file: a, emptyAfter: -1}", "emptyAfter"},
		{"{file: a, limit: -1}", "limit"},
		{"{dns: {}}", "dns.name"},
		{"{dns: {name: 10.0.0.1}}", "dns.name"},
		{"{dns: {name: 'a:80'}}", "dns.name"},
		{"{dns: {name: a, records: txt}}", "dns.records"},
		{"{dns: {name: a, records: srv, port: 1}}", "dns.records"},
		{"{dns: {name: a, family: 4}}", "dns.family"},
		{"{dns: {name: a, port: 65536}}", "dns.port"},
		{"{dns: {name: a, every: 10ms}}", "dns.every"},
		{"{kubernetes: {}}", "kubernetes.service"},
		{"{kubernetes: {service: 'a,b=c'}}", "kubernetes.service"},
		{"{kubernetes: {service: a, namespace: ../b}}", "kubernetes.namespace"},
		{"{kubernetes: {service: a, server: 'https://a'}}", "kubernetes.namespace"},
		{"{kubernetes: {service: a, port: 0}}", "kubernetes.port"},
		{"{kubernetes: {service: a, port: 'a b'}}", "kubernetes.port"},
		{"{kubernetes: {service: a, namespace: b, server: 'http://a'}}", "kubernetes.server"},
		{"{kubernetes: {service: a, namespace: b, server: 'https://u@a'}}", "kubernetes.server"},
		{"{kubernetes: {service: a, namespace: b, server: 'ftp://a'}}", "kubernetes.server"},
	} {
		var c Config
		if err := yaml.Load([]byte(tt.in), &c, yaml.WithKnownFields()); err != nil {
			t.Fatalf("%s: %v", tt.in, err)
		}
		_, err := New(c, Options{})
		if (err == nil) != (tt.wrong == "") || err != nil && !strings.Contains(err.Error(), tt.wrong) {
			t.Errorf("%s: %v, want %q", tt.in, err, tt.wrong)
		}
	}
}

func TestBackOff(t *testing.T) {
	t.Parallel()
	for failures, want := range []time.Duration{time.Second, time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second} {
		if got := backOff(time.Second, 5*time.Second, failures); got != want {
			t.Errorf("after %d: %v, want %v", failures, got, want)
		}
	}
	if got := backOff(time.Second, time.Minute, 1<<30); got != time.Minute {
		t.Errorf("at last: %v", got)
	}
}
