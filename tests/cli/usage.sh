#!/bin/sh
# What the program says of itself, and to arguments that make no sense.
. "$(dirname "$0")/lib.sh"
small=$data/good/small.yaml

run --version
ok "--version" answered
ok "--version is one line" has '^fathom [0-9][0-9.]*$'
run --help
ok "--help" answered
ok "--help names the commands" has '^  curve PROBE'
ok "--help fits 80 columns" [ "$(awk 'length > m { m = length } END { print m }' out)" -le 80 ]
for command in survey probes machines curve export diff get completion; do
    run $command --help
    ok "$command --help" answered
    ok "$command --help has examples" has '^Examples:'
done
run stat --help
ok "stat --help has its options before the command" has '^Usage: fathom stat \[OPTION...\] -- COMMAND...$'
run survey -h
ok "-h is --help" has '^Usage: fathom survey'

refused "unknown command" 2 'no such command.*survey, probes, machines, curve' frobnicate
refused "mistyped command" 2 'did you mean survey?' surevy
refused "unknown option" 2 '--frobnicate: no such option: see fathom survey --help' --frobnicate
refused "mistyped option" 2 'did you mean --budget?' survey --bugdet 3
refused "unknown letter" 2 '-x: no such option' survey -x
refused "option of another command" 2 'no such option' probes --quick
refused "value missing at the end" 2 '--budget: a value is missing' survey --budget
refused "value missing before an option" 2 '--budget: a value is missing' survey --budget --quick
refused "value where none belongs" 2 'takes no value' survey --quick=yes
refused "operand too many" 2 'one argument too many' survey "$small"
refused "operand missing" 2 'PROBE is missing' curve
refused "probe unknown to curve" 2 'draws no curve' curve nonesuch
refused "control characters are not echoed" 2 '\\x1b\[31m' "$(printf -- '--\033[31m')"

refused "size with a wrong unit" 2 "--max-footprint: '64MB' is no size" --max-footprint 64MB
refused "size with a tail" 2 "'64x' is no size" --max-footprint=64x
refused "size of nothing" 2 "'0' is no size" --max-footprint 0
refused "empty size" 2 "'' is no size" --max-footprint ''
refused "negative size" 2 "'-1' is no size" --max-footprint -1
refused "budget that is no number" 2 "--budget: '5x'" --budget 5x
refused "budget of nothing" 2 "--budget: '0'" --budget 0
refused "budget below nothing" 2 "--budget: '-1'" --budget=-1
refused "budget without end" 2 "--budget: 'inf'" --budget inf
refused "seed that is no number" 2 "--seed: 'abc'" --seed abc
refused "seed too large" 2 "--seed: '99999999999999999999'" --seed 99999999999999999999
refused "probe that does not exist" 2 '--only: .*nonesuch' --only nonesuch
refused "probe without a name" 2 "--only: there is no probe ''" --only ,
refused "no probe" 2 "--only: there is no probe ''" --only ''
refused "CPU that is no number" 2 "--cpu: 'one'" --cpu one
refused "format that does not exist" 2 "--format: 'xml'" --format xml
refused "suffix that says nothing" 2 "'xml' is no format" -o result.xml
refused "method that does not exist" 2 "--method: 'guess'" --method guess
refused "meter that does not exist" 2 "--meter: 'sundial'" --meter sundial
refused "presets that contradict" 2 'choose one' --quick --thorough
refused "quiet and verbose" 2 'choose one' --quiet --verbose
refused "replay and machine" 2 'choose one' --replay x --machine "$small"
refused "replay and record" 2 '--record' --replay x --record y
refused "recording two machines" 2 'one at a time' --machine "$small" --machine "$small" --record y
refused "CPU of a described machine" 2 '--cpu' --machine "$small" --cpu 0

refused "a result and its samples in one file" 2 '--record: .*name another' -o x.json --record x.json

# What is read is not written over, by whatever name.
run survey --machine "$small" --only cycle --record r.samples -o a.json
cp a.json b.json
cp "$small" own.yaml
ln -s r.samples linked
ln b.json same.json
refused "-o onto the recording" 2 "-o: the input is 'r.samples' too" --replay r.samples --format json -o ./r.samples
refused "-o onto the recording, by a link" 2 '-o: .*too: name another' --replay r.samples --format json -o linked
refused "-o onto the machine" 2 '-o: .*own.yaml' --machine "$small" --machine own.yaml --format json -o "$PWD/own.yaml"
refused "--record onto the machine" 2 '--record: .*own.yaml' --machine own.yaml --record ./own.yaml
refused "curve onto the machine" 2 '-o: .*own.yaml' curve levels --machine own.yaml --format csv -o own.yaml
refused "export onto the result" 2 '-o: .*a.json' export a.json --to env -o a.json
refused "diff onto the first" 2 '-o: .*a.json' diff a.json b.json -o a.json
refused "diff onto the second, by another name" 2 '-o: .*b.json' diff a.json b.json -o same.json
refused "stat onto the result" 125 '-o: .*a.json' stat --result a.json -o a.json -- touch ran
ok "all are as they were" sh -c 'cmp -s a.json b.json && cmp -s own.yaml "$1" && head -n 1 r.samples |
    grep -q fathom-recording' sh "$small"
