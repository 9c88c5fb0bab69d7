#!/bin/sh
# Every kind of JSON that comes out, held against the schema that is installed.
. "$(dirname "$0")/lib.sh"
small=$data/good/small.yaml
noisy=$data/good/noisy.yaml
schema=$top/schema/result.schema.json
python=$(python_with jsonschema)
code=0

# check FILE...: says what does not fit, a line each: "FILE: place: reason".
check() {
    "$python" "$top/tests/cli/schema.py" "$schema" "$@" >out 2>err
}

# fits FILE...: a case each.
fits() {
    for file; do
        ok "it fits: $file" sh -c '! grep -q "^$1: " out' - "$file"
    done
}

# made FILE ARGUMENT...
made() {
    file=$1
    shift
    "$fathom" "$@" --format json -o "$file" >out 2>err
    code=$?
    [ -s "$file" ]
}
ok "a survey" made survey.json survey --machine "$small"
ok "with noise, scattered pages and TLBs" made noisy.json survey --machine "$noisy" --quick --record samples
ok "a replay" made replay.json survey --replay samples
ok "several machines" made several.json survey --machine "$small" --machine "$noisy" --only cycle
ok "out of time" made late.json survey --machine "$noisy" --budget 0.00001
ok "nothing determined" made nothing.json survey --machine "$small" --only levels --max-footprint 64
ok "a curve" made curve.json curve levels --machine "$small"
for method in cooper-sandoval calibrator 'papi-cache --meter sim' 'amp --meter sim'; do
    ok "--method $method" made "${method%% *}.json" survey --machine "$small" --quick --method $method
done
ok "the simulator's counters" made counted.json survey --machine "$small" --quick --meter sim
ok "this computer, as far as it comes" made here.json survey --budget 0.3
"$fathom" stat --quiet --result survey.json --format json -o stat.json -- true >out 2>err
code=$?
ok "what a command made of the memory" [ -s stat.json ]
cp "$top/tests/fuzz/corpus/result/one.json" corpus.json
check *.json
ok "the schema is one" [ ! -s err ]
fits *.json

# The schema refuses what is wrong.
broken() {
    jq "$2" "${3:-survey.json}" >"broken-$1.json"
}
refuses() {
    check "$@"
    for file; do
        ok "refused: $file" has "^$file: "
    done
}
broken zero-for-not-known '.findings[0] |= (.status = "undetermined" | .value = 0)'
broken measured-without-value '.findings[0].value = null'
broken status-of-its-own '.findings[0].status = "guessed"'
broken property-without-attribute '.findings[0].property = "l1d"'
broken key-that-nobody-described '.findings[0].colour = "red"'
broken another-schema '.schema = "fathom-result/2"'
broken point-of-two-numbers '.curves[0].points[0] |= .[0:2]'
broken part-missing 'del(.complete)'
refuses broken-*.json

# Differences have a schema of their own.
schema=$top/schema/diff.schema.json
mkdir differences
ok "differences of two" made differences/two.json diff survey.json noisy.json
ok "of three, one of them odd" made differences/three.json diff survey.json noisy.json survey.json
ok "none" made differences/none.json diff survey.json survey.json
ok "with what was not reached" made differences/late.json diff survey.json late.json
check differences/*.json
ok "that schema is one, too" [ ! -s err ]
fits differences/*.json
rm broken-*.json
broken side-without-value '.differences[0].sides[0].value = null' differences/two.json
broken difference-of-one '.differences[0].sides |= .[0:1]' differences/two.json
broken key-of-its-own '.why = "?"' differences/two.json
broken a-result '.'
refuses broken-*.json

done_testing
