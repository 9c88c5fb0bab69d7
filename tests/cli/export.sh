#!/bin/sh
# Exports, each given to the program it is for.
. "$(dirname "$0")/lib.sh"

# A survey of a machine that is known, with what no probe finds yet put in by hand: only the export
# is under test here.
run survey --machine "$data/good/small.yaml" --seed 1 -o measured.json
ok "a result to export" [ "$code" = 0 -a -s measured.json ]
jq 'def add(p; v): .findings += [.findings[0] | .property = p | .unit = "" | .value = v | .low = v |
        .high = v];
    .findings |= map(select(.property | test("^l2.(physical|ways|replacement)|^l1d.(replacement|write|shared)|^l1i") | not)) |
    add("l2.physical_capacity"; 65536) | add("l2.ways"; 4) | add("l1d.replacement"; "lru") |
    add("l1d.write_allocate"; true) | add("l1d.write_policy"; "back") | add("l1d.shared_by"; 1) | add("l2.shared_by"; 1) |
    add("l1i.capacity"; 8192) | add("l1i.line"; 32) | add("l1i.ways"; "full") |
    add("dtlb1@2MiB.entries"; 16) | add("memory.parallel_misses"; 7)' measured.json >full.json
jq '.findings |= map(if .property | test("^l2") then .status = "undetermined" | .value = null |
    .low = null | .high = null | .confidence = null | .note = "two plateaus run together" else . end)' \
    full.json >unsure.json
jq '.findings |= map(.status = "undetermined" | .value = null)' full.json >nothing.json
l2=$(jq '.findings[] | select(.property == "l2.capacity").value' full.json)
echo 'int main(void) { return 0; }' >program.c

# exported TARGET FILE: the export's text is in out, and in the file TARGET.
exported() {
    run export "$2" --to "$1"
    cp out "$1"
    [ "$code" = 0 ] && [ -s out ]
}
says() {
    grep -q -e "$1" err
}
silent_about() {
    ! grep -q -e "$1" out
}

ok "gcc" exported gcc full.json
ok "gcc compiles with it" gcc -Wall -Werror -O2 $(cat gcc) -c program.c -o program.o
gcc $(cat gcc) -Q --help=params >params 2>err
took() {
    awk -v name="--param=$1=" -v value="$2" '$1 == name && $NF == value { found = 1 } END { exit !found }' params
}
ok "gcc knows the size of L1" took l1-cache-size 4
ok "gcc knows its line" took l1-cache-line-size 32
ok "gcc knows the size of L2" took l2-cache-size $((l2 / 1024))
ok "gcc knows how many fetches run at once" took simultaneous-prefetches 7
exported gcc unsure.json
ok "gcc: nothing of L2 when nothing is known" silent_about l2-cache-size
ok "gcc: and that is said, with the reason" says '^fathom: l2-cache-size left out: l2.capacity is undetermined: two plateaus'
ok "gcc: the rest stays" has '--param l1-cache-size=4 --param l1-cache-line-size=32'

ok "clang" exported clang full.json
ok "clang compiles with it" clang -Werror -O3 -mllvm -polly $(cat clang) -c program.c -o program.o
ok "clang has sizes in bytes" has "polly-target-2nd-cache-level-size=$l2 "
exported clang unsure.json
ok "clang: what is not known" silent_about 2nd-cache
ok "clang: is said" says '^fathom: polly-target-2nd-cache-level-size left out'

ok "c-header" exported c-header full.json
cat >header.c <<'END'
#include "machine.h"
#include "machine.h"
int sizes[FATHOM_L1D_CAPACITY == 4096 && FATHOM_L1D_LINE == 32 && FATHOM_L1I_CAPACITY == 8192 &&
          FATHOM_DTLB1_2MIB_ENTRIES == 16 && FATHOM_L1D_WRITE_ALLOCATE == 1 ? 1 : -1];
const char *ways = FATHOM_L1I_WAYS;
double latency = FATHOM_MEMORY_LATENCY;
END
cp c-header machine.h
cp header.c header.cpp
ok "a C compiler takes it" cc -std=c99 -Wall -Wextra -Wpedantic -Werror -c header.c -o header.o
ok "a C++ compiler takes it" c++ -Wall -Wextra -Wpedantic -Werror -c header.cpp -o header.o
exported c-header unsure.json
ok "c-header: no macro for what is not known" silent_about FATHOM_L2
ok "c-header: is said" says '^fathom: FATHOM_L2_CAPACITY left out'

