#!/bin/sh
# The public header stands alone, in C and in C++, under strict compilers.
. "$(dirname "$0")/lib.sh"

cat >use.c <<'END'
#include <fathom.h>
int use(struct fathom_options *options);
int use(struct fathom_options *options)
{
    struct fathom_error err;
    return fathom_options_set(options, "seed", "1", &err) ? 0 : (int)err.code;
}
END
cp use.c use.cpp

compiles() {
    "$@" -Wall -Wextra -Wpedantic -Werror -I "$top/include" -c -o use.o 2>err
}
code=0
for standard in c99 c17; do
    ok "as $standard" compiles cc -std=$standard use.c
done
for standard in c++11 c++17; do
    if command -v c++ >/dev/null 2>&1; then
        ok "as $standard" compiles c++ -std=$standard use.cpp
    else
        skip "as $standard" "no C++ compiler"
    fi
done
ok "it needs nothing but libc" sh -c '! grep "#include" "$1/include/fathom.h" | grep -v "<std"' - "$top"

done_testing
