#!/bin/sh
# Where results go and what they look like there.
. "$(dirname "$0")/lib.sh"
small=$data/good/small.yaml
noisy=$data/good/noisy.yaml

run survey --machine "$small"
ok "a described machine" answered
ok "the table has its heading" has '^NAME  *CAPACITY'
ok "the table has a level" has '^L1d '
ok "the table has memory" has '^Memory '
ok "a pipe gets no colour" only_printable out
ok "the table fits 80 columns" [ "$(awk 'length > m { m = length } END { print m }' out)" -le 80 ]
cp out table
run --machine="$small"
ok "survey is the default, and --option=value works" cmp -s out table
run survey --machine "$noisy" --only tlb
ok "TLBs have a table of their own" has '^DTLB1  *64  *256K  *full '
ok "it fits 80 columns" [ "$(awk 'length > m { m = length } END { print m }' out)" -le 80 ]
run survey --machine "$small" --verbose
ok "--verbose says what a finding means" has '^l1d.capacity: a random walk over up to 4096 B '
ok "--verbose has a sentence for each finding" [ "$(grep -c '^[a-z0-9@]*\.[a-z_]*: ' out)" = \
    "$("$fathom" survey --machine "$small" --format json | jq '.findings | length')" ]
ok "--verbose fits 80 columns" [ "$(awk 'length > m { m = length } END { print m }' out)" -le 80 ]

run survey --machine "$small" --format json
ok "JSON" answered
ok "JSON parses and names its schema" json '.schema == "fathom-result/1"'
ok "JSON has the contract's keys" json '[.fathom.version, .machine.kind, .environment, .findings,
    .curves, .warnings, .elapsed_s] | all(. != null)'
ok "each finding has every key" json '[.findings[] | [has("property", "unit", "status", "value",
    "low", "high", "confidence", "method", "witnesses", "claimed", "claimed_by", "evidence",
    "candidates", "note")] | all] | all'
ok "JSON is complete" json '.complete'
ok "the machine is the described one" json '.machine.name == "Small test machine" and
    .machine.kind == "simulated"'

# Where the result goes is the same for the cheapest one.
set -- --machine "$small" --only cycle
run survey "$@" --format json
cp out one.json
run survey --machine "$small" --machine "$noisy" --only cycle --format json
ok "two machines are an array" json 'type == "array" and length == 2'
ok "in the order they were given" json '.[0].machine.name == "Small test machine"'

run survey "$@" --format csv
ok "CSV has a line for each finding" [ "$(wc -l <out)" = "$(($(jq '.findings | length' one.json) + 1))" ]
ok "CSV names its columns" has '^machine,property,unit,status,value,'

run survey "$@" -o result.json
ok "-o leaves standard output alone" [ "$code" = 0 -a ! -s out -a ! -s err ]
ok "the suffix gives the format" cmp -s result.json one.json
ok "nothing else is left in the folder" [ "$(ls | grep -c result)" = 1 ]
run survey "$@" -o result.csv
ok "a suffix of csv" grep -q '^machine,property' result.csv
if [ "$FATHOM_REPORT" = yes ]; then
    run survey "$@" -o result.html
    ok "a suffix of html" [ "$code" = 0 -a ! -s out -a ! -s err ]
    ok "the page is whole" sh -c 'head -n 1 result.html | grep -qi "^<!doctype html>" &&
        tail -n 1 result.html | grep -q "</html>$"'
    ok "the page names no other place" sh -c '! grep -qE "(src|href)=.?(https?:|//)" result.html'
    run curve levels --machine "$small" --format html
    ok "curve as a page" has 'fathom-data'
fi
run survey "$@" -o result.txt --format json
ok "--format goes before the suffix" cmp -s result.txt one.json
run survey "$@" --format json -o -
ok "-o - is standard output" cmp -s out one.json
ln -s result.json link.json
run survey "$@" -o link.json
ok "a link stays a link" [ -L link.json ]
run survey "$@" -o /dev/null
ok "-o /dev/null" [ "$code" = 0 -a -c /dev/null ]

refused "-o into a folder that is not there" 2 'nowhere/result.json' "$@" \
    -o nowhere/result.json
refused "-o to a folder" 2 'format\|folder\|directory' "$@" --format json -o "$work"
refused "a bad place for the output is found before measuring" 2 'nowhere/result.json' "$@" \
    --record samples -o nowhere/result.json
ok "nothing was measured" [ ! -e samples ]
echo old >kept.json
sh -c 'ulimit -f 1; "$@"; true' sh "$fathom" survey "$@" --format json -o kept.json >out 2>&1
ok "a write that is cut short leaves the old file" grep -qx old kept.json
refused "--record into a folder that is not there" 2 'nowhere/samples' "$@" \
    --record nowhere/samples
if [ -c /dev/full ]; then
    refused "-o to a full disk" 2 'full' "$@" --format json -o /dev/full
    "$fathom" survey "$@" >/dev/full 2>err
    code=$?
    : >out
    ok "standard output to a full disk" one_line_error 2 'standard output'
    "$fathom" --help >/dev/full 2>err
    code=$?
    ok "help to a full disk" one_line_error 2 'standard output'
