# Every target runs on a machine with Go alone, unless its line says otherwise.
SHELL := /bin/bash
# A failure on the left of a pipe is a failure.
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
GO ?= go
# What the program is built with everywhere. Without grpcnotrace, gRPC brings pages of golang.org/x/net/trace
# along, whose html/template has the linker keep every exported method in the program.
BUILD := build -trimpath -tags grpcnotrace -ldflags="-s -w"
# A go.work above the clone would have Go look for this module in that workspace.
export GOWORK := off
BIN := bin
FUZZTIME ?= 5s
LINT_VERSION := v2.12.2
# Modules of the product's own code. Those beside the first import it by a replacement, internal packages
# too, and need what it does not: go.mod at the root lists what the product is made of, and theirs what
# tests and comparisons are.
MODULES := . bench e2e interop

.PHONY: help build minimal cross reproducible sbom notices release-files check-deploy check-minimal test race interop frameworks tck ui console site collector pebble kafka e2e harden soak fuzz vuln bench bench-growth bench-compare bench-record lint check figures tidy clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## Build bin/a2a-gateway
	CGO_ENABLED=0 $(GO) $(BUILD) -o $(BIN)/a2a-gateway ./cmd/a2a-gateway

minimal: ## Build bin/a2a-gateway-minimal, without add-ons (internal/feature)
	CGO_ENABLED=0 $(GO) $(BUILD) -tags grpcnotrace,minimal -o $(BIN)/a2a-gateway-minimal ./cmd/a2a-gateway

# The packages that have another form under the tag, and those that hold what the program says of what
# it was built without.
MINIMAL := ./audit/kafka ./audit/otlp ./audit/postgres ./cmd/... ./internal/cli/... ./internal/feature ./internal/gateway \
  ./internal/mcpserver ./internal/server/acme ./internal/server/mcp ./internal/state/shared ./policy/pdp

check-minimal: ## Vet and test what is different in bin/a2a-gateway-minimal
	$(GO) vet -tags grpcnotrace,minimal $(MINIMAL)
	$(GO) test -count=1 -tags grpcnotrace,minimal ./cmd/a2a-gateway \
	  -run '^TestMinimal|^TestScripts$$/^(allowed_call|api_key_lifecycle|denied_skill|grpc|audit_query|stream|translate_old_client)$$'

PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64

cross: ## Compile for every platform that is released
	for p in $(PLATFORMS); do GOOS=$${p%/*} GOARCH=$${p#*/} CGO_ENABLED=0 $(GO) $(BUILD) -o /dev/null ./cmd/a2a-gateway; done

reproducible: ## Build what is committed twice, elsewhere, and compare
	GO="$(GO)" .ci/reproducible

sbom: build ## List what bin/a2a-gateway is made of in bin/a2a-gateway.cdx.json (CycloneDX)
	$(GO) run ./deploy/sbom $(BIN)/a2a-gateway >$(BIN)/a2a-gateway.cdx.json

PACKAGES := ./...

notices: ## Write the licences of all that the binary is linked from into bin/NOTICES
	@mkdir -p $(BIN)
	$(GO) run ./deploy/notices ./cmd/a2a-gateway >$(BIN)/NOTICES

