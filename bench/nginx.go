package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// nginx is Debian's, or whichever is in PATH.
var nginx = subject{
	name: "nginx",
	what: "nginx as a plain proxy: a worker per core, kept-alive connections, nothing buffered",
	start: func(st *stage, how setup) (*running, error) {
		path, err := exec.LookPath("nginx")
		if err != nil {
			if path, err = exec.LookPath("/usr/sbin/nginx"); err != nil {
				return nil, fmt.Errorf("nginx %w: not in PATH", errMissing)
			}
		}
		address, err := freePort()
		if err != nil {
			return nil, err
		}
		config, err := st.write("nginx.conf", nginxConfig(plainProxy{
			setup: how, address: address, agent: st.agent, rpc: st.agentRPC, workers: runtime.NumCPU(), descriptors: descriptors(),
			cert: st.file("cert.pem"), key: st.file("key.pem"), root: os.Getuid() == 0,
		}))
		if err != nil {
			return nil, err
		}
		said, _ := exec.CommandContext(st.ctx, path, "-v").CombinedOutput()
		_, version, _ := strings.Cut(strings.TrimSpace(string(said)), "nginx/")
		return st.listening(exec.Command(path, "-p", filepath.Dir(config), "-c", config), address, how, version)
	},
}

// plainProxy is what the configuration of a peer depends on.
type plainProxy struct {
	setup
	address, agent string // host:port
	rpc            string // that of the agent's gRPC
	workers        int
	descriptors    int // that a process may have open
	cert, key      string
	both           string // certificate and key in one file
	root           bool   // workers keep the user, who owns the files
}

// listening starts a peer that does not say where it listens.
func (st *stage) listening(cmd *exec.Cmd, address string, how setup, version string) (*running, error) {
	p, err := st.spawn(cmd)
	if err != nil {
		return nil, err
	}
	if err := p.reachable(st.ctx, address, startTimeout); err != nil {
		return nil, err
	}
	return &running{url: how.scheme() + "://" + address, pid: p.cmd.Process.Pid, version: version, stop: p.stop}, nil
}

func nginxConfig(p plainProxy) string {
	var b strings.Builder
	if p.root {
		b.WriteString("user root;\n")
	}
	listen := p.address + " reuseport backlog=4096"
	tls := ""
	if !p.plain {
		listen = p.address + " ssl http2 reuseport backlog=4096"
		tls = fmt.Sprintf("ssl_certificate %q; ssl_certificate_key %q; ssl_protocols TLSv1.3;", p.cert, p.key)
	}
	_, _ = fmt.Fprintf(&b, `daemon off;
worker_processes %d;
worker_rlimit_nofile %d;
pid nginx.pid;
error_log stderr crit;
events { worker_connections %[2]d; }
http {
  access_log off;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  upstream agent { server %[3]s; keepalive 512; keepalive_requests 1000000000; keepalive_timeout 1h; }
  upstream rpc { server %[6]s; keepalive 512; keepalive_requests 1000000000; keepalive_timeout 1h; }
  server {
    listen %[4]s;
    %[5]s
    keepalive_requests 1000000000;
    keepalive_timeout 1h;
    client_max_body_size 16m;
    location %[7]s {
      grpc_pass grpc://rpc;
      grpc_read_timeout 1h;
    }
    location / {
      proxy_pass http://agent;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_buffering off;
      proxy_request_buffering off;
      proxy_read_timeout 1h;
    }
  }
}
`, p.workers, p.descriptors, p.agent, listen, tls, p.rpc, grpcService)
	return b.String()
}
