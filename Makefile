# velum. `make build` and `make test` need Go and nothing else.

GO        ?= go
VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT    ?= $(shell git rev-parse HEAD 2>/dev/null)
COMMITTED ?= $(shell git log -1 --format=%ct 2>/dev/null)
FUZZTIME  ?= 30s
NOTES     ?= 3000000
SAMPLE     = cmd/velum/testdata/sample
PACKAGES  ?= ./...
SEED      ?= 1
CHECKS    ?= 2000
# packages with property tests: they alone know the flags of rapid
PROPERTIES = $(sort $(shell $(GO) list -f '{{range .TestImports}}{{if eq . "pgregory.net/rapid"}}{{$$.ImportPath}}{{end}}{{end}} {{range .XTestImports}}{{if eq . "pgregory.net/rapid"}}{{$$.ImportPath}}{{end}}{{end}}' $(PACKAGES)))
STATIC    ?= honnef.co/go/tools/cmd/staticcheck@v0.8.2
# No cgo: one static binary for every Linux. No paths of this machine in it.
export CGO_ENABLED ?= 0
# which functions call which how often in a run: the compiler inlines by it (4 % of the time); PGO=off builds without
PGO       ?= cmd/velum/run.pgo
# What no run waits for is not inlined: 1.7 MB of the binary; gorgonia's arithmetic is ours. With the tag tinygo, which
# nothing else here asks for, Arrow writes JSON by the standard library: .9 MB, and 1.5 MB of every start.
COLD       = gorgonia.org gonum.org google.golang.org github.com/gogo github.com/goccy github.com/awalterschulze github.com/twmb \
             github.com/spf13 github.com/apache/thrift github.com/RoaringBitmap github.com/bits-and-blooms github.com/andybalholm \
             github.com/vbauerster net crypto/tls crypto/x509 text/template html/template encoding/gob encoding/xml math/big \
             $(addprefix github.com/velum-health/velum/cmd/velum/internal/,attack lab look page proof propose report review score)
SMALL      = -tags=tinygo $(foreach p,$(COLD),-gcflags=$(p)/...=-l)
LDFLAGS    = -s -w -X main.version=$(VERSION) -X main.revision=$(COMMIT)
BUILD      = $(GO) build -trimpath -buildvcs=false -pgo=$(PGO) $(SMALL) -ldflags "$(LDFLAGS)"
# what make release does: nothing leaves this machine; with a tag and a token, RELEASE= publishes and signs
RELEASE   ?= --snapshot --skip=sign,publish

.PHONY: gap formats liblinear cloud engines benchmarks price light browser build properties run sample models archive test race fuzz torture bench work pgo compare lint layers cover interop attack clusters schema man release packages wheel python clean transfer strangers papers start-figures

# the binary, in bin/velum
build:
	$(BUILD) -o bin/velum ./cmd/velum

# the recipe for object stores (configs/deploy/bucket.sh) against a server of S3 on this machine (needs rclone and the Go module proxy)
cloud: build
	scripts/cloud/test.sh bin/velum

# mask the sample archive, show what came out, and check it against its gold
run: build
	@rm -rf out/sample out/sample.private
	bin/velum run --in $(SAMPLE) --out out/sample --recall 0.985
	@echo
	@bin/velum evaluate --quiet --gold $(SAMPLE).gold --system out/sample --categories primary-care --draws -1 --at-least 0.95 --brief
	@echo
	@echo "masked notes  out/sample/masked      (Parquet: open it with DuckDB, pandas, Polars, Spark)"
	@echo "spans         out/sample/spans       (offsets and categories, no text)"
	@echo "report        out/sample/report.html"
	@echo "private       out/sample.private     (selection set, quarantine: holds words of notes)"

# the sample archive again: two months of invented notes, from one seed; its templates and names are those of
# the training split, so it shows that everything works and not how well (BENCHMARKS.md has unseen ones)
sample: build
	rm -rf $(SAMPLE) $(SAMPLE).gold
	bin/velum synth --notes 3100 --seed 2026 --split train --reports 0.008 --months 2 --out $(SAMPLE) --to archive

# the embedded models again, from ../shared/data and generated notes
models: build
	scripts/data/models.sh morph
	scripts/data/models.sh meddocan
	scripts/data/models.sh primary-care
	$(MAKE) build
	scripts/data/models.sh cascade
	scripts/data/models.sh inverse

# the one table by which models, rules, lists and patterns are chosen: each source left out, writers and kinds of document left out, with
# intervals; under an hour on two cores (../shared/data): make transfer TRANSFER="--kinds crf --set resolve.rules=false"
transfer: build
	python3 scripts/bench/real/transfer.py --hands $(TRANSFER)

# the light on notes of kinds that no model here knows: none may be green (../shared/data); light.py draws holds the number expected against the true one
light: build
	python3 scripts/bench/real/light.py kinds $(LIGHT)
# a first month without labels on sources that the first model has not heard, the hidden marks in the curator's place (../shared/data)
start-figures: build
	python3 scripts/bench/real/transfer.py --work out/transfer --prepare
	python3 scripts/bench/real/start.py $(START)

