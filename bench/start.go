package main

import (
	"debug/elf"
	"fmt"
	"os"
	"strings"
	"time"
)

// startAgents are configured when the start is measured: a fleet whose cards all have to be had
// before the gateway is ready.
const startAgents = 1000

// start is how long a gateway takes that was not running, and how large its program is: what
// somebody waits for who rolls out another version, and what each machine has to fetch for it.
var start = workload{
	name: "start", unit: "start", base: gateway.name, subjects: []string{gateway.name},
	what: fmt.Sprintf("a gateway of %d agents that was not running, until it serves and knows them all", startAgents),
	columns: []column{
		{key: "up", title: "serves after s", decimals: 2},
		{key: "ready", title: "ready after s", decimals: 2},
		{key: "cpu", title: "CPU ms", decimals: 0},
		{key: "rss", title: "RSS MiB", decimals: 1},
		{key: "size", title: "program MB", decimals: 1},
		{key: "minimal", title: "minimal MB", decimals: 1},
	},
	alone: startOnce,
}

// startOnce starts a gateway of its own, and ends it.
func startOnce(st *stage) (figures, error) {
	binary, err := st.gatewayBinary()
	if err != nil {
		return nil, err
	}
	f := figures{}
	if f["size"], err = strippedSize(binary); err != nil {
		return nil, err
	}
	// Who brings a binary wants that one measured, and nothing else built.
	if st.options.gateway == "" {
		if f["minimal"], err = st.minimalSize(); err != nil {
			return nil, err
		}
	}
	r, err := st.serve(gatewaySettings{audit: "durability: write", state: "driver: memory", rules: usualRules(99), agents: startAgents})
	if err != nil {
		return nil, err
	}
	defer r.stop()
	f["up"] = time.Since(r.began).Seconds()
	if err := st.ready(r, 10*time.Millisecond); err != nil {
		return nil, err
	}
	f["ready"] = time.Since(r.began).Seconds()
	cpu, err := r.cpu()
	if err != nil {
		return nil, err
	}
	rss, err := r.rss()
	f["cpu"], f["rss"] = float64(cpu.Milliseconds()), float64(rss)/1024
	return f, err
}

// minimalSize is that of the gateway without add-ons, as it is released.
func (st *stage) minimalSize() (float64, error) {
	module, err := root()
	if err != nil {
		return 0, err
	}
	path, err := st.build("a2a-gateway-minimal", module, "./cmd/a2a-gateway", "-tags", "grpcnotrace,minimal")
	if err != nil {
		return 0, err
	}
	return strippedSize(path)
}

// strippedSize is the size of a program in MB (of 10^6 bytes) without what -ldflags="-s -w" leaves
// out of it: names and places for debuggers. So a build for profiles and one for release are the same.
func strippedSize(path string) (float64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	size := info.Size()
	program, err := elf.Open(path)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	defer program.Close()
	for _, s := range program.Sections {
		if s.Name == ".symtab" || s.Name == ".strtab" || strings.HasPrefix(s.Name, ".debug_") || strings.HasPrefix(s.Name, ".zdebug_") {
			size -= int64(s.FileSize) //nolint:gosec // of a file that exists
		}
	}
	return float64(size) / 1e6, nil
}
