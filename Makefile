# make help says what there is.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := all
.PHONY: all help build demo lint fmt test test-unhurried test-real soak setup axe fuzz bench bench-http bench-streams bench-flood bench-million cover picture manifests release release-check version clean

HELM := go run helm.sh/helm/v4/cmd/helm@v4.3.1
GOLANGCI_LINT := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
CADDY_VERSION := v2.11.9

# The version is written down once: as the newest one of the changelog.
VERSION := $(shell sed -n 's/^## \(v[0-9][^ ]*\).*/\1/p' CHANGELOG.md | head -n 1)

# A module of its own, so that the program needs nothing of it.
PROVIDER := cmd/terraform-provider-fairdoor

CACHE := $(CURDIR)/.cache
ARTIFACTS_DIR ?= artifacts
override ARTIFACTS_DIR := $(abspath $(ARTIFACTS_DIR))
export ARTIFACTS_DIR
export AXE_CORE_JS ?= $(CACHE)/axe-core/axe.min.js
export CHECKERS ?= $(CACHE)/checkers

all: lint test ## lint and test: what every change has to pass

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## the program, static, as bin/fairdoor
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.release=$(VERSION)' -o bin/fairdoor ./cmd/fairdoor

demo: ## a sample site behind a gate; ARGS='--crowd 20' sends it a crowd
	go run ./cmd/fairdoor demo $(ARGS)

lint: ## faults, layout, formatting, go.mod
	$(GOLANGCI_LINT) run ./...
	$(GOLANGCI_LINT) run .bench/*.go
	$(GOLANGCI_LINT) run ./.bench/million
	$(GOLANGCI_LINT) run ./.release/sbom ./.release/check
	cd $(PROVIDER) && $(GOLANGCI_LINT) run ./...
	go mod tidy -diff
	go -C $(PROVIDER) mod tidy -diff

fmt: ## the house's formatting
	$(GOLANGCI_LINT) fmt . .bench .release

# Packages in which nothing runs at once, or that run whole programs, with browsers and other servers: make soak has endtoend build the
# program with the race detector. In virtual time one goroutine runs at a time: there it finds nothing, and takes ten times as long.
UNRACED := cmd/fairdoor|cmd/fairdoor/config|examples/.*|proxy/(browsertest|cheats|endtoend|world)|queue/simulate(/.*)?|templates/.*
# In these most tests do one thing after another: the detector has those of the files that name goroutines, or the contract of stores.
HALF_RACED := queue/waitlist|queue/redisstore|queue/memstore|queue/room|templates
at_once = "^($$(grep -lE 'sync\.WaitGroup|go func|\.Go\(|storetest\.Run' $(1:%=%/*_test.go) | \
	xargs awk 'FNR == 1 { raced = !/!race/ } raced && match($$0, /^func Test[A-Za-z0-9]*/) { print substr($$0, 6, RLENGTH - 5) }' | paste -sd '|'))$$"
# All other packages are tested with the detector, but for the tests of these files (//go:build !race): in virtual time, or of memory, to
# which the detector adds some.
UNRACED_FILES = $$(grep -rl --include='*_test.go' '^//go:build !race' cmd cookie examples proxy queue templates | grep -vE '^($(UNRACED)|$(HALF_RACED))/[^/]*$$')
# Tests in virtual time, and of what takes processors alone, have the time that other tests leave: these wait for other programs, and would
# take a processor that is busy for a store that does not answer.
UNHURRIED := proxy/world|queue/simulate|queue/room
REAL := ./proxy/endtoend ./proxy/browsertest ./proxy/cheats
HALF_RACED_REAL := $(filter-out queue/room,$(subst |, ,$(HALF_RACED)))
# make lint vets all of it.
GO_TEST := go test -vet=off -timeout 25m $(TESTFLAGS)
GO_TEST_RACE := env CGO_ENABLED=1 $(GO_TEST) -race
# When a program ends, the race detector waits a second by default for races that are still to come.
test test-unhurried test-real: export GORACE = atexit_sleep_ms=50
# Tests have memory enough for four times as much garbage as programs have by default, and collect it four times as rarely.
test test-unhurried test-real: export GOGC = 400
test: setup axe ## all tests, each once: those of packages that run things at once with the race detector; installs what they need
	$(MAKE) --no-print-directory -j 2 test-unhurried test-real

