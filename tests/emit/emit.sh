#!/bin/sh
# The code emitters beside the assembler, byte for byte, and their code run: here as it is, for
# other architectures under qemu.
#
#     emit.sh CASES SOURCE-ROOT
set -u

cases=$1 root=$2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

number=0
result() {
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then echo "ok $number - $2"; else echo "not ok $number - $2"; fi
}

assemble() { # ARCH TRIPLE
    "$cases" "$1" bytes >"$folder/bytes" && "$cases" "$1" text >"$folder/text.s" || return 1
    "$2-as" "$folder/text.s" -o "$folder/text.o" &&
        "$2-objcopy" -O binary -j .text "$folder/text.o" "$folder/assembled" || return 1
    cmp "$folder/bytes" "$folder/assembled" >&2
}

run() { # ARCH TRIPLE
    emulator=
    [ "$(uname -m)" = "$1" ] || emulator=qemu-$1
    native=$root/src/machine/native
    "$2-gcc" -std=c17 -D_GNU_SOURCE -O1 -static -I"$root/src" -o "$folder/run" \
        "$root/tests/emit/run.c" "$native"/code.c "$native"/emit*.c "$root"/src/core/error.c \
        "$root"/src/core/rng.c "$root"/src/core/units.c || return 1
    # What a signal ends is told by the status; qemu need not say so too.
    $emulator "$folder/run" >"$folder/said" 2>&1 || {
        cat "$folder/said" >&2
        return 1
    }
}

echo 1..8
for pair in aarch64:aarch64-linux-gnu x86_64:x86_64-linux-gnu riscv64:riscv64-linux-gnu \
    ppc64le:powerpc64le-linux-gnu; do
    assemble "${pair%:*}" "${pair#*:}"
    result $? "${pair%:*}: what is written is what the assembler makes"
    run "${pair%:*}" "${pair#*:}"
    result $? "${pair%:*}: it runs, and every slot is jumped to"
done
