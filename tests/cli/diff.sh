#!/bin/sh
# Results beside each other.
. "$(dirname "$0")/lib.sh"

"$fathom" survey --machine "$data/good/small.yaml" --seed 1 -o small.json
"$fathom" survey --machine "$data/good/small.yaml" --seed 2 -o again.json
"$fathom" survey --machine "$data/good/noisy.yaml" --only capacity --seed 1 -o scattered.json
jq '.findings |= map(if .property == "l1d.line" or .property == "l1d.ways" then .value *= 2 |
    .low = .value | .high = .value else . end)' scattered.json >noisy.json
jq '.machine.name = "Bent" | .findings |= map(if .property == "l2.capacity" then .value *= 2 |
    .low = .value | .high = .value else . end)' small.json >bent.json

run diff small.json small.json
ok "the same differs in nothing" [ "$code" = 0 -a ! -s err ]
ok "and says so" has '^none of [0-9]* properties differs'
run diff small.json again.json
ok "another survey of the same machine differs in nothing" [ "$code" = 0 ]
leak_checked diff small.json bent.json
ok "a difference is exit 1" [ "$code" = 1 -a ! -s err ]
ok "it names the files" has '^B: Bent (bent.json)$'
ok "it shows both values and the change" has '^L2  *capacity  *63[.0-9]*K  *[^ ]*  *12[78]K  *+100%$'
ok "and nothing else" [ "$(sed -n '/^NAME/,/^$/p' out | wc -l)" = 3 ]
ok "it counts" has '^1 of [0-9]* properties differs;'
run diff small.json noisy.json
ok "two machines" [ "$code" = 1 ]
ok "properties of a structure stand together" [ "$(grep -c '^L1d ' out)" = 1 ]
ok "it fits 80 columns" [ "$(awk 'length > m { m = length } END { print m }' out)" -le 80 ]
ok "a pipe gets no colour" only_printable out
jq '.findings |= map(if .property == "l2.line" or .property == "l1d.latency"
    then .value *= 4 | .low *= 4 | .high *= 4 else . end)' small.json >both.json
run diff small.json both.json
ok "structures stand in the order of the result" [ "$(sed -n 's/^\(L[0-9]d*\) .*/\1/p' out | tr '\n' ' ')" = "L1d L2 " ]

run diff small.json bent.json again.json
ok "three files are a matrix" has '^NAME  *PROPERTY  *1  *2  *3$'
ok "the odd one out is marked" has '^L2  *capacity  *63[.0-9]*K  *12[78]K\*  *63[.0-9]*K$'
ok "and named" has '^\* odd one out: 2, in 1$'
ok "a difference among three is exit 1" [ "$code" = 1 ]

run diff small.json bent.json --format json
ok "JSON" [ "$code" = 1 ]
ok "JSON has what differs" json '.schema == "fathom-diff/1" and
    (.differences | length == 1 and .[0].property == "l2.capacity" and .[0].unit == "B" and
        .[0].sides[1].value == 2 * .[0].sides[0].value)'
run diff small.json bent.json -o diff.json
ok "-o" [ "$code" = 1 -a ! -s out ]
ok "-o is JSON by its suffix" json '.differences | length == 1' diff.json
run diff small.json bent.json --quiet
ok "--quiet" [ "$code" = 1 -a ! -s out -a ! -s err ]

if [ "$FATHOM_REPORT" = yes ]; then
    run diff small.json bent.json -o diff.html
    ok "-o diff.html" [ "$code" = 1 -a ! -s out -a ! -s err ]
    ok "it is a page that names both" sh -c 'grep -q bent.json diff.html && grep -qi "<!doctype html>" diff.html'
else
    refused "-o diff.html" 3 'built without' diff small.json bent.json -o diff.html
fi

refused "one file" 2 'A.json B.json... is missing' diff small.json
refused "a file that is not there" 2 'nowhere.json' diff small.json nowhere.json
refused "differences have no CSV" 2 'table, JSON or HTML' diff small.json bent.json --format csv
refused "a folder that is not there" 2 'nowhere/' diff small.json bent.json -o nowhere/diff.json
jq '.machine.name = "\u001b[31m"' small.json >odd.json
run diff odd.json bent.json
ok "names from outside are made harmless" has '^A: \\x1b\[31m (odd.json)$'

done_testing