# names of 30 origins and surnames of INE in sentences of writers that no model has seen, and false spans in case reports (../shared/data)
strangers: build
	python3 scripts/bench/real/names.py --velum bin/velum primary-care cascade

# the attacks of `velum attack` on an archive of real notes as filler, with names by the frequency of INE (../shared/data)
attack: build
	python3 scripts/experiments/attack.py $(ATTACK)

# the papers' models by name, as the papers measured them, on MEDDOCAN and notes-voices; goes on where it was stopped (PAPERS="--only v ngrid", --table)
papers: build
	python3 scripts/experiments/papers.py $(PAPERS)

# 100 reports and an archive of short notes: what the archive teaches by itself, and what questions do; five draws, an hour (../shared/data)
gap: build
	python3 scripts/experiments/gap.py $(GAP)

# cmd/velum/run.pgo again: a run over short notes and one over reports, without a path of this machine
pgo:
	rm -rf out/pgo
	$(GO) run ./scripts/data/archive --notes 200000 --out out/pgo/notes
	$(GO) run ./scripts/data/archive --kind reports --notes 3000 --seed 2 --out out/pgo/reports
	VELUM_ARCHIVE=$(CURDIR)/out/pgo $(GO) test -trimpath ./cmd/velum -run '^$$' -bench '(Run|Fast)$$' -benchtime 2x -o out/velum.test -cpuprofile $(CURDIR)/out/run.prof
	$(GO) run ./scripts/bench/pgo out/run.prof $(PGO)

# work a note, counted and not timed, against scripts/bench/work/bounds.txt; WORK=-update writes them
work:
	$(GO) run ./scripts/bench/work $(WORK)

# an archive of NOTES notes for benchmarks, in out/archive
archive:
	$(GO) run ./scripts/data/archive --notes $(NOTES) --out out/archive

# everything that a commit must pass: format, vet, tests
test:
	@out=$$(gofmt -l cmd configs models pipeline scripts stages); test -z "$$out" || { echo "gofmt these:"; echo "$$out"; exit 1; }
	$(GO) vet $(PACKAGES)
	$(GO) test -timeout 25m $(filter-out $(PROPERTIES),$(shell $(GO) list $(PACKAGES)))
	$(GO) test -timeout 25m $(PROPERTIES) -rapid.seed=$(SEED)

# the property tests alone, CHECKS draws each from a seed of their own (make test draws from SEED, the same every time)
properties:
	$(GO) test -timeout 1h $(PROPERTIES) -rapid.checks=$(CHECKS)

# the tests under the race detector, which needs cgo
race:
	CGO_ENABLED=1 $(GO) test -race -timeout 30m $(PACKAGES)

# the long forms of the tests on reliability, some hours: TORTURE="-run TestTorture/kill" does one of them
torture:
	$(GO) test ./cmd/velum ./stages/read/archive -timeout 24h -v -run 'Torture|RealDisk|Power|Grow|Share|Shards|Models|Nth|Failpoints|Damage' -long $(TORTURE)

# every fuzz target for FUZZTIME each, one after the other
fuzz:
	scripts/fuzz.sh $(FUZZTIME)

# public examples of FHIR, HL7 v2 and CDA through the stream: valid by libraries that are not ours, and nothing outside the text
# changed (npm and pip)
formats: build
	scripts/formats/fetch.sh out/formats
	out/formats/venv/bin/python scripts/formats/check.py bin/velum out/formats

# BENCHMARKS.md from the results that stand in scripts/bench/results
benchmarks:
	$(GO) run ./scripts/bench/page

# whole runs beside a pass-through run, and the benchmarks of every package; writes a file of results
bench: build
	test -d out/archive || $(MAKE) archive
	$(GO) run ./scripts/bench --archive out/archive
	$(MAKE) benchmarks

# whether what is expected to be left, and the bounds of readings, hold where nobody tuned (../shared/data, pyarrow)
.PHONY: coverage
coverage: build
	python3 scripts/experiments/coverage.py $(COVERAGE)

# processor time of a run as a multiple of gzip -6, generated and real notes, in turns (needs ../shared/data): make price PRICE="--pairs 10"
price: build
	python3 scripts/bench/price.py $(PRICE)
	$(MAKE) benchmarks

# training and tagging beside CRFsuite with the same attributes, in a virtual environment under out (needs Python, PyPI, and ../shared/data)
compare:
	test -d out/compare/venv || { python3 -m venv out/compare/venv && out/compare/venv/bin/pip install --quiet python-crfsuite==0.9.12; }
	out/compare/venv/bin/python scripts/bench/crfsuite_compare.py --train ../shared/data/meddocan/train --dev ../shared/data/meddocan/dev --out out/compare $(COMPARE)

# our SVM beside LIBLINEAR on the same rows: objective, equal tags (Debian liblinear-tools, ../shared/data): make liblinear LIBLINEAR="--tolerance 0.01"
liblinear:
	mkdir -p out/liblinear
	$(GO) run ./scripts/bench/crfsuite liblinear --train ../shared/data/meddocan/train --dev ../shared/data/meddocan/dev --out out/liblinear --workers 2 $(LIBLINEAR)