ok "env" exported env full.json
ok "env: only assignments" [ "$(grep -cv '^[A-Z][A-Z0-9_]*=[A-Za-z0-9.+-]*$' env)" = 0 ]
ok "a shell takes it" sh -ec '. ./env; [ $((FATHOM_L1D_CAPACITY / FATHOM_L1D_LINE)) = 128 ]'
ok "a program gets it" env $(cat env) sh -c '[ "$FATHOM_DTLB1_2MIB_ENTRIES" = 16 ]'
ok "OpenBLAS counts in KiB" has "^OPENBLAS_L2_SIZE=$((l2 / 1024))\$"
ok "BLIS: ways, sets and line" sh -ec '. ./env; [ $BLIS_SVE_W_L1,$BLIS_SVE_N_L1,$BLIS_SVE_C_L1 = 2,64,32 ] &&
    [ $BLIS_SVE_W_L2,$BLIS_SVE_N_L2,$BLIS_SVE_C_L2 = 4,256,64 ]'
exported env unsure.json
ok "env: what is not known" silent_about '_L2'
ok "env: is said" says '^fathom: OPENBLAS_L2_SIZE left out'

ok "hwloc-xml" exported hwloc-xml full.json
lstopo-no-graphics -i hwloc-xml --if xml --of console -v --filter icache:all >out 2>err
code=$?
ok "lstopo takes it" [ "$code" = 0 -a ! -s err ]
ok "lstopo: L2" has '^  *L2Cache L#0 (size=[0-9]*KB linesize=64 ways=4'
ok "lstopo: L1" has '^  *L1dCache L#0 (size=4KB linesize=32 ways=2'
ok "lstopo: L1i, fully associative" has '^  *L1iCache L#0 (size=8KB linesize=32 fully-associative'
ok "lstopo: the size of L2 to the byte" sh -c 'lstopo-no-graphics -i hwloc-xml --if xml --of xml |
    grep -q "type=\"L2Cache\".* cache_size=\"$1\""' - "$l2"
ok "lstopo: latencies" has 'l2.latency=12'
ok "lstopo: TLBs" has 'dtlb1@2MiB.entries=16'
exported hwloc-xml unsure.json
lstopo-no-graphics -i hwloc-xml --if xml --of console -v >out 2>lstopo.err
ok "lstopo: no L2 where none is known" silent_about L2
ok "hwloc-xml: is said" says '^fathom: L2Cache left out'
jq '.machine.name = "<a> & \"b\" \u001b[31m \u202e" | .machine.cpu = 70' full.json >odd.json
ok "hwloc-xml of a machine with an odd name" exported hwloc-xml odd.json
lstopo-no-graphics -i hwloc-xml --if xml --of console -v >out 2>err
ok "lstopo shows it as it is" has 'CPUModel="<a> & "b" \\x1b'
ok "lstopo: the CPU that was measured" has 'PU L#0 (P#70'

jq '.machine.cpu = 2 | .environment.online = "0-3,40"' full.json >odd.json
ok "hwloc-xml of a computer with more CPUs" exported hwloc-xml odd.json
shown() {
    lstopo-no-graphics -i hwloc-xml --if xml --of console >out 2>err
}
shown
ok "lstopo: the measured one behind its caches, in a core" has 'L2 L#0 .* L1d L#0 .* Core L#0 + PU L#[0-9] (P#2)$'
ok "lstopo: the others beside it" [ "$(grep -c '^  PU L#[0-9] (P#\(0\|1\|3\|40\))$' out)" = 4 -a ! -s err ]
for list in 7-2 0-999999 x ,,, 1-; do
    jq --arg list "$list" '.environment.online = $list' full.json >odd.json
    exported hwloc-xml odd.json
    ok "lstopo takes a list that is none: $list" shown
done

