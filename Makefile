# velum. `make build` and `make test` need Go and nothing else; `make help` lists what there is.

GO        ?= go
# a tag, or a version before all others that names the commit: a hash of digits alone would outrank every release
VERSION   ?= $(shell git describe --tags --dirty 2>/dev/null || echo 0.dev0+g$$(git rev-parse --short HEAD 2>/dev/null || echo unknown))
COMMIT    ?= $(shell git rev-parse HEAD 2>/dev/null)
COMMITTED ?= $(shell git log -1 --format=%ct 2>/dev/null)
SAMPLE     = cmd/velum/testdata/sample
PACKAGES  ?= ./...
# packages with property tests: they alone know the flags of rapid; make test draws from one seed, the same every time
PROPERTIES = $(sort $(shell $(GO) list -f '{{range .TestImports}}{{if eq . "pgregory.net/rapid"}}{{$$.ImportPath}}{{end}}{{end}} {{range .XTestImports}}{{if eq . "pgregory.net/rapid"}}{{$$.ImportPath}}{{end}}{{end}}' $(PACKAGES)))
# No cgo: one static binary for every Linux. No paths of this machine in it.
export CGO_ENABLED ?= 0
BUILD      = $(GO) build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$(VERSION) -X main.revision=$(COMMIT)"
# what make release does: nothing leaves this machine; with a tag and a token, RELEASE= publishes and signs
RELEASE   ?= --snapshot --skip=sign,publish

.PHONY: help build run test race fuzz torture lint work bench archive price transfer models english reports papers schema release wheel python interop cloud clean
.DEFAULT_GOAL = build

help: ## these lines
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## the binary, in bin/velum
	$(BUILD) -o bin/velum ./cmd/velum

run: build ## mask the sample archive, show what came out, and hold it against its gold
	@rm -rf out/sample out/sample.private
	bin/velum run --in $(SAMPLE) --out out/sample --recall 0.98
	@echo
	@bin/velum prove evaluate --quiet --gold $(SAMPLE).gold --system out/sample --categories primary-care --draws -1 --at-least 0.95
	@echo
	@echo "masked notes  out/sample/masked      (Parquet: open it with DuckDB, pandas, Polars, Spark)"
	@echo "spans         out/sample/spans       (offsets and categories, no text)"
	@echo "report        out/sample/report.html"
	@echo "private       out/sample.private     (selection set, quarantine: holds words of notes)"

test: ## everything that a commit must pass: format, vet, tests
	@out=$$(gofmt -l cmd configs models pipeline scripts stages); test -z "$$out" || { echo "gofmt these:"; echo "$$out"; exit 1; }
	$(GO) vet $(PACKAGES)
	$(GO) test -timeout 25m $(filter-out $(PROPERTIES),$(shell $(GO) list $(PACKAGES)))
	$(GO) test -timeout 25m $(PROPERTIES) -rapid.seed=1

race: ## the tests under the race detector (needs cgo)
	CGO_ENABLED=1 $(GO) test -race -timeout 30m $(PACKAGES)

FUZZTIME ?= 30s
fuzz: ## every fuzz target for FUZZTIME=30s each, and the property tests with seeds of their own
	scripts/fuzz.sh $(FUZZTIME)
	$(GO) test -timeout 1h $(PROPERTIES) -rapid.checks=2000

torture: ## the long forms of the tests on reliability, some hours: TORTURE="-run TestTorture/kill" does one of them
	$(GO) test ./cmd/velum ./stages/read/archive -timeout 24h -v -run 'Torture|RealDisk|Power|Grow|Share|Shards|Models|Nth|Failpoints|Damage' -long $(TORTURE)

STATIC ?= honnef.co/go/tools/cmd/staticcheck@v0.8.2
lint: ## golangci-lint as .golangci.yml says where it is installed, else staticcheck, else go vet
	scripts/release/lint.sh $(STATIC)

work: ## tokens of Go outside tests, and the work of a note (statements, look-ups, bytes), against scripts/bench/work/bounds.txt; WORK=-update
	$(GO) test ./scripts/bench/work -timeout 30m -count=1 -v $(WORK) -bounds

bench: ## the benchmarks of all packages
	$(GO) test $(PACKAGES) -run '^$$' -bench . -benchmem

NOTES ?= 3000000
archive: build ## an archive of NOTES notes, generated ones and recombined sentences (../shared/data), in out/archive
	python3 scripts/data/archive.py --notes $(NOTES) --out out/archive

