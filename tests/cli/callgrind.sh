#!/bin/sh
# Callgrind's cache model comes back from its own counters: line, capacity and ways of D1 and LL, and
# of I1 where it is named.
#
#     callgrind.sh PROGRAM SOURCE [more|many]      (more: for `make test-long`; many: all shapes, for
#                                                   `make conformance`)
. "$(dirname "$0")/lib.sh"

# shape NAME SIZE WAYS LINE [WITNESSES]: a filter that holds when the findings have just that.
shape() {
    ways=$3
    [ $(($3 * $4)) != "$2" ] || ways='"full"'
    echo ".\"$1.capacity\".value == $2 and .\"$1.physical_capacity\".value == $2 and
        .\"$1.line\".value == $4 and .\"$1.ways\".value == $ways and
        .\"$1.capacity\".claimed_by == \"callgrind\" and
        .\"$1.capacity\".witnesses == ${5:-[\"callgrind\"]}"
}

# came_back D1 LL: each size,ways,line in bytes, in what was printed last.
came_back() {
    # shellcheck disable=SC2046 # three figures
    ok "D1=$1 LL=$2" json "([.findings[] | {(.property): .}] | add) |
        ($(shape l1d $(echo "$1" | tr , ' '))) and ($(shape l2 $(echo "$2" | tr , ' ')))"
}

# comes_back D1 LL: the same of a survey.
comes_back() {
    run survey --callgrind "D1=$1 LL=$2" --format json
    came_back "$1" "$2"
}

# code_comes_back I1: the same for the side of code.
code_comes_back() {
    run survey --callgrind "I1=$1 D1=2048,2,64 LL=8192,2,64" --format json
    # shellcheck disable=SC2046 # three figures
    ok "I1=$1" json "([.findings[] | {(.property): .}] | add) | ($(shape l1i $(echo "$1" | tr , ' ')))"
}

# method_finds METHOD D1 LL: the published methods that count, in the same model.
method_finds() {
    run survey --method "$1" --callgrind "D1=$2 LL=$3" --format json
    # shellcheck disable=SC2046 # three figures
    ok "$1: D1=$2 LL=$3" json "([.findings[] | {(.property): .}] | add) |
        ($(shape l1d $(echo "$2" | tr , ' ') "$4")) and ($(shape l2 $(echo "$3" | tr , ' ') "$4"))"
}

# On x86 callgrind refuses lines that are shorter than a register.
shortest=16
[ "$(uname -m)" != x86_64 ] || shortest=32
if [ "${3:-}" = more ]; then
    # One set, which a meter's own lines push all of ours out of.
    comes_back 4096,64,64 32768,512,64
    comes_back 2048,2,64 4096,64,64
    done_testing
    exit
fi
code_comes_back 1024,1,$shortest
if [ "${3:-}" = many ]; then
    comes_back 4096,1,32 65536,2,64
    method_finds amp 3072,3,64 20480,5,64 '["callgrind"]'
    ok "amp: LRU is not told as lots" json '[.findings[] | select(.property == "l1d.replacement") | .value] == [null]'
    ok "amp: writes allocate" json '[.findings[] | select(.property == "l1d.write_allocate") | .value] == [true]'
    method_finds papi-cache 3072,3,64 20480,5,64 '["callgrind", "callgrind/double"]'
    ok "papi-cache: nothing is gone past" json '[.findings[] | select(.property | endswith("fp_bypass")) | .value] ==
        [false, false]'
    for i1 in 512,1,$shortest 2048,1,$shortest 1024,1,32 1024,$((1024 / shortest)),$shortest 2048,32,64 8192,2,32 16384,1,$shortest 32768,8,64 65536,4,64 49152,3,128 20480,5,64 12288,6,32; do
        code_comes_back "$i1"
    done
    while read -r d1 ll; do
        comes_back "$d1" "$ll"
    done <<END
32768,8,64 262144,16,64
16384,4,64 1048576,8,64
1024,1,$shortest 16384,16,32
8192,2,32 524288,4,32
49152,12,64 1572864,12,64
65536,4,128 4194304,16,128
2048,2,64 4096,4,64
2048,2,64 4096,64,64
4096,64,64 32768,512,64
24576,3,64 98304,3,64
4096,2,64 32768,512,64
1024,$((1024 / shortest)),$shortest 32768,2,64
4096,64,64 65536,1024,64
8192,128,64 262144,8,64
2048,32,64 524288,8,64
4096,64,64 65536,16,64
32768,8,64 65536,4,64
16384,16,256 131072,1,256
20480,5,64 458752,7,64
32768,2,64 8388608,16,64
END
    done_testing
    exit
fi

mkdir tmp
TMPDIR=$work/tmp
XDG_CACHE_HOME=$work/cache
export TMPDIR XDG_CACHE_HOME
run survey --callgrind "D1=4K,1,32 LL=64KiB,2,64" --record samples --format json
jq -S .findings out >counted
came_back 4096,1,32 65536,2,64
ok "there is no time in a model" json '[.findings[].property] | index("l1d.latency") == null'
ok "whose model it is" json '.machine.counters.meter == "callgrind" and .machine.counters.alone'
run survey --replay samples --format json
jq -S .findings out >again
ok "counts are recorded and replayed" cmp -s counted again
ok "nothing is left behind" rmdir tmp
mkdir tmp
ok "a model is not kept as this computer" [ ! -e cache/fathom ]
# To fathom alone, not to its group: it has to tell the other, which counts as soon as it has dumped.
"$fathom" survey --callgrind "D1=32768,8,64 LL=262144,16,64" --thorough --format json >out 2>err &
pid=$!
until ls tmp/*/dump.[0-9]* >/dev/null 2>&1; do
    kill -0 $pid 2>/dev/null || break
    sleep 0.01
done
inner=$(pgrep -P $pid)
kill -INT $pid
wait $pid
code=$?
ok "interrupted: exit 130" [ "$code" = 130 ]
ok "… what is known is printed" json '.complete == false'
ok "… and nobody is left" sh -c "! kill -0 $inner 2>/dev/null"
refused "a probe that reads the clock" 3 'no time' survey --callgrind "D1=8K,2,32 LL=64K,4,64" \
    --only levels
done_testing