release-files: build notices ## Write manual pages, completions, schema and licences for a release into bin/release
	rm -rf $(BIN)/release && mkdir -p $(BIN)/release/completions $(BIN)/release/man
	cp $(BIN)/NOTICES $(BIN)/release/NOTICES
	$(BIN)/a2a-gateway man --dir $(BIN)/release/man
	gzip -9n $(BIN)/release/man/*
	$(BIN)/a2a-gateway schema >$(BIN)/release/config.schema.json
	for shell in bash zsh fish; do $(BIN)/a2a-gateway completion $$shell >$(BIN)/release/completions/a2a-gateway.$$shell; done

check-deploy: build ## Check the chart, the kustomize base, the compose file and the packages in deploy/
	A2A_GATEWAY_TEST_PROGRAM=$(CURDIR)/$(BIN)/a2a-gateway $(GO) test -C deploy/check ./...

test: ## Run the tests, of PACKAGES (./...) of MODULES
	for module in $(MODULES); do $(GO) test -C $$module $(PACKAGES); done

# The end-to-end tests drive a program that is built without the detector: they have
# nothing to show it, and it would spoil what they measure.
# SQLite is C that was translated to Go. It holds locks of its own around everything, no test is to find races
# in it, and the detector and the checks of pointers would be half of all that these tests compute. A
# package that makes types or functions of generic ones cannot be left out like this: the linker keeps one
# of several that are the same, and it could be the one that tells the detector nothing.
UNWATCHED := -gcflags='modernc.org/sqlite/lib=-race=false -d=checkptr=0'

# They read what is in the repository, with one goroutine.
UNRACED := /(internal/(house|figures)|deploy/(notices|sbom))$$

race: export CGO_ENABLED := 1
race: ## Run the tests under the race detector (needs a C compiler)
	for module in $(filter-out e2e,$(MODULES)); do \
	  $(GO) test -C $$module -race $(UNWATCHED) -timeout 30m $$($(GO) list -C $$module ./... | grep -vE '$(UNRACED)'); done

interop: ## Run the JavaScript, Python and Java SDK matrix (needs node, python3, java and mvn)
	interop/setup
	A2A_GATEWAY_TEST_INTEROP=1 $(GO) test -C interop -count=1 -parallel 4 -timeout 20m $$($(GO) list -C interop ./... | grep -v /frameworks)

# UPDATE=-update writes the table of docs/interop.md.
frameworks: ## Run agents and clients of frameworks (needs python3, node, java, mvn and cargo)
	interop/frameworks/setup
	A2A_GATEWAY_TEST_INTEROP=1 $(GO) test -C interop -count=1 -parallel 2 -timeout 20m ./frameworks $(UPDATE)

# TCK is a checkout of a2aproject/a2a-tck, of which nothing is here: docs/tck.md.
tck: ## Run the official TCK of the checkout TCK=DIR, direct and through the gateway (needs node and python3)
	@test -n "$(TCK)" || { echo "say where a checkout of a2aproject/a2a-tck is: make tck TCK=DIR" >&2; exit 2; }
	interop/setup-tck "$(TCK)"
	interop/setup
	A2A_GATEWAY_TEST_TCK="$(abspath $(TCK))" $(GO) test -C interop -count=1 -timeout 60m -v -run '^TestTCK$$' .

UI := internal/console/ui

# What it makes is committed, so that nobody needs node to build the program.
ui: console ## Build the pages of the console, internal/console/ui/dist (needs npm)
	$(GO) test -count=1 -run '^TestUI(Document|Navigation|Reasons)$$' ./internal/console -update
	cd $(UI) && npm run types && npm run build
	$(GO) test -count=1 -run '^TestUIBuilt$$' ./internal/console -update

console: ## Install what the console is built and tested with (needs npm)
	cd $(UI) && { cmp -s package-lock.json node_modules/.installed || { npm ci && cp package-lock.json node_modules/.installed; }; }

site: ## Make a site of the documents, bin/site (needs npm)
	cd docs && { cmp -s package-lock.json node_modules/.installed || { npm ci --ignore-scripts && cp package-lock.json node_modules/.installed; }; }
	cd docs && npm run build

collector: ## Build bin/collector, which end-to-end tests send telemetry to
	$(GO) build -C e2e/collector -o $(CURDIR)/$(BIN)/collector .

pebble: ## Build bin/pebble, a CA that end-to-end tests get certificates from
	$(GO) build -C e2e/pebble -o $(CURDIR)/$(BIN)/ github.com/letsencrypt/pebble/v2/cmd/pebble \
	  github.com/letsencrypt/pebble/v2/cmd/pebble-challtestsrv

kafka: ## Put Apache Kafka into bin/kafka, which tests send audit records to (needs java and mvn)
	mvn -q -B -Djars=$(CURDIR)/$(BIN)/kafka -f audit/kafka/testdata/pom.xml package

E2E := ./...

# They wait for what is killed, slow or away more than they work, so that more of them than
# there are processors may run at once.
e2e: export A2A_GATEWAY_TEST_PROGRAM := $(CURDIR)/$(BIN)/a2a-gateway
e2e: build ## Run the end-to-end tests, of E2E (./...) in e2e, and with all of them ./cmd/..., against bin/a2a-gateway
	$(GO) test -C e2e -count=1 -parallel 4 -timeout 15m $(E2E)
	$(if $(filter ./...,$(E2E)),$(GO) test -count=1 -parallel 4 -timeout 15m ./cmd/...)

H2SPEC_VERSION := v2.2.1+incompatible

harden: build $(BIN)/h2spec ## Attack the built binary with other people's programs (h2spec, slowhttptest, testssl)
	PATH="$(CURDIR)/$(BIN):$$PATH" A2A_GATEWAY_TEST_HARDEN=1 \
	  A2A_GATEWAY_TEST_PROGRAM=$(CURDIR)/$(BIN)/a2a-gateway $(GO) test -C e2e -count=1 -timeout 8m -v \
	  -run '^(TestL20_H2spec|TestL21_Slowhttptest|TestL24_Testssl)$$' .

$(BIN)/h2spec:
	GOBIN=$(CURDIR)/$(BIN) $(GO) install github.com/summerwind/h2spec/cmd/h2spec@$(H2SPEC_VERSION)

SOAK ?= 30m
KILLS ?= 500
LONG ?= ^TestR[0-9]|^TestKill

soak: export E2E_SOAK := $(SOAK)
soak: export A2A_GATEWAY_TEST_KILLS := $(KILLS)
soak: ## Run the reliability tests (LONG) with loads of SOAK (30m) and KILLS (500) kills -9
	$(GO) test -C e2e -count=1 -timeout $(SOAK)90m -v -run '$(LONG)' .
	$(GO) test -count=1 -p 1 -timeout $(SOAK)90m -v -run '$(LONG)' ./internal/state/sqlite ./internal/state/redis ./audit

fuzz: ## Run every fuzz target for FUZZTIME (5s) each
	FUZZTIME=$(FUZZTIME) .ci/fuzz

VULN_VERSION := v1.9.0
# The database is a module like any other. CI has one of a day, so that what has passed will
# pass again; VULNDB=latest is for releases.
VULNDB ?= v0.0.0-20261105234957-e22db6528018

# What is looked at is what a release is built with: the toolchain that go.mod names.
vuln: ## Look for known vulnerabilities in what is called, of VULNDB (a version of golang.org/x/vulndb)
	dir=$$($(GO) mod download -json golang.org/x/vulndb@$(VULNDB) | sed -n 's/^.*"Dir": "\(.*\)".*$$/\1/p') && test -d "$$dir" && \
	  for module in $(MODULES); do GOTOOLCHAIN=$$(sed -n 's/^toolchain //p' go.mod) $(GO) run golang.org/x/vuln/cmd/govulncheck@$(VULN_VERSION) \
	    -db "file://$$dir/data/osv" -C $$module ./...; done

BENCH ?= $(BIN)/bench.json
PERF_VERSION := v0.0.0-20260908200009-22c9c6c9d4da

bench: $(BIN)/bench ## Compare the gateway with other proxies, into BENCH (bin/bench.json); a quarter of an hour
	$(BIN)/bench -json $(BENCH)

# It is run from the root, which its results and pages are named from.
.PHONY: $(BIN)/bench
$(BIN)/bench:
	$(GO) build -C bench -o $(CURDIR)/$(BIN)/bench .

bench-growth: $(BIN)/bench ## How cost grows with agents, rules, keys, callers and streams, into bin/growth.json; eight minutes
	$(BIN)/bench -growth -json $(BIN)/growth.json

bench-compare: $(BIN)/bench $(BIN)/benchstat ## Compare BENCH, or a run made now, with the last recorded one
	@test -f $(BENCH) || $(MAKE) bench
	$(BIN)/bench -benchmarks docs/performance >$(BIN)/recorded.txt
	$(BIN)/bench -benchmarks $(BENCH) >$(BIN)/now.txt
	$(BIN)/benchstat recorded=$(BIN)/recorded.txt now=$(BIN)/now.txt

bench-record: $(BIN)/bench ## Make a run the recorded one, and docs/performance.md of it (on a quiet machine)
	$(BIN)/bench -json docs/performance/$$(date -u +%Y-%m-%d).json
	$(BIN)/bench -growth -json docs/performance/$$(date -u +%Y-%m-%d)-growth.json
	$(BIN)/bench -docs docs/performance.md

$(BIN)/benchstat:
	GOBIN=$(CURDIR)/$(BIN) $(GO) install golang.org/x/perf/cmd/benchstat@$(PERF_VERSION)

# golangci-lint runs what go vet does (govet) beside the others.
lint: $(BIN)/golangci-lint ## Run the linters
	for module in $(MODULES); do \
	  (cd $$module && GOLANGCI_LINT_CACHE=$(CURDIR)/$(BIN)/lint-cache $(CURDIR)/$(BIN)/golangci-lint run ./...); \
	done

$(BIN)/golangci-lint:
	GOBIN=$(CURDIR)/$(BIN) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)

check: lint vuln check-deploy check-minimal test race interop e2e harden fuzz ## All that CI runs

figures: ## Print the sizes of packages, files, functions and types
	@$(GO) run ./internal/figures

tidy: ## Check that go.mod and go.sum of MODULES are as they should be
	for module in $(MODULES); do (cd $$module; $(GO) mod tidy -diff; $(GO) mod verify); done

clean: ## Remove what the other targets made
	rm -rf $(BIN) dist