price: build ## processor time of a run as a multiple of gzip -6, generated and real notes (../shared/data): PRICE="--pairs 10"
	python3 scripts/bench/price.py $(PRICE)

transfer: build ## the table by which models, rules and patterns are chosen: sources, writers, documents left out (../shared/data): TRANSFER="--kinds crf"
	python3 scripts/bench/real/transfer.py --hands $(TRANSFER)

models: build ## the embedded models, and the sample archive, again (../shared/data)
	for model in morph meddocan primary-care; do scripts/data/models.sh $$model || exit 1; done
	$(MAKE) build
	for model in cascade inverse; do scripts/data/models.sh $$model || exit 1; done
	rm -rf $(SAMPLE) $(SAMPLE).gold
	bin/velum teach synth --notes 3100 --seed 2026 --split train --reports 0.008 --months 2 --out $(SAMPLE) --to archive

english: build ## a CRF and a network for notes in English, from the hands in scripts/data/hands-en: ENGLISH=--left-out scores hands that it has not heard
	python3 scripts/data/english.py $(ENGLISH)

reports: build ## out/models/reports.velum: five networks and a CRF for reports with MEDDOCAN's labels, an hour (../shared/data); run --model takes it
	scripts/data/models.sh reports

papers: build ## the papers' models by name, as the papers measured them (../shared/data): PAPERS="--only v ngrid"
	python3 scripts/bench/papers.py $(PAPERS)

schema: ## configs/schema.json, from the table of options
	$(GO) run ./cmd/velum run options --schema > configs/schema.json.new && mv configs/schema.json.new configs/schema.json

release: ## archives, deb, rpm, wheels, cask, bills of materials, SHA256SUMS in out/release; scripts/release/twice.sh makes and compares two
	scripts/release/tools.sh out/tools
	PATH="$(CURDIR)/out/tools:$$PATH" VERSION=$(VERSION) COMMIT=$(COMMIT) COMMIT_SECONDS=$(COMMITTED) COMMIT_TIME=$(shell date -u -d @$(COMMITTED) +%FT%TZ) goreleaser release --config scripts/release/goreleaser.yaml --clean $(RELEASE)

wheel: ## Python wheels with the binary in them, for amd64 and arm64, in out/wheel
	rm -rf out/wheel
	scripts/release/before.sh out/wheel-parts $(COMMITTED) $(VERSION) $(COMMIT)
	for arch in amd64 arm64; do GOARCH=$$arch $(BUILD) -o out/wheel-parts/velum_$$arch ./cmd/velum && \
		scripts/release/wheel.py --version $(VERSION) --binary out/wheel-parts/velum_$$arch --licences out/wheel-parts/THIRD_PARTY_LICENSES || exit 1; done

python: wheel ## the wheel in a fresh environment: first without network and libraries, then its tests with every library it serves (PyPI; Java for Spark)
	rm -rf out/python && python3 -m venv out/python
	out/python/bin/pip install --quiet -r scripts/python/requirements.txt
	out/python/bin/pip install --quiet --no-index --pre --find-links out/wheel velum
	env -i PATH=/nowhere $(shell which unshare) -rn out/python/bin/python -c 'import velum; assert velum.mask(["tel 600 123 456"]) == ["tel [TELEPHONE]"]'
	ALL_LIBRARIES=all out/python/bin/python scripts/python/test_velum.py
	out/python/bin/mypy --strict --disable-error-code import-untyped --cache-dir /dev/null scripts/python/velum
	out/python/bin/python scripts/python/bench.py
	out/python/bin/jupyter execute --kernel_name=python3 scripts/python/notebook.ipynb

interop: build ## files of DuckDB, pyarrow, pandas and Delta; public FHIR, HL7 and CDA; the recipe on Spark (PyPI, npm, Java)
	python3 scripts/interop/interop.py
	python3 scripts/interop/lakehouse.py
	scripts/formats/fetch.sh out/formats
	out/formats/venv/bin/python scripts/formats/check.py bin/velum out/formats
	python3 scripts/interop/engines.py bin/velum out/engines.md

cloud: build ## the recipe for object stores (configs/deploy/bucket.sh) against a server of S3 on this machine (needs rclone)
	scripts/cloud/test.sh bin/velum

clean: ## what the other targets left
	rm -rf bin
	$(GO) clean -testcache