fi
"$fathom" survey "$@" >&- 2>err
code=$?
ok "standard output closed" one_line_error 2 'standard output'
{ sleep 0.3; "$fathom" survey "$@" 2>err; echo $? >status; } | :
code=$(cat status)
ok "a pipe nobody reads" [ "$code" = 141 -o "$code" = 2 ]

run curve levels --machine "$small"
ok "curve" answered
ok "curve in ASCII" only_printable out
ok "curve marks the edge" has 'l1d* 4K'
LC_ALL=C.UTF-8 "$fathom" curve levels --machine "$small" >out 2>err
ok "curve in braille" has "$(printf '\342\224\212')"
run curve levels --machine "$small" --format csv
ok "curve as points" has '^[0-9.]*,[0-9.]*,[0-9.]*,[0-9.]*$'
run curve levels --machine "$small" --format json
ok "curve as JSON" json '.curves | length > 0'

run curve tlb --machine "$noisy"
ok "a curve that begins at nothing" has '^ *0 +'
ok "what is counted has no unit" has '^tlb: translation (ns) over pages$'
run curve tlb --machine "$small"
ok "translation that costs nothing is drawn too" answered

run survey --machine "$data/good/unicode-name.yaml" --only cycle
ok "ASCII where the locale is C" only_printable out
LC_ALL=C.UTF-8 "$fathom" survey --machine "$data/good/unicode-name.yaml" --only cycle >out 2>err
ok "UTF-8 where the locale has it, without marks that turn it round" \
    has "$(printf 'Gr\303\266\303\237e \\\\xe2\\\\x80\\\\xae test')"

run probes
ok "probes" answered
ok "probes says what runs here" has '^NAME .* HERE$'
ok "and why what does not" [ "$(grep -cE ' no *$' out)" = 0 -o "$(grep -cE '^not (here|counted): ' out)" -gt 0 ]
ok "each reason once" [ -z "$(grep -E '^not (here|counted): ' out | sed 's/.*[a-z0-9]: //' | sort | uniq -d)" ]
ok "probes fits 80 columns" [ "$(awk 'length > m { m = length } END { print m }' out)" -le 80 ]
run machines
ok "machines" answered
FATHOM_MACHINES=$data/good "$fathom" machines >out 2>err
ok "machines of another folder" has '^small .*L1d 4K, L2 64K'
FATHOM_MACHINES=$data/good "$fathom" survey --machine small --only cycle --format json >out 2>err
ok "a machine by its bare name" cmp -s out one.json
mkdir shelf
cp "$data"/good/*.yaml shelf
cp "$data/bad/deep.yaml" shelf/a.yaml
echo 'name: x' >shelf/z.yaml
FATHOM_MACHINES=$data/good "$fathom" machines >all 2>err
FATHOM_MACHINES=shelf "$fathom" machines >out 2>err
code=$?
ok "a bad file hides no other" cmp -s out all
ok "each is complained about" [ "$code" = 2 -a "$(grep -c '^fathom: shelf/[az].yaml:[0-9]*: ' err)" = 2 -a \
    "$(wc -l <err)" = 2 ]
FATHOM_MACHINES=nowhere "$fathom" machines >out 2>err
code=$?
ok "a folder that is not there" one_line_error 2 'nowhere'

if script -qec true typed >/dev/null 2>&1 </dev/null; then
    script -qec "$fathom survey --quick --machine $small" typed >/dev/null 2>&1 </dev/null
    ok "a terminal sees progress" grep -q "$(printf '\033\\[K')" typed
    ok "and it is taken away before the table" grep -q "$(printf '\r\033\\[K')" typed
    ok "a terminal sees colour" grep -q "$(printf '\033\\[1m')" typed
    NO_COLOR=1 script -qec "$fathom survey --machine $small --only cycle --no-progress" typed >/dev/null 2>&1 \
        </dev/null
    ok "NO_COLOR and --no-progress" sh -c 'test -s typed && ! grep -q "$(printf "\\033")" typed'
    LC_ALL=C.UTF-8 script -qec "stty cols 60; $fathom curve levels --machine $small --no-progress" typed \
        >/dev/null 2>&1 </dev/null
    axis=$(sed "s/$(printf '\033')\[[0-9;]*m//g" typed | tr -d '\r' | grep "$(printf '\342\224\224')")
    ok "a curve is as wide as the terminal" [ "$(echo "$axis" | LC_ALL=C.UTF-8 wc -L)" = 60 ]
    ok "and has colour there" grep -q "$(printf '\033\\[36m')" typed
    NO_COLOR=1 script -qec "$fathom curve levels --machine $small --no-progress" typed >/dev/null 2>&1 </dev/null
    ok "NO_COLOR is for curves too" sh -c 'test -s typed && ! grep -q "$(printf "\\033")" typed'
else
    echo "# no terminal can be made here, so none was looked at"
fi

done_testing
