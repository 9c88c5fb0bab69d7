#!/bin/sh
# AMP's table 1 and papi_cacheSize's Itanium 2, by --method and the simulator's counters: line or page,
# capacity or entries, ways, each exactly. An empty cell is not in the paper. Where the paper had no
# counter (N/C) there is no row; the R10000's one TLB serves code and data.
#
# One figure is not the paper's: the UltraSPARC's first level fills its lines of 32 bytes in two parts,
# and to count read misses is to count parts of 16. The paper's authors had to count writes there,
# the read misses being more than the reads; the cache described here allocates nothing on a write,
# so that each write misses and counting them says nothing of lines.
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
    *tlb*) has_value "$1.page_size" "$2" && has_value "$1.entries" "$3" && has_value "$1.ways" "$4" ;;
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

run survey --machine "$top/machines/intel-itanium2-900-papi.yaml" --meter sim --method papi-cache --format json
ok "which data types use which structure on the Itanium 2" json '[.findings[] |
    select(.property | endswith(".fp_bypass")) | {(.property): .value}] | add ==
    {"l1d.fp_bypass": true, "l2.fp_bypass": false, "l3.fp_bypass": false, "dtlb1.fp_bypass": true,
     "dtlb2.fp_bypass": false}'
run survey --machine "$top/machines/intel-pentium-133.yaml" --meter sim --method amp --format json
ok "no write allocation on the Pentium" has_value l1d.write_allocate false
run survey --machine "$top/machines/intel-pentium-ii-233.yaml" --meter sim --method amp --format json
ok "write allocation on the Pentium II" has_value l1d.write_allocate true
# amp_says FILE: all that the method found.
amp_says() {
    jq -S '[.findings[] | select(.method == "amp") | [.property, .value]]' "$1"
}

# The paper reached nine runs of ten.
same_on_every_run() {
    for seed in 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        run survey --machine "$top/machines/$1.yaml" --meter sim --method amp --format json --seed "$seed"
        [ "$(amp_says out)" = "$(amp_says first)" ] || return 1
    done
}

cp out first
ok "the same answer on twenty runs" same_on_every_run intel-pentium-ii-233
run survey --machine "$top/machines/intel-pentium-ii-233.yaml" --meter sim --method amp --format json
ok "LRU is one of several" json '[.findings[] | select(.property == "l1d.replacement") |
    .status, (.candidates | index("lru") != null)] == ["undetermined", true]'
done_testing
