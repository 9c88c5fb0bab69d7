#!/bin/sh
# The library as it is installed: files, symbols, pkg-config, a program built against it.
#
#     library.sh FATHOM TOP BUILD SANITIZERS
. "$(dirname "$0")/lib.sh"
build=$3
sanitize=
[ "$4" = none ] || sanitize="-fsanitize=$4"
dest=$work/dest
code=0

DESTDIR=$dest meson install -C "$build" --no-rebuild --quiet >out 2>err
code=$?
ok "it can be installed" [ "$code" = 0 ]
prefix=$dest$(jq -r '.[] | select(.name == "prefix").value' "$build/meson-info/intro-buildoptions.json")
libdir=$prefix/$(jq -r '.[] | select(.name == "libdir").value' "$build/meson-info/intro-buildoptions.json")
shared=$libdir/libfathom.so
for file in "$prefix/bin/fathom" "$prefix/include/fathom.h" "$shared" "$shared.0" "$libdir/libfathom.a" \
    "$libdir/pkgconfig/fathom.pc" "$prefix/share/man/man1/fathom.1" \
    "$prefix/share/fathom/machines/ibm-power7.yaml"; do
    ok "installed: ${file#$prefix/}" [ -s "$file" ]
done

# Symbols. The file of the Debian package is the record of what has been promised.
nm -D --defined-only "$shared" | awk '$2 == "T" { print $3 }' | sort >shown
sed -n 's/^ \(fathom_[a-z_]*@FATHOM_[0-9]*\) .*/\1/p' "$top/debian/libfathom0.symbols" |
    sed 's/@/@@/' | sort >promised
sed -n 's/^    \(fathom_[a-z_]*\);$/\1/p' "$top/src/api/fathom.map" | sort >mapped
sed 's,/\*.*\*/,,; /^typedef/d; /^ \*/d; /^   /d' "$top/include/fathom.h" |
    sed -n 's/.*[ *]\(fathom_[a-z_]*\)(.*/\1/p' | sort >declared
same() {
    diff "$1" "$2" >out
}
ok "every function of fathom.h is in src/api/fathom.map, and no other" same declared mapped
sed 's/@.*//' shown >names
ok "the shared library shows these and nothing else" same mapped names
ok "debian/libfathom0.symbols has them all" same promised shown
ok "the Debian package has this version" sh -c 'head -n 1 "$1/debian/changelog" | grep -q "^fathom ($2)"' - \
    "$top" "$("$fathom" --version | cut -d ' ' -f 2)"
ok "the name it is found by" sh -c 'objdump -p "$1" | grep -q "SONAME *libfathom.so.0\$"' - "$shared"

# Never prints, never exits, takes no signals, changes nothing that belongs to the whole program.
nm -D -u "$shared" | awk '{ sub(/@.*/, "", $2); print $2 }' | sort >needs
grep -x -e printf -e puts -e putchar -e perror -e stdout -e stderr -e exit -e _exit -e abort -e signal \
    -e sigaction -e setlocale -e setenv -e putenv -e chdir -e umask needs >out
ok "it calls nothing that prints, exits or changes the process" [ ! -s out ]
# cache_info is the compiler's, for the caches that it makes see new code.
if [ -z "$sanitize" ]; then
    objdump -t "$shared" | awk '($4 == ".data" || $4 == ".bss") && / O / && $NF !~ /^(__.*|completed\..*|cache_info\..*)$/' >out
    ok "it has no variables of its own" [ ! -s out ]
fi

export PKG_CONFIG_PATH="$libdir/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$dest" LD_LIBRARY_PATH="$libdir"
built() {
    "$@" >out 2>err
}
ok "pkg-config knows its version" [ "$(pkg-config --modversion fathom)" = "$("$fathom" --version | cut -d ' ' -f 2)" ]
flags=$(pkg-config --cflags --libs fathom)
ok "the example, shared" built cc -std=c99 -Wall -Wextra -Werror $sanitize "$top/examples/levels.c" -o levels $flags
ok "it is linked to the installed library" sh -c 'ldd ./levels | grep -q "libfathom.so.0 => $1"' - "$libdir"
./levels intel-pentium-133 >out 2>err
code=$?
ok "the example runs" [ "$code" = 0 ]
ok "the example knows the machine" has '^l1d.capacity 8192 bytes, from 8192 to 8192$'
./levels nosuchmachine >out 2>err
ok "the example tells what went wrong" grep -q '^levels: nosuchmachine: there is no such file' err
needed=$(pkg-config --print-requires-private fathom | cut -d ' ' -f 1)
ok "the example, static" built cc $sanitize "$top/examples/levels.c" -o static $(pkg-config --cflags fathom) \
    "$libdir/libfathom.a" $(PKG_CONFIG_SYSROOT_DIR= pkg-config --libs $needed) \
    $(sed -n 's/^Libs.private: //p' "$libdir/pkgconfig/fathom.pc")
ok "it needs no libfathom.so" sh -c '! ldd ./static | grep -q libfathom'
cat >use.cpp <<'END'
#include <fathom.h>
#include <cstdio>
int main()
{
    fathom_options *options = fathom_options_new();
    fathom_error err;
    const bool refused = !fathom_options_set(options, "seed", "x", &err) && err.code == FATHOM_USAGE;
    fathom_options_free(options);
    std::printf("%s %d\n", fathom_version(), refused);
    return 0;
}
END
ok "a program in C++" built c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror $sanitize use.cpp -o use $flags
./use >out 2>err
ok "it runs" has "^$(pkg-config --modversion fathom) 1\$"
"$prefix/bin/fathom" --version >out 2>err
ok "the installed program runs" has '^fathom '

done_testing
