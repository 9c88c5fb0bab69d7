#!/bin/sh
# Surveys as a user runs them: the same twice, recorded and replayed, interrupted, out of time.
. "$(dirname "$0")/lib.sh"
small=$data/good/small.yaml
noisy=$data/good/noisy.yaml

leak_checked survey --machine "$small" --format json
value() {
    json ".findings[] | select(.property == \"$1\") | .value == $2"
}
ok "l1d.capacity is right" value l1d.capacity 4096
ok "l1d.line is right" value l1d.line 32
ok "l1d.ways is right" value l1d.ways 2
ok "l2.line is right" value l2.line 64
ok "the claim stands beside it" json '.findings[] | select(.property == "l1d.capacity") |
    .claimed == 4096 and (.claimed_by | length > 0)'

run survey --machine "$noisy" --quick --seed 7 --format json
cp out first
run survey --machine "$noisy" --quick --seed 7 --format json
ok "the same seed gives the same output, bit for bit" cmp -s out first
run survey --machine "$noisy" --quick --seed 8 --format json
ok "another seed takes other samples" sh -c '! cmp -s out first'

run survey --machine "$noisy" --seed 7 --quick --record samples --format json
ok "recording" [ "$code" = 0 -a -s samples ]
jq -S .findings out >recorded
leak_checked survey --replay samples --format json
ok "replay" answered
jq -S .findings out >replayed
ok "replay gives the same findings, bit for bit" cmp -s recorded replayed
ok "replay says that it is one" json '.machine.kind == "recorded"'

run survey --machine "$small" --only cycle --format json
ok "--only leaves the other probes out" json '[.findings[].property] |
    index("cpu.cycle_time") != null and index("l1d.ways") == null'
for probe in inclusion:l2.inclusion write-backs:l2.write_policy outer-replacement:l2.replacement; do
    run survey --machine "$top/machines/intel-pentium-133.yaml" --only ${probe%:*} --format json
    ok "${probe%:*} of a level that is not there" json ".findings[] | select(.property == \"${probe#*:}\") |
        .status == \"unsupported\" and .note == \"no cache was found behind the first\""
    ok "… is answered" [ "$code" = 0 ]
done
run survey --machine "$top/machines/intel-pentium-133.yaml" --only inclusion
ok "… and makes no row of the table" sh -c '! grep -q ^L2 out'
run survey --machine "$small" --quick --meter sim --format json
ok "--meter sim" answered
run survey --machine "$small" --quick --method cooper-sandoval --format json
ok "--method cooper-sandoval" answered
run survey --machine "$top/machines/amd-athlon-600.yaml" --quick --method calibrator --format json
ok "--method calibrator finds what Calibrator's table has" json '
    ([.findings[] | select(.property == "dtlb1.entries") | .value] == [32]) and
    ([.findings[] | select(.property == "dtlb1.page_size") | .value] == [4096]) and
    ([.findings[] | select(.method == "calibrator")] | length > 4)'
ok "--method calibrator draws a curve for each stride" json '[.curves[].id] | contains(["stride-8", "stride-64", "stride-128"])'
run survey --machine "$top/machines/intel-xeon-e5530-nehalem.yaml" --only tlb,itlb --format json
# The height of a plateau is that of the curve up to where it ends. Code is followed up to the level that it shares with data.
ok "a step of a curve has the height of its plateau" json '
    [.curves[] | .points as $points | select(.id | test("^i?tlb$")) | .steps[] | . as $step |
        ([$points[] | select(.[0] <= $step.x)][-1][1] - .y | fabs) < 0.3] | length == 5 and all'
ok "what comes after the levels has its own name" json '[.curves[] | select(.id | test("^i?tlb$")) | .steps[-1].label] ==
    ["walk", "shared with data"]'
run survey --machine "$top/machines/intel-itanium2-900-papi.yaml" --only tlb --format json
ok "where it ends stands where its curve rises" json '.curves[] | select(.id == "tlb") | .steps[0].x == 32'
ok "a TLB that maps pieces of pages" json '
    ([.findings[] | select(.property == "dtlb1.page_size") | .value] == [4096]) and
    ([.warnings[].id] | index("page-pieces") != null)'
run survey --machine "$small" --only levels --max-footprint 64
ok "nothing determined is exit 1" [ "$code" = 1 -a -s out -a ! -s err ]
run survey --machine "$noisy" --budget 0.00001 --format json
ok "no time: what is not reached says so" json '.complete == false and
    ([.findings[] | select(.status == "undetermined") | .note] | index("out of time") != null)'
run survey --machine "$noisy" --only tlb --max-footprint 400KiB --format json
ok "TLBs with little memory: no failure, and the reason" json '.complete and
    ([.findings[] | select(.property == "dtlb1.entries") | .note] | .[0] != null)'
run survey --machine "$noisy" --max-footprint 16KiB --format json
ok "--max-footprint keeps every curve below it" json '[.curves[] |
    select(.x.name == "footprint") | .points[][0]] | all(. <= 16384)'

# A signal that comes before the program is ready for it would end it: wait until SIGTERM, the
# second of the two, is caught (bit 14 of the mask).
start() {
    "$fathom" "$@" >out 2>err &
    pid=$!
    tries=0
    until grep -q '^SigCgt:.*[4567cdef]...$' /proc/$pid/status 2>/dev/null; do
        tries=$((tries + 1))
        [ $tries -lt 500 ] || break
        sleep 0.01
    done
}
interrupt() {
    signal=$1
    shift
    start "$@"
    kill -"$signal" $pid
    wait $pid
    code=$?
}
for signal in INT TERM; do
    interrupt $signal survey --machine "$noisy" --thorough --format json
    ok "SIG$signal is exit 130" [ "$code" = 130 ]
    ok "SIG$signal: what is known is printed" json '.complete == false'
done
# As timeout does: its child first, then the child's group. Those that come too late find nobody.
start survey --machine "$noisy" --thorough --format json
for i in 1 2 3 4 5 6; do kill -TERM $pid 2>/dev/null; done
wait $pid
code=$?
ok "SIGTERM several times at once is exit 130" [ "$code" = 130 ]
ok "… what is known is printed" json '.complete == false'
# It waits for a description that does not come.
mkfifo late.yaml
start survey --machine late.yaml
until grep -q '^State:.*S' /proc/$pid/status; do sleep 0.01; done
kill -TERM $pid
(sleep 20; kill -KILL $pid) >/dev/null 2>&1 &
guard=$!
wait $pid
code=$?
kill $guard
ok "a wait for input ends" one_line_error 130 'late.yaml'
interrupt INT survey --machine "$noisy" --thorough -o stopped.json --record stopped
ok "interrupted: the file is whole" json '.complete == false' stopped.json
run survey --replay stopped --format json
ok "an interrupted recording replays as far as it went" \
    sh -c 'test "$(jq -S .findings out)" = "$(jq -S .findings stopped.json)"'

done_testing