ok "cachegrind" exported cachegrind full.json
valgrind --tool=cachegrind --cachegrind-out-file=counts $(cat cachegrind) true >out 2>err
code=$?
ok "valgrind takes it" [ "$code" = 0 ]
modelled() {
    grep -q "^desc: $1" counts
}
ok "cachegrind: D1" modelled 'D1 cache:  *4096 B, 32 B, 2-way associative'
ok "cachegrind: I1, fully associative" modelled 'I1 cache:  *8192 B, 32 B, 256-way associative'
ok "cachegrind: LL" modelled 'LL cache:  *65536 B, 64 B, 4-way associative'
exported cachegrind unsure.json
ok "cachegrind: what is not known" silent_about LL
ok "cachegrind: is said" says '^fathom: --LL left out'
jq '.findings |= map(if .property == "l2.physical_capacity" then .value = 49152 else . end)' full.json >odd.json
exported cachegrind odd.json
ok "cachegrind: sets it cannot model" says '^fathom: --LL left out: l2: cachegrind cannot model 192 sets'

# kerncraft's simulator joins no line to a longer one behind it: this machine has lines of 32 throughout.
jq '.findings |= map(if .property == "l2.line" then .value = 32 else . end)' full.json >even.json
ok "kerncraft" exported kerncraft even.json
cp err missing
python=$(python_with kerncraft.machinemodel)
"$python" -c 'import kerncraft.machinemodel, yaml' 2>/dev/null || python=$(python_with yaml)
"$python" "$top/tests/cli/ask_kerncraft.py" kerncraft >out 2>err
code=$?
ok "kerncraft: its form" [ "$code" = 0 ]
ok "kerncraft: levels and L1" has "^\['L1', 'L2', 'MEM'\] {'sets': 64, 'ways': 2, 'cl_size': 32, 'replacement_policy': 'LRU', 'write_allocate': True, 'write_back': True, 'load_from': 'L2', 'store_to': 'L2'} 4096 B"
ok "kerncraft itself, where it is installed, builds the caches, and what fits stays in them" \
    has '^kerncraft: \(not installed\|\[(4096, 0), (65536, 0)\]\)$'
ok "kerncraft: what is not known is said" grep -q '^fathom: replacement_policy left out: l2.replacement' missing
exported kerncraft full.json
ok "kerncraft: lines that grow" says '^fathom: cl_size left out: kerncraft cannot model lines of 64 in l2 behind lines of 32'
jq '.findings |= map(if .property | endswith(".write_policy") then .value = "through" else . end)' even.json >odd.json
exported kerncraft odd.json
ok "kerncraft: writes it cannot model" silent_about write_back
ok "kerncraft: are said" says '^fathom: write_allocate, write_back left out: kerncraft cannot model l1d'
jq '.findings |= map(.property |= sub("^l2[.]"; "l3."))' even.json >odd.json
exported kerncraft odd.json
ok "kerncraft: a level behind a gap" has '^    load_from: L3$'

if [ "$FATHOM_REPORT" = yes ]; then
    run survey --machine "$data/good/small.yaml" --seed 1 -o survey.html
    run export measured.json --to html -o export.html
    ok "html: the report that the survey would have written" cmp -s survey.html export.html
else
    cp measured.json old.html
    refused "html: a build without it says so" 3 '^fathom: --to html: .*built without' export measured.json --to html -o old.html
    ok "html: and leaves what was there" cmp -s measured.json old.html
fi

run export full.json --to c-header -o header.h
ok "-o" [ "$code" = 0 -a ! -s out ]
exported c-header full.json
ok "-o has the same" cmp -s header.h out
run export unsure.json --to gcc --quiet
ok "--quiet" answered
run export nothing.json --to gcc
ok "nothing determined is exit 1" [ "$code" = 1 -a ! -s out -a -s err ]
leak_checked export full.json --to hwloc-xml
ok "no leak" [ "$code" = 0 ]
jq '.findings[0].property = "x\n#define y" | .findings[0].value = "$(touch gotcha)`id`"' full.json >hostile.json
for target in c-header env; do
    exported $target hostile.json
    ok "$target: nothing from outside is code" silent_about 'gotcha\|define y'
done
jq '.machine.name = "*/ int x; /*"' full.json >hostile.json
exported c-header hostile.json
cp c-header machine.h
ok "a name cannot leave its comment" cc -std=c99 -Wall -Werror -c header.c -o header.o

refused "no target" 2 '--to is missing: use one of gcc, clang' export full.json
refused "unknown target" 2 "'fortran' is nothing to export to" export full.json --to fortran
refused "no result" 2 'RESULT.json is missing' export --to gcc
refused "a result that is not there" 2 'nowhere.json' export nowhere.json --to gcc

done_testing