# golangci-lint as .golangci.yml says where it is installed, else staticcheck; without a network, what Go itself finds
lint:
	scripts/release/lint.sh $(STATIC)

# our packages in layers, the lowest first, with what each imports of ours
layers:
	@$(GO) list -deps -f '{{.ImportPath}} {{join .Imports " "}}' ./... | awk -v m=$$($(GO) list -m)/ 'index($$1, m) == 1 { \
		p = substr($$1, length(m) + 1); d = 1; uses = ""; \
		for (i = 2; i <= NF; i++) if (index($$i, m) == 1) { q = substr($$i, length(m) + 1); uses = uses " " q; if (layer[q] >= d) d = layer[q] + 1 } \
		layer[p] = d; printf "%2d  %-36s%s\n", d, p, uses }' | sort -n

# statements covered by tests, by function, in bin/cover.html
cover:
	@mkdir -p bin
	$(GO) test -timeout 20m -coverpkg=./... -coverprofile=bin/cover.out $(PACKAGES)
	$(GO) tool cover -html=bin/cover.out -o bin/cover.html
	$(GO) tool cover -func=bin/cover.out | tail -1

# the curators' page in a headless browser: sessions by keyboard, and what it looks like, in out/screenshots (needs Debian's chromium)
browser:
	@command -v chromium chromium-browser google-chrome >/dev/null || { echo "no browser: apt-get install chromium"; exit 1; }
	mkdir -p out/screenshots
	VELUM_SCREENSHOTS=$(CURDIR)/out/screenshots $(GO) test ./cmd/velum/internal/review -count 1 -v -run 'Key|Adjudication|Reflow|Look'

# files of DuckDB, pyarrow and pandas read here, and ours read there (needs Python and PyPI)
interop: build
	python3 scripts/interop/interop.py
	python3 scripts/interop/lakehouse.py

# the Spark recipe on Spark, with an executor killed and speculation on (needs Java 17 and PyPI)
engines: build
	python3 scripts/interop/engines.py bin/velum scripts/bench/results/34-engines.md
	$(MAKE) benchmarks

# vectors and clusters from ../shared/data, in out/clusters
clusters: build
	scripts/data/clusters.sh

# configs/schema.json, made from the table of options
schema:
	$(GO) run ./cmd/velum config schema > configs/schema.json.new && mv configs/schema.json.new configs/schema.json

# manual pages, in bin/man
man: build
	bin/velum man bin/man

# archives, deb, rpm, wheels, cask, bills of materials and SHA256SUMS for linux/amd64 and arm64, in out/release (needs the Go module proxy)
release:
	scripts/release/tools.sh out/tools
	PATH="$(CURDIR)/out/tools:$$PATH" GOFLAGS="$(SMALL)" COMMIT=$(COMMIT) COMMIT_SECONDS=$(COMMITTED) COMMIT_TIME=$(shell date -u -d @$(COMMITTED) +%FT%TZ) goreleaser release --config scripts/release/goreleaser.yaml --clean $(RELEASE)

# two releases of the commit, in two folders with compiler caches of their own, and what differs; their packages installed into a root and run
packages:
	scripts/release/twice.sh out/twice

# Python wheels with the binary in them, for amd64 and arm64, in out/wheel
wheel:
	rm -rf out/wheel
	GOFLAGS="$(SMALL)" scripts/release/before.sh out/wheel-parts $(COMMITTED) $(VERSION) $(COMMIT)
	for arch in amd64 arm64; do GOARCH=$$arch $(BUILD) -o out/wheel-parts/velum_$$arch ./cmd/velum && \
		$(GO) run ./scripts/release --binary out/wheel-parts/velum_$$arch --licences out/wheel-parts/THIRD_PARTY_LICENSES || exit 1; done

# the wheel in a fresh environment, first without network, compiler and libraries: its tests with pandas, Polars, pyarrow, datasets, spaCy and Presidio, 100,000 notes, the notebook,
# Spark, types (needs PyPI, and Java for Spark)
python: wheel
	rm -rf out/python && python3 -m venv out/python
	out/python/bin/pip install --quiet -r scripts/python/requirements.txt
	out/python/bin/pip install --quiet --no-index --pre --find-links out/wheel velum
	env -i PATH=/nowhere $(shell which unshare) -rn out/python/bin/python -c 'import velum; assert velum.mask(["tel 600 123 456"]) == ["tel [TELEPHONE]"]'
	ALL_LIBRARIES=all out/python/bin/python scripts/python/test_velum.py
	out/python/bin/mypy --strict --disable-error-code import-untyped --cache-dir /dev/null scripts/python/velum
	out/python/bin/python scripts/python/bench.py
	out/python/bin/jupyter execute --kernel_name=python3 scripts/python/notebook.ipynb

# what the other targets left
clean:
	rm -rf bin
	$(GO) clean -testcache
