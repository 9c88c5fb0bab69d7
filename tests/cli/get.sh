#!/bin/sh
# Values alone, from a result that was kept.
#
#     get.sh FATHOM TOP KEEP-RESULT MULTIPLY
keep_result=$(realpath "$3")
multiply=$(realpath "$4")
. "$(dirname "$0")/lib.sh"

"$fathom" survey --machine "$data/good/small.yaml" --seed 1 -o small.json
run get l1d.capacity l1d.line l2.latency page.resized --result small.json
ok "from a file, in order" [ "$code" = 0 -a ! -s err -a "$(tr '\n' ' ' <out)" = "4096 32 12 false " ]
run get dtlb1.entries --result small.json
ok "what is not known: nothing, the reason, exit 1" [ "$code" = 1 -a ! -s out ]
ok "the reason" grep -q '^fathom: dtlb1.entries is undetermined: translation costs nothing' err
run get l1d.line dtlb1.entries l1d.ways --result small.json
ok "among others it is an empty line" [ "$code" = 1 -a "$(tr '\n' ' ' <out)" = "32  2 " ]
run get l9.capacity --result small.json
ok "a level that is not there" grep -q '^fathom: l9.capacity is unsupported: the survey shows no l9$' err
run get l1d.colour --result small.json
ok "what no survey tells" grep -q '^fathom: l1d.colour: the survey says nothing of it' err
run get l9.capacity --result small.json --quiet
ok "--quiet" [ "$code" = 1 -a ! -s out -a ! -s err ]
jq '.complete = false' small.json >partial.json
run get l9.capacity --result partial.json
ok "a survey that ended early does not say what there is" \
    grep -q '^fathom: l9.capacity is undetermined: the survey was interrupted, or ran out of time$' err
"$fathom" get l2.capacity --refresh >out 2>err &
pid=$!
until grep -q '^SigCgt:.*[4567cdef]...$' /proc/$pid/status 2>/dev/null; do
    kill -0 $pid 2>/dev/null || break
    sleep 0.01
done
kill -INT $pid
wait $pid
code=$?
ok "interrupted: exit 130" [ "$code" = 130 ]
ok "… and no word of what was not looked for" grep -q '^fathom: l2.capacity is undetermined: .*interrupted$' err
ok "a described machine is not kept" [ ! -e "$XDG_CACHE_HOME" ]

run get cpu.cycle_time --budget 0.2
ok "without a result it measures" [ "$code" = 0 -o "$code" = 1 ]
ok "what ran out of time is not kept" [ ! -e "$XDG_CACHE_HOME" ]
run survey --only cycle --format json
cp out here.json
jq --slurpfile here here.json '.machine = $here[0].machine | .findings |= map(if .property == "l1d.capacity"
    then .value = 12345 else . end)' small.json >native.json
"$keep_result" native.json
run get l1d.capacity l1d.line
ok "with a result it answers from that" [ "$code" = 0 -a "$(tr '\n' ' ' <out)" = "12345 32 " ]
"$multiply" 50 >out 2>err
code=$?
ok "an example blocks by it" [ "$code" = 0 ]
ok "half of the cache, whole lines wide" has '^a block of B has 21 x 36 values, 5 of the 12 KiB of level 1$'
run survey --only cycle
run get l1d.capacity
ok "a survey of less does not replace it" [ "$(cat out)" = 12345 ]
run survey --budget 0.001 --format csv
run get l1d.capacity
ok "nor does one that ran out of time" [ "$(cat out)" = 12345 ]
# A cache folder that came from elsewhere, or holds what is no result.
kept=$(ls "$XDG_CACHE_HOME"/fathom/*.json)
jq '.machine.name = "Another one"' native.json >"$kept"
run get l1d.capacity --budget 0.2 --quiet
ok "another machine's result is not this one's" sh -c '! grep -q 12345 out'
"$keep_result" native.json
run get l1d.capacity
ok "and gives way to it" [ "$(cat out)" = 12345 ]
rm "$kept"
mkfifo "$kept"
timeout 60 "$fathom" get cpu.cycle_time --budget 0.2 >out 2>err
code=$?
ok "nor is a pipe waited for" [ "$code" -lt 2 -a -p "$kept" ]
rm "$kept"
"$keep_result" native.json
run get cpu.cycle_time --refresh --budget 0.2
ok "--refresh measures" [ "$(cat out)" != "$(jq '.findings[] | select(.property == "cpu.cycle_time").value' native.json)" ]
ok "nothing else lies there" [ "$(ls "$XDG_CACHE_HOME/fathom" | wc -l)" = 1 ]

refused "no property" 2 'PROPERTY... is missing' get
refused "what is no property" 2 "'l2' is no property: write it like l2.capacity" get l2
refused "a file that is not there" 2 'nowhere.json' get l2.line --result nowhere.json
head -c 300 small.json >cut.json
refused "a file that was cut" 2 'cut.json:[0-9]*: not valid JSON .*cut short' get l2.line --result cut.json
sed 's,fathom-result/1,fathom-result/2,' small.json >newer.json
refused "a file of a newer fathom" 2 'newer.json: schema: is fathom-result/2, .* use a newer fathom' \
    get l2.line --result newer.json
awk 'BEGIN { for (i = 0; i < 100000; i++) printf "[" }' >deep.json
refused "a file that is nested without end" 2 'deep.json:1: not valid JSON .*deep' \
    get l2.line --result deep.json
sed 's/"elapsed_s": /"elapsed_s": 9e999, "x": /' small.json >huge.json
refused "a number that is none" 2 'huge.json:[0-9]*: not valid JSON .*so large' get l2.line --result huge.json
jq '.findings |= map(if .property == "l2.line" then .value = 1e29 else . end)' small.json >larger.json
refused "a size that no computer has" 2 'larger.json: findings\[[0-9]*\].value: is 1e+29; no measurement is so large' \
    get l2.line --result larger.json
sed 's/"complete": /"complete": true, "complete": /' small.json >twice.json
refused "a key that stands twice" 2 'twice.json:[0-9]*: not valid JSON .*keep one' get l2.line --result twice.json
head -c 1000 /dev/zero >zero.json
refused "no JSON at all" 2 'zero.json:1: not valid JSON' get l2.line --result zero.json
awk 'BEGIN { printf "{\"schema\": \""; for (i = 0; i < 66; i++) { s = s "xxxxxxxxxxxxxxxx" }
    for (i = 0; i < 66000; i++) printf "%s", s; print "\"}" }' >large.json
refused "more than a result can be" 2 'large.json: is larger than' get l2.line --result large.json

# The write is cut off by a limit: the signal ends the program in the middle of it.
mkdir cut
cp small.json cut/old.json
(ulimit -f 2; "$fathom" survey --machine "$data/good/small.yaml" -o cut/old.json) >out 2>err
ok "an interrupted write leaves the old file" cmp -s small.json cut/old.json
ok "and nothing beside it" [ "$(ls -A cut)" = old.json ]

done_testing