test-unhurried:
	files=$(UNRACED_FILES); \
	tests=$$(sed -n 's/^func \(Test[A-Za-z0-9]*\)(.*/\1/p' $$files | paste -sd '|'); \
	nice -n 19 $(GO_TEST) -p 1 -run "^($$tests)$$" $$(dirname $$files | sort -u | sed 's,^,./,')
	nice -n 19 $(GO_TEST) -p 1 ./proxy/world ./queue/simulate
	tests=$(call at_once,queue/room); \
	nice -n 19 $(GO_TEST) -skip "$$tests" ./queue/room; \
	nice -n 19 $(GO_TEST_RACE) -run "$$tests" ./queue/room

# The longest begin first.
test-real:
	packages=$$(go list ./... | grep -E '^[^/]*/[^/]*/[^/]*/($(UNRACED))$$' | grep -vE '/($(UNHURRIED))$$'); \
	$(GO_TEST) -p 2 $(REAL) $$packages
	packages="$(HALF_RACED_REAL:%=./%)"; tests=$(call at_once,$(HALF_RACED_REAL)); \
	$(GO_TEST) -p 2 -skip "$$tests" $$packages; \
	$(GO_TEST_RACE) -p 2 -run "$$tests" $$packages
	packages=$$(go list ./... | grep -vE '^[^/]*/[^/]*/[^/]*/($(UNRACED)|$(HALF_RACED)|$(UNHURRIED))$$'); \
	$(GO_TEST_RACE) -p 2 ./proxy $$packages
	cd $(PROVIDER) && $(GO_TEST) ./...

MINUTES ?= 60
soak: setup ## what takes long: crowds and faults before real gates, Firefox and WebKitGTK, the checker of the W3C, k6, oauth2-proxy, and, after more fixed worlds, for MINUTES=60 sales with faults in virtual time that nobody has seen before; says how many years these were, and which seeds broke a promise
	.ci/setup firefox-esr java WebKitWebDriver Xvfb
	go test -count 1 -tags soak ./proxy/endtoend -raced
	go test -count 1 -tags soak -run 'OtherBrowser|Firefox|AreHTML' ./proxy/browsertest ./examples/iframe
	go test -count 1 -tags soak ./examples/load-k6 ./examples/oidc
	go test -count 1 -v -timeout $$(($(MINUTES) + 20))m -run "TestTheSameSeedHasTheSameHistory|TestPromisesHold" ./proxy/world -soak $(MINUTES)m

setup:
	@.ci/setup cc chromium curl redis-server postgres haproxy nginx nginx-njs caddy systemd-analyze systemd-socket-activate

axe:
	@.ci/axe $(CACHE)/axe-core
	@.ci/checkers/fetch $(CACHE)/checkers

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
TRIALS ?= accepted,tls,queued
bench-http: build ## processor time a request: the gate, a bare proxy, Caddy, nginx, HAProxy; ROUNDS=20, TRIALS=accepted,tls,queued, STRICT=1 fails on a missed target, README=1 writes the table in cmd/fairdoor/docs/cost.md
	@.ci/setup h2load nginx haproxy
	@mkdir -p $(ARTIFACTS_DIR)
	go build -o bin/bench ./.bench
	@bin/bench compare -gate bin/fairdoor -caddy "$$(.ci/caddy $(CADDY_VERSION) $(CACHE)/bin)" \
		-trials $(TRIALS) -rounds $(ROUNDS) -seconds $(SECONDS_EACH) $(if $(filter 1,$(STRICT)),-strict) \
		$(if $(filter 1,$(README)),-readme cmd/fairdoor/docs/cost.md) \
		| tee $(ARTIFACTS_DIR)/bench-http.txt

