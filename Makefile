# Plain `make` lists what can be made. Every target works from a fresh clone with Go and nothing else.
GO      ?= go
VPPDRILL = bin/vppdrill
# Fuzz functions get this long each in fuzz-short.
FUZZTIME ?= 5s

.DEFAULT_GOAL := help
# mutate tries this many planted faults, for this long each, chosen by this seed.
MUTANTS ?= 100
BUDGET  ?= 60s
SEED    ?= 1
.PHONY: help build run test check api duel plots mutate mutate-listed kind-conformance bench bench-once bench-peers golden cover fuzz-short clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build bin/vppdrill
	@mkdir -p bin
	CGO_ENABLED=0 $(GO) build -o $(VPPDRILL) .

run: build ## run every scenario of the catalogue; reports land in out/
	$(VPPDRILL) run --catalog --out out

test: ## vet and run all tests; the last lines name what was skipped and why
	$(GO) vet ./...
	$(GO) vet -C reports/mutation ./...
	@mkdir -p bin
	@$(GO) build -o bin/testtally ./reports/repo/testtally
	@{ $(GO) test -json ./...; $(GO) test -C reports/mutation -json ./...; } | bin/testtally

check: ## formatting, vet, staticcheck, golangci-lint where installed, the repository's rules, nothing unreachable, and that macOS and Windows can compile it; scenarios that no real VPP has run are named
	@bad=$$(gofmt -l $$(find . -name '*.go' -not -path './bin/*')); \
	if [ -n "$$bad" ]; then echo "gofmt would change:"; echo "$$bad"; exit 1; fi
	$(GO) vet ./...
	$(GO) vet -C reports/mutation ./...
	$(GO) tool staticcheck ./...
	@if command -v golangci-lint > /dev/null; then golangci-lint run; \
	else echo "golangci-lint skipped: it is not installed"; fi
	$(GO) run ./reports/repo/repocheck
	$(GO) test ./reports/repo/...
	@$(GO) run ./lab/suite/unrun

api: ## compare the packages of docs/library.md with the newest release, or with REF=, by apidiff; fails on a change that breaks users
	@bash .ci/api

# plotted runs a shipped experiment, and keeps plot number 2 of it as docs/tutorials/3.svg.
define plotted
	$(VPPDRILL) experiment scenarios/experiment/shipped/$(1).yaml --seeds 8 --out out/$(1)
	cp out/$(1)/plots/$(2).svg docs/tutorials/$(3).svg
endef

duel: build ## every address management system at ten fills of a tight pool; table and plots in out/duel/experiment.html, and those of docs/tutorials/compare.md, two minutes
	$(call plotted,duel,02,duel-never-placed)
	cp out/duel/plots/03.svg docs/tutorials/duel-wait.svg
	cp out/duel/plots/04.svg docs/tutorials/duel-wasted.svg

plots: build ## answer the questions of docs/tutorials/capacity.md that need no trace; their plots there, and tables in out/, half a minute
	$(call plotted,cooling,04,cooling-never-placed)
	$(call plotted,aws-modes,03,aws-wait)
	cp out/aws-modes/plots/04.svg docs/tutorials/aws-wasted.svg
	$(call plotted,fragmentation,03,fragmentation-never-placed)
	$(call plotted,node-ids,01,node-ids-collisions)

mutate: ## plant MUTANTS (100) faults into the product, BUDGET (60s) of processor time each, and list what laws do not catch
	@mkdir -p out
	@mkdir -p bin
	@rm -rf out/survivors
	$(GO) build -C reports/mutation -o $(CURDIR)/bin/mutate ./mutate
	bin/mutate --mutants $(MUTANTS) --budget $(BUDGET) --seed $(SEED) --json out/mutants.json --survivors out/survivors

mutate-listed: ## plant each fault of reports/mutation/faults.yaml, and fail unless laws tell of nine of ten, seven minutes
	@mkdir -p bin
	$(GO) build -C reports/mutation -o $(CURDIR)/bin/mutate ./mutate
	bin/mutate --listed reports/mutation/faults.yaml --budget $(BUDGET) --scratch bin/_listed

kind-conformance: ## Kubernetes' own conformance suite for networks on a kind cluster with VPP and one with the reference plugins; FOCUS=, ON=, FAMILY=, POLICIES=
	bash .ci/kind-conformance

bench: ## run all benchmarks once, for a look; see CONTRIBUTING.md for figures worth keeping
	GOGC=400 GOMEMLIMIT=5GiB $(GO) test -run '^$$' -bench . -benchmem -p 1 -timeout 60m ./...

bench-once: ## run every benchmark once at its small sizes, so that none can rot; its figures are worth nothing
	$(GO) test -short -run '^$$' -bench . -benchtime 1x -p 1 -timeout 20m ./...

bench-peers: ## race the allocators against the originals, 3 minutes; ipam/peers is a module of its own
	cd ipam/peers && $(GO) test -mod=mod -count=1 -run TestAgree -bench 'Peers$$' -timeout 30m .

golden: ## rewrite golden files; review the difference as code
	@for p in $$(grep -rlE --include='*_test.go' 'datadriven"|Bool\("rewrite"' . | xargs -n1 dirname | sort -u); do \
	echo "rewrite $$p"; $(GO) test -C $$p . -rewrite || exit 1; done

cover: ## measure test coverage across packages; the profile is cover.out
	$(GO) test -coverpkg=./... -coverprofile=cover.out ./... > /dev/null
	@$(GO) tool cover -func=cover.out | tail -n 1

fuzz-short: ## fuzz every parser for FUZZTIME (5s)
	@grep -rnoE --include='*_test.go' 'func Fuzz[A-Za-z0-9_]+' . | while IFS=: read -r file _ fn; do \
	name=$${fn#func }; echo "fuzz $$(dirname $$file) $$name"; \
	$(GO) test $$(dirname $$file) -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) || exit 1; done

clean: ## remove what was built and reported
	rm -rf bin out out-* cover.out
