# TAP for shell tests of the program; sourced, with the program as $1 and the source tree as $2.
fathom=$(realpath "$1")
top=$2
data=$top/tests/data
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset FATHOM_MACHINES NO_COLOR COLUMNS
export LC_ALL=C TERM=xterm XDG_CACHE_HOME=$work/cache
# A search for leaks at the end can take seconds, and these tests start hundreds of programs. The
# unit tests search, and leak_checked does where it is asked for.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
count=0

# ok NAME CONDITION...: a case that passes when the condition does.
ok() {
    name=$1
    shift
    count=$((count + 1))
    if "$@"; then
        echo "ok $count - $name"
    else
        echo "not ok $count - $name"
        echo "# exit $code; standard output and error were:"
        head -c 400 out 2>/dev/null | cat -v | awk '{ print "# out: " $0 }'
        head -c 400 err 2>/dev/null | cat -v | awk '{ print "# err: " $0 }'
    fi
}

skip() {
    count=$((count + 1))
    echo "ok $count - $1 # SKIP $2"
}

done_testing() {
    echo "1..$count"
}

# run ARGUMENT...: the program, its two outputs kept in the files out and err.
run() {
    "$fathom" "$@" >out 2>err
    code=$?
}

leak_checked() {
    ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=1"
    run "$@"
    ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"
}

one_line_error() {
    [ "$code" = "$1" ] && [ ! -s out ] && [ "$(wc -l <err)" = 1 ] && grep -q '^fathom: ' err &&
        grep -q -e "$2" err
}

# refused NAME CODE PATTERN ARGUMENT...: nothing on standard output, one line of error.
refused() {
    label=$1
    want=$2
    pattern=$3
    shift 3
    run "$@"
    ok "$label" one_line_error "$want" "$pattern"
}

answered() {
    [ "$code" = 0 ] && [ -s out ] && [ ! -s err ]
}

# has PATTERN: standard output matches it.
has() {
    grep -q -e "$1" out
}

# json FILTER [FILE]: the filter holds for the JSON in the file, or on standard output.
json() {
    [ -s "${2:-out}" ] && jq -e "$1" "${2:-out}" >/dev/null
}

only_printable() {
    ! LC_ALL=C grep -q '[^[:print:]	]' "$@"
}

# python_with MODULE: a Python that has it; Debian's own, where another one comes first.
python_with() {
    for python in python3 /usr/bin/python3; do
        "$python" -c "import $1" 2>/dev/null && break
    done
    command -v "$python"
}
