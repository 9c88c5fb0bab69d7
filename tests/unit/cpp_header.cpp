// The public header is C; programs in C++ use it as it is.
#include <fathom.h>

#include <cstdio>
#include <cstring>

int main()
{
    fathom_options *options = fathom_options_new();
    fathom_error err;
    const bool refused = options && !fathom_options_set(options, "budget", "never", &err);
    fathom_options_free(options);
    std::printf("1..1\n%s 1 - errors reach C++\n",
                refused && err.code == FATHOM_USAGE && std::strlen(err.text) > 0 ? "ok" : "not ok");
    return 0;
}
