#!/bin/sh
# Every kind of JSON that comes out, held against the schema that is installed.
. "$(dirname "$0")/lib.sh"
small=$data/good/small.yaml
noisy=$data/good/noisy.yaml
schema=$top/schema/result.schema.json
python=$(python_with jsonschema)
code=0

# Says what does not fit, a line each: "FILE: place: reason".
check() {
    "$python" "$top/tests/cli/schema.py" "$schema" "$@" >out 2>err
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
for method in cooper-sandoval calibrator; do
    ok "--method $method" made $method.json survey --machine "$small" --quick --method $method
done
ok "the simulator's counters" made counted.json survey --machine "$small" --quick --meter sim
ok "this computer, as far as it comes" made here.json survey --budget 0.3
cp "$top/tests/fuzz/corpus/result/one.json" corpus.json
check *.json
ok "the schema is one" [ ! -s err ]
for file in *.json; do
    ok "it fits: $file" sh -c '! grep -q "^$1: " out' - "$file"
done

# The schema refuses what is wrong.
broken() {
    jq "$2" survey.json >"broken-$1.json"
}
broken zero-for-not-known '.findings[0] |= (.status = "undetermined" | .value = 0)'
broken measured-without-value '.findings[0].value = null'
broken status-of-its-own '.findings[0].status = "guessed"'
broken property-without-attribute '.findings[0].property = "l1d"'
broken key-that-nobody-described '.findings[0].colour = "red"'
broken another-schema '.schema = "fathom-result/2"'
broken point-of-two-numbers '.curves[0].points[0] |= .[0:2]'
broken part-missing 'del(.complete)'
check broken-*.json
for file in broken-*.json; do
    ok "refused: $file" has "^$file: "
done

done_testing
