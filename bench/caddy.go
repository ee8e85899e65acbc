package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
)

// caddy is built from a module of its own, so that none of it is in the gateway's.
var caddy = subject{
	name: "caddy",
	what: "Caddy as a plain proxy: kept-alive connections, flushed at once",
	start: func(st *stage, how setup) (*running, error) {
		module, err := root()
		if err != nil {
			return nil, err
		}
		binary, err := st.build("caddy", filepath.Join(module, "bench", "caddy"), ".")
		if err != nil {
			return nil, fmt.Errorf("caddy %w: %v", errMissing, err) // such as without a network
		}
		address, err := freePort()
		if err != nil {
			return nil, err
		}
		content, err := caddyConfig(plainProxy{
			setup: how, address: address, agent: st.agent, cert: st.file("cert.pem"), key: st.file("key.pem"),
		})
		if err != nil {
			return nil, err
		}
		config, err := st.write("caddy.json", content)
		if err != nil {
			return nil, err
		}
		cmd := exec.Command(binary, config)
		cmd.Env = append(cmd.Environ(), "XDG_DATA_HOME="+st.dir, "XDG_CONFIG_HOME="+st.dir)
		return st.listening(cmd, address, how, caddyVersion(binary))
	},
}

// caddyVersion is that of the module the binary was built with.
func caddyVersion(binary string) string {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return ""
	}
	for _, m := range info.Deps {
		if m.Path == "github.com/caddyserver/caddy/v2" {
			return m.Version
		}
	}
	return ""
}

func caddyConfig(p plainProxy) (string, error) {
	type object = map[string]any
	type list = []any
	server := object{
		"listen":          list{p.address},
		"automatic_https": object{"disable": true},
		"idle_timeout":    "1h",
		// As for the floor: else an answer that begins early may be cut off.
		"enable_full_duplex": true,
		"routes": list{object{"handle": list{object{
			"handler":        "reverse_proxy",
			"flush_interval": -1,
			"transport": object{
				"protocol": "http", "compression": false,
				"keep_alive": object{"idle_timeout": "1h", "max_idle_conns_per_host": 1024, "max_idle_conns": 0},
			},
			"upstreams": list{object{"dial": p.agent}},
		}}}},
	}
	apps := object{"http": object{"servers": object{"bench": server}}}
	if !p.plain {
		server["tls_connection_policies"] = list{object{"protocol_min": "tls1.3", "default_sni": "127.0.0.1"}}
		server["protocols"] = list{"h1", "h2"}
		apps["tls"] = object{"certificates": object{"load_files": list{object{"certificate": p.cert, "key": p.key}}}}
	}
	content, err := json.MarshalIndent(object{
		"admin":   object{"disabled": true, "config": object{"persist": false}},
		"logging": object{"logs": object{"default": object{"level": "ERROR"}}},
		"apps":    apps,
	}, "", "  ")
	return string(content), err
}