refused "a result and its samples in one file that is not there yet" 2 '--record: .*name another' \
    --machine "$small" -o new.json --record ./new.json
run survey --machine "$small" --only cycle --format json -o /dev/null --record /dev/null
ok "/dev/null takes both" [ "$code" = 0 ]
run survey --machine intel-pentium-133 --only cycle --format json -o intel-pentium-133
ok "the name of a machine is no file" [ "$code" = 0 -a -s intel-pentium-133 ]

# A place that cannot be written is found before anything is measured, which would take more than this second.
ln -s /proc/version link.json
ulimit -S -t 1
for place in nowhere/x.json new.json/ . link.json /proc/x.json "$(printf '%0251d' 0).json"; do
    what="cannot be written: $(printf %.16s "$place")"
    refused "survey, $what" 2 'cannot be written' survey --thorough --format json -o "$place"
    refused "recording, $what" 2 'cannot be written' survey --thorough --record "$place"
    refused "curve, $what" 2 'cannot be written' curve levels --thorough --format json -o "$place"
    refused "stat, $what" 125 'cannot be written' stat --format json -o "$place" -- touch ran
done
ulimit -S -t unlimited
ok "stat has not run its command" [ ! -e ran ]
name=$(printf '%0250d' 0).json
run survey --machine "$small" --only levels -o "$name"
ok "a name as long as names can be" [ "$code" = 0 -a -s "$name" ]

refused "CPU that does not exist" 3 '99999' --cpu 99999
refused "method amp without counters" 3 "method amp: .*no counters" --method amp --meter clock
refused "counters of this computer elsewhere" 2 'leave out' --meter perf \
    --machine "$data/good/small.yaml"
refused "an event that does not exist" 2 "events: 'NO_SUCH_EVENT' is no event" --meter perf \
    --events l1d=NO_SUCH_EVENT
refused "an event of nothing" 2 "events: 'l9' is nothing" --meter perf --events l9=X
refused "no event" 2 'write it like' --meter perf --events l1d
refused "events without a meter that has names" 2 'add the meter perf or papi' --meter clock \
    --events l1d=PERF_COUNT_SW_CONTEXT_SWITCHES
run --meter papi --events l1d=NO_SUCH_EVENT
if grep -q 'not in this build' err; then
    skip "an event that PAPI does not know" "this build has no PAPI"
else
    ok "an event that PAPI does not know" one_line_error 2 "events: 'NO_SUCH_EVENT' is no event"
fi
run --meter perf --events l1d=PERF_COUNT_SW_CONTEXT_SWITCHES
if grep -q 'is no event' err; then
    skip "events by their names" "this build has no libpfm4"
else
    # Where nothing may be counted at all it is refused as well.
    refused "an event that counts no misses" 3 'meter: ' --meter perf --events \
        l1d=PERF_COUNT_SW_CONTEXT_SWITCHES,l2=PERF_COUNT_SW_CONTEXT_SWITCHES
fi
refused "counters of this computer" 3 'meter' --meter sim
refused "callgrind without a model" 2 'add --callgrind' --meter callgrind
refused "… of a curve" 2 'add --callgrind' curve levels --meter callgrind
refused "a model without LL" 2 '--callgrind: LL is missing' --callgrind "D1=32768,8,64"
refused "a model of a described machine" 2 'leave out' --callgrind "D1=32768,8,64 LL=64K,4,64" \
    --machine "$data/good/small.yaml"
# The report is left out of some builds; it is then refused before anything is measured.
if [ "$FATHOM_REPORT" = no ]; then
    refused "html" 3 'built without the HTML report.*-Dreport=enabled' --format html
    refused "html by suffix" 3 '^fathom: result.html: .*built without' -o result.html
fi
without_valgrind() {
    PATH=/nowhere "$fathom" --callgrind "D1=32768,8,64 LL=64K,4,64" >out 2>err
    code=$?
}
without_valgrind
ok "valgrind is not there" one_line_error 3 'install the package valgrind'

done_testing
