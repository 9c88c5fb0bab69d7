#!/bin/sh
# stat as a user runs it: the command's output, exit status and signals stay what they are.
#
#     stat.sh PROGRAM SOURCE FORKS      (FORKS: tests/cli/forks.c)
forks=$(realpath "$3")
. "$(dirname "$0")/lib.sh"
run survey --machine "$top/machines/intel-pentium-ii-233.yaml" --quick -o p2.json
run survey --machine "$top/machines/intel-itanium2-900-papi.yaml" --meter sim --only counters -o it2.json

run stat --quiet --result p2.json --format json -o stat.json -- sh -c 'echo out; echo err >&2; exit 5'
ok "the exit status is the command's" [ "$code" = 5 ]
ok "its output is untouched" [ "$(cat out)" = out -a "$(cat err)" = err ]
ok "shares of two levels" json '[.findings[] | {(.property): .}] | add |
    (."app.references".value > 1000) and ."app.references".witnesses == ["callgrind"] and
    ((."app.served_l1".value + ."app.served_l2".value + ."app.served_memory".value - 1) | fabs < 1e-9) and
    ((."app.fraction_l1".value + ."app.fraction_l2".value + ."app.fraction_memory".value - 1) |
        fabs < 1e-9) and ."app.fraction_memory".low <= ."app.fraction_memory".value and
    ."app.stall_memory".low == 0 and ."app.stall_memory".high > 0 and has("app.served_l3") == false and
    ."app.idle".value >= 0 and ."app.memory_bandwidth".value > 0' stat.json

run stat --quiet --result it2.json --element 4 -- echo hello
ok "three levels, and the table follows the output" sh -c '[ "$(head -n 1 out)" = hello ] &&
    grep -q "^L3 " out && grep -q "^Memory " out'

run stat --quiet --result p2.json --format json -o large.json -- sh -c 'sort /dev/null; sort /dev/null'
ok "children are counted" json '[.findings[] | select(.property == "app.references") | .value][0] > 100000' \
    large.json

# references WAY: what the command that starts processes in that way counts.
references() {
    run stat --quiet --result p2.json --meter callgrind --format json -o forks.json -- "$forks" "$1"
    jq '.findings[] | select(.property == "app.references") | .value' forks.json
}
# in_all WAY PIECES IMAGES: pieces of work of 100000 references, and so many times a program that starts and ends.
in_all() {
    most=$(($2 * 100000 + $3 * nothing + 60000))
    ok "$1: each process counts what it did, once" [ "$(references "$1")" -gt $((most - 60000)) -a \
        "$(references "$1")" -lt "$most" ]
}
nothing=$(references nothing)
in_all deep 8 1
in_all wide 16 1
in_all threads 8 1
in_all spawned 1 4
in_all executed 18 3
ok "nothing is wrong with that" json '[.warnings[].id] | (index("forked-unseen") or index("not-counted")) | not' \
    forks.json
references raw >count
ok "a process that nobody saw begin is warned of" json '[.warnings[].id] | index("forked-unseen")' forks.json
references killed >count
ok "so is one that left no count" json '[.warnings[].id] | index("not-counted")' forks.json

run stat --result p2.json -- true
ok "a result of another machine is warned of" grep -q 'of another machine' err
run stat --quiet --result p2.json --format json -o other.json -- true
ok "in the result too" json '[.warnings[].id] | index("other-machine")' other.json
ok "nothing is said of levels where all are known" json '[.warnings[].id] | index("level-dropped") | not' other.json
jq '(.findings[] | select(.property == "l2.capacity" or .property == "l2.physical_capacity")) |=
    (.status = "undetermined" | .value = null | .low = null | .high = null)' p2.json >open.json
run stat --result open.json -o open.txt -- true
ok "a level that is not determined is named, with what its share was counted as" sh -c \
    'tr -s "\n " " " <open.txt | grep -q "enough of L2: what it served is counted as served by memory"'
ok "and has no row" sh -c '! grep -q "^L2" open.txt'
run stat --quiet --result p2.json -- nonesuch
ok "not found is 127" [ "$code" = 127 -a ! -s out ]
run stat --quiet --result p2.json -- /
ok "not executable is 126" [ "$code" = 126 -a ! -s out ]
run stat --quiet --result p2.json -- sh -c 'kill -KILL $$'
ok "a signal is passed through" [ "$code" = 137 ]
for meter in auto callgrind; do
    : >times
    run stat --quiet --result p2.json --meter $meter --format json -o killed.json -- sh -c 'echo >>times; kill -TERM $$'
    ok "what a signal ended is not run again by $meter" [ "$code" = 143 -a "$(wc -l <times)" = 1 ]
    ok "what is known of it is told" json '[.findings[] | {(.property): .}] | add |
        ."app.elapsed".value > 0 and ."app.references".status == "unsupported" and
        (."app.references".note | test("signal 15"))' killed.json
done
mkdir tmp
# The first run ends at once, the second waits for a file that nobody makes.
TMPDIR=$work/tmp "$fathom" stat --quiet --result p2.json --meter callgrind --format json -o asked.json -- \
    sh -c 'echo >>ran; [ "$(wc -l <ran)" = 1 ] || while :; do sleep 0.1; done' &
while ! [ -e ran ] || [ "$(wc -l <ran)" != 2 ]; do sleep 0.1; done
kill -TERM $!
wait $!
code=$?
ok "a signal ends the run in the model" [ "$code" = 143 ]
ok "what is known is told then" json '(.complete | not) and ([.findings[] | {(.property): .}] | add |
    ."app.elapsed".value > 0 and (."app.references".note | test("signal 15")))' asked.json
ok "nothing is left behind" rmdir tmp
refused "no command" 125 'COMMAND... is missing' stat
refused "a bad element" 125 '--element' stat --element 5 -- true
refused "a bad option" 125 'no such option' stat --what -- true
refused "a meter that counts no commands" 125 '--meter' stat --meter clock -- true
run stat --quiet --result p2.json --meter perf --format json -o perf.json -- sh -c 'echo out; exit 4'
ok "perf runs the command once" [ "$code" = 4 -a "$(cat out)" = out ]
ok "it counts, or says of each why not" json '[.findings[] | {(.property): .}] | add |
    (."app.cpu_time".witnesses == ["perf"]) and ."app.page_faults".value > 0 and
    ([."app.references", ."app.served_memory"] | all(.status == "measured" or
        (.status == "unsupported" and (.note | test("^perf: .")))))' perf.json
run stat --quiet --result p2.json --meter perf -- sh -c 'read line; echo "got $line"' <p2.json
ok "its input is its own" grep -q '^got {' out
refused "a result that is none" 125 'p2.yaml' stat --result p2.yaml -- true
refused "a page" 125 'format' stat --result p2.json --format html -- true
run stat --quiet --result p2.json -- echo --help -o x
ok "options behind the command are the command's" [ "$(head -n 1 out)" = "--help -o x" ]
without_valgrind() {
    PATH=/nowhere "$fathom" stat --quiet --result p2.json -- /bin/true >out 2>err
    code=$?
}
without_valgrind
ok "valgrind is not there" one_line_error 125 'install the package valgrind'
done_testing
