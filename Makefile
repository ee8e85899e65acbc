# Every target runs on a machine with Go alone, unless its line says otherwise.
SHELL := /bin/bash
# A failure on the left of a pipe is a failure.
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
GO ?= go
BIN := bin
FUZZTIME ?= 5s
LINT_VERSION := v2.12.2

.PHONY: help build test race interop collector e2e soak fuzz bench lint check figures tidy clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## Build bin/a2a-gateway
	CGO_ENABLED=0 $(GO) build -trimpath -o $(BIN)/a2a-gateway ./cmd/a2a-gateway

test: ## Run the tests
	$(GO) test ./...

# The end-to-end tests drive a program that is built without the detector: they have
# nothing to show it, and it would spoil what they measure.
race: ## Run the tests under the race detector (needs a C compiler)
	$(GO) test -race -timeout 20m $$($(GO) list ./... | grep -v '/e2e$$')

interop: ## Run the JavaScript, Python and Java SDK matrix (needs node, python3, java and mvn)
	interop/setup
	A2A_GATEWAY_TEST_INTEROP=1 $(GO) test -count=1 -parallel 4 -timeout 20m ./interop/...

collector: ## Build bin/collector, which end-to-end tests send telemetry to
	$(GO) build -C e2e/collector -o $(CURDIR)/$(BIN)/collector .

e2e: ## Run the end-to-end tests against the built binary
	$(GO) test -count=1 -timeout 15m ./e2e/... ./cmd/...

SOAK ?= 30m
KILLS ?= 500
LONG ?= ^TestR[0-9]|^TestKill

soak: ## Run the reliability tests (LONG) with loads of SOAK (30m) and KILLS (500) kills -9
	E2E_SOAK=$(SOAK) A2A_GATEWAY_TEST_KILLS=$(KILLS) $(GO) test -count=1 -p 1 -timeout $(SOAK)90m -v -run '$(LONG)' \
	  ./e2e ./internal/state/sqlite ./internal/state/redis ./telemetry/audit

# The go command sometimes ends a search that found nothing with "context deadline
# exceeded". What a search does find is kept in testdata and found again at once,
# so a second run tells the two apart.
fuzz: ## Run every fuzz target for FUZZTIME each
	@for file in $$(grep -rl --include='*_test.go' '^func Fuzz' . | grep -v node_modules); do \
	  for target in $$(grep -o '^func Fuzz[A-Za-z0-9_]*' $$file | cut -c6-); do \
	    echo "$$target ($$(dirname $$file))"; \
	    search="$(GO) test -run ^$$ -fuzz ^$$target$$ -fuzztime $(FUZZTIME) -fuzzminimizetime 20x $$(dirname $$file)"; \
	    $$search | tail -n 2 || $$search | tail -n 20; \
	  done; done

bench: ## Compare the gateway with a bare reverse proxy and with no proxy
	$(GO) run ./bench

lint: $(BIN)/golangci-lint ## Run the linters
	$(GO) vet ./...
	GOLANGCI_LINT_CACHE=$(CURDIR)/$(BIN)/lint-cache $(BIN)/golangci-lint run ./...

$(BIN)/golangci-lint:
	GOBIN=$(CURDIR)/$(BIN) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)

check: lint test race interop e2e ## All that CI runs

figures: ## Print how long functions and files are
	@$(GO) test -count=1 -v -run '^TestFigures$$' . | grep lines

tidy: ## Check that go.mod and go.sum are as they should be
	$(GO) mod tidy -diff
	$(GO) mod verify

clean: ## Remove what the other targets made
	rm -rf $(BIN) dist