STREAMS ?= 100000
SHARED_STREAMS ?= 100000
bench-streams: build ## memory and processor time of event streams; STREAMS=100000 need as many open files, SHARED_STREAMS a hundredth, STRICT=1 as above
	@mkdir -p $(ARTIFACTS_DIR)
	go build -o bin/bench ./.bench
	@bin/bench streams -gate bin/fairdoor -streams $(STREAMS) -shared $(SHARED_STREAMS) $(if $(filter 1,$(STRICT)),-strict) | tee $(ARTIFACTS_DIR)/bench-streams.txt

FLOODS ?=
VISITORS ?= 200
FLOOD_ROUNDS ?= 1
# Where other programs run, PREFER='chrt --fifo 5' (as root) keeps them from what is measured. The flood never has it.
PREFER ?=
bench-flood: build ## how long those who are in wait while a flood asks as fast as it can, for each kind of flood; FLOODS=http1,http2 picks some, STRICT=1 fails on a missed target
	@mkdir -p $(ARTIFACTS_DIR)
	go build -o bin/bench ./.bench
	@$(PREFER) taskset --cpu-list 1-$$(($$(nproc) - 1)) bin/bench flood -gate bin/fairdoor -floods '$(FLOODS)' -visitors $(VISITORS) \
		-rounds $(FLOOD_ROUNDS) $(if $(filter 1,$(STRICT)),-strict) | tee $(ARTIFACTS_DIR)/bench-flood.txt

PEOPLE ?= 1000000
SOCKETS ?= 20000
bench-million: build ## a sale before one gate for PEOPLE=1000000 in virtual time: processor time, memory, order, told places; beside it all who ask every 20 s, a Redis, and the end of one of two gates behind a balancer with SOCKETS=20000; takes 20 minutes; STRICT=1 as above
	@.ci/setup redis-server haproxy
	@mkdir -p $(ARTIFACTS_DIR)
	go test -c -o bin/million.test ./.bench/million
	go build -o bin/bench ./.bench
	@{ bin/million.test -people $(PEOPLE) $(if $(filter 1,$(STRICT)),-strict) && \
		bin/bench outage -gate bin/fairdoor -sockets $(SOCKETS) $(if $(filter 1,$(STRICT)),-strict); } | tee $(ARTIFACTS_DIR)/bench-million.txt

cover: setup axe ## test coverage, as artifacts/cover.html
	@mkdir -p $(ARTIFACTS_DIR)
	go test -timeout 25m -skip TestHotPath -coverpkg ./... -coverprofile $(ARTIFACTS_DIR)/cover.out ./...
	go tool cover -html $(ARTIFACTS_DIR)/cover.out -o $(ARTIFACTS_DIR)/cover.html
	@go tool cover -func $(ARTIFACTS_DIR)/cover.out | tail -n 1

picture: setup axe ## the picture of the dashboard in the README, drawn anew
	go test -count 1 -run TestThePictureOfTheDashboard ./proxy/browsertest -picture

manifests: ## examples/kubernetes/fairdoor.yaml, from the chart
	$(HELM) template fairdoor examples/helm --values examples/kubernetes/values.yaml >examples/kubernetes/fairdoor.yaml

release: ## all files of a release, as dist/: programs, packages, images, the chart, bills of materials, checksums; KEY=FILE signs these with an SSH key
	@.release/build $(VERSION) $(KEY)

release-check: ## builds a release twice and walks each path of getting it; takes half an hour, and root on Debian
	@.ci/setup buildah promtool mmdebstrap systemd-nspawn file lintian ssh-keygen
	go test -count 1 -timeout 85m -v $(TESTFLAGS) ./.release/check

version: ## the version that a build is stamped with
	@echo $(VERSION)

clean: ## what was built and fetched
	rm -rf bin dist artifacts .cache
