/* Keeps a result for this computer, as a survey would that took seconds:
 *
 *     keep-result RESULT.json */
#include <fathom.h>
#include <stdio.h>

int main(int count, char **arguments)
{
    struct fathom_error err;
    struct fathom_options *options = fathom_options_new();
    struct fathom_result *result =
        options && count == 2 ? fathom_result_read(arguments[1], &err) : NULL;
    const bool kept = result && fathom_keep(result, options, &err);
    if (!kept)
        fprintf(stderr, "keep-result: %s\n", count == 2 ? err.text : "give a result");
    fathom_result_free(result);
    fathom_options_free(options);
    return kept ? 0 : 1;
}
