# A thin layer over Meson, so that two words are enough on a machine that has only git, make and
# a shell. Everything here can be done with meson and ninja directly.

BUILD ?= build
SETUP_FLAGS ?=
FUZZ_SECONDS ?= 60
PREFIX ?= /usr/local
export DESTDIR

.PHONY: all deps run install test test-long bench accuracy conformance lint fuzz package static clean

# Standard output is for what is measured, so that `make run` can be piped.
all: $(BUILD)/build.ninja
	@[ -e $(BUILD)/fathom ] || echo "building Fathom (a minute or two the first time)" >&2
	@ninja -C $(BUILD) --quiet >&2

deps:
	@tools/install-deps build >&2

$(BUILD)/build.ninja: | deps
	@meson setup $(BUILD) $(SETUP_FLAGS) >&2

run: all
	@$(BUILD)/fathom

# make install PREFIX=/usr DESTDIR=/tmp/package
install: all
	@meson configure $(BUILD) -Dprefix=$(PREFIX)
	@meson install -C $(BUILD) --quiet

test:
	@tools/install-deps build test
	@tools/run-tests $(BUILD) $(SETUP_FLAGS)

# Random machines that take long, and on which something was wrong once
test-long:
	@tools/install-deps build test
	@tools/run-tests --long $(BUILD) $(SETUP_FLAGS)

bench: all
	@meson test -C $(BUILD) --no-rebuild --benchmark --verbose

accuracy conformance: all
	@ninja -C $(BUILD) $@

lint: $(BUILD)/build.ninja
	@tools/install-deps lint
	@tools/lint $(BUILD)

fuzz:
	@tools/install-deps build fuzz
	@tools/fuzz $(FUZZ_SECONDS)

# Debian packages, in build-package
package:
	@tools/install-deps build package
	@tools/package

# One file to copy to a machine where nothing can be installed: build-static/fathom
static: deps
	@[ -e build-static/build.ninja ] || meson setup build-static -Dstatic=true -Dhwloc=disabled -Dpapi=disabled \
	    -Dsource_tree=false -Dbuildtype=release
	@ninja -C build-static --quiet fathom
	@strip -o build-static/fathom-stripped build-static/fathom && mv build-static/fathom-stripped build-static/fathom
	@! readelf -d build-static/fathom | grep NEEDED
	@build-static/fathom survey --machine machines/intel-pentium-133.yaml --quick --quiet >build-static/survey
	@build-static/fathom --version
	@ls -l build-static/fathom

clean:
	rm -rf $(BUILD) build-ci build-asan build-fuzz build-package build-static
