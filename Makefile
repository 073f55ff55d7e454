# make help says what there is.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := all
.PHONY: all help build demo lint fmt test setup axe fuzz bench bench-http cover picture clean

GOLANGCI_LINT := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
CADDY_VERSION := v2.11.9

CACHE := $(CURDIR)/.cache
ARTIFACTS_DIR ?= artifacts
override ARTIFACTS_DIR := $(abspath $(ARTIFACTS_DIR))
export ARTIFACTS_DIR
export AXE_CORE_JS ?= $(CACHE)/axe-core/axe.min.js

all: lint test ## lint and test: what every change has to pass

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## the program, static, as bin/anteroom
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o bin/anteroom ./cmd/anteroom

demo: ## a sample site behind a gate; ARGS='--crowd 20' sends it a crowd
	go run ./cmd/anteroom demo $(ARGS)

lint: ## faults, layout, formatting, go.mod
	$(GOLANGCI_LINT) run ./...
	$(GOLANGCI_LINT) run .bench/*.go
	go mod tidy -diff

fmt: ## the house's formatting
	$(GOLANGCI_LINT) fmt . .bench

# In virtual time one goroutine runs at a time: there the race detector finds nothing, and takes ten times as long. Files with such tests
# beside others are built without it only (//go:build !race).
test: setup axe ## all tests, with the race detector but for simulations; installs what they need
	CGO_ENABLED=1 go test -race -timeout 12m $(TESTFLAGS) $$(go list ./... | grep -v '/queue/simulate$$')
	go test -timeout 12m $(TESTFLAGS) ./queue/simulate ./queue/room

setup:
	@.ci/setup cc chromium redis-server postgres haproxy nginx

axe:
	@.ci/axe $(CACHE)/axe-core

FUZZTIME ?= 20s
fuzz: ## every fuzz target for FUZZTIME=20s
	@.ci/fuzz $(FUZZTIME)

BENCH ?= .
COUNT ?= 10
bench: ## Go benchmarks matching BENCH=., COUNT=10 times, to artifacts/bench.txt for benchstat
	@mkdir -p $(ARTIFACTS_DIR)
	go test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) -timeout 2h ./... | tee $(ARTIFACTS_DIR)/bench.txt

ROUNDS ?= 20
SECONDS_EACH ?= 2
bench-http: build ## processor time a request: the gate, a bare proxy, Caddy; ROUNDS=20, STRICT=1 fails on a missed target
	@.ci/setup wrk
	@mkdir -p $(ARTIFACTS_DIR)
	go build -o bin/bench ./.bench
	@bin/bench compare -gate bin/anteroom -caddy "$$(.ci/caddy $(CADDY_VERSION) $(CACHE)/bin)" \
		-rounds $(ROUNDS) -seconds $(SECONDS_EACH) -raw $(ARTIFACTS_DIR)/bench-http.tsv $(if $(filter 1,$(STRICT)),-strict) \
		| tee $(ARTIFACTS_DIR)/bench-http.txt

cover: setup axe ## test coverage, as artifacts/cover.html
	@mkdir -p $(ARTIFACTS_DIR)
	go test -timeout 12m -coverpkg ./... -coverprofile $(ARTIFACTS_DIR)/cover.out ./...
	go tool cover -html $(ARTIFACTS_DIR)/cover.out -o $(ARTIFACTS_DIR)/cover.html
	@go tool cover -func $(ARTIFACTS_DIR)/cover.out | tail -n 1

picture: setup axe ## the picture of the dashboard in the README, drawn anew
	go test -count 1 -run TestThePictureOfTheDashboard ./proxy/browsertest -picture

clean: ## what was built and fetched
	rm -rf bin artifacts .cache
