#!/bin/sh
# AMP's table 1 and papi_cacheSize's Itanium 2, data side, by --method and the simulator's counters:
# line or page, capacity or entries, ways, each exactly. An empty cell is not in the paper.
#
# One figure is not the paper's: the UltraSPARC's first level fills its lines of 32 bytes in two parts,
# and to count read misses is to count parts of 16. The paper's authors had to count writes there,
# the read misses being more than the reads.
. "$(dirname "$0")/../cli/lib.sh"

# has_value PROPERTY VALUE: nothing is asked where the table is silent.
has_value() {
    [ -n "$2" ] || return 0
    value=$2
    [ "$2" != full ] || value='"full"'
    json "[.findings[] | select(.property == \"$1\") | .value] == [$value]"
}

row_holds() {
    case $1 in
    dtlb*) has_value "$1.page_size" "$2" && has_value "$1.entries" "$3" && has_value "$1.ways" "$4" ;;
    *) has_value "$1.line" "$2" && has_value "$1.capacity" "$3" && has_value "$1.ways" "$4" ;;
    esac
}

before=
while IFS=, read -r file method structure line size ways; do
    [ "$file" != file ] || continue
    [ "$file" = "$before" ] ||
        run survey --machine "$top/machines/$file.yaml" --meter sim --method "$method" --format json
    before=$file
    ok "$method on $file: $structure $line $size $ways" row_holds "$structure" "$line" "$size" "$ways"
done <"$data/published_counts.csv"

run survey --machine "$top/machines/intel-pentium-133.yaml" --meter sim --method amp --format json
ok "no write allocation on the Pentium" has_value l1d.write_allocate false
run survey --machine "$top/machines/intel-pentium-ii-233.yaml" --meter sim --method amp --format json
ok "write allocation on the Pentium II" has_value l1d.write_allocate true
cp out first
run survey --machine "$top/machines/intel-pentium-ii-233.yaml" --meter sim --method amp --format json \
    --seed 2
ok "the same answer on every run" [ "$(jq -S '[.findings[] | select(.method == "amp") |
    [.property, .value]]' out)" = "$(jq -S '[.findings[] | select(.method == "amp") |
    [.property, .value]]' first)" ]
done_testing
