/* What a program asks first: how large are the caches, and how far is memory?
 *
 *     cc levels.c $(pkg-config --cflags --libs fathom) -o levels
 *     ./levels                  this computer: kept from an earlier survey, or measured now
 *     ./levels MACHINE          a simulated one, such as ibm-power7
 *
 * Ctrl-C ends a survey early; what was found until then is printed. */
#include <fathom.h>
#include <signal.h>
#include <stdio.h>

static volatile sig_atomic_t stop;

static void on_interrupt(int number)
{
    (void)number;
    stop = 1;
}

/* Called now and then while a survey runs; true ends it. */
static bool progress(void *data, const char *what, double fraction, double seconds_left)
{
    unsigned *calls = data;
    (void)seconds_left;
    if (++*calls % 256 == 0)
        fprintf(stderr, "%3.0f%% %s\n", 100 * fraction, what);
    return stop;
}

static struct fathom_result *survey(const char *name, const struct fathom_options *options,
                                    struct fathom_error *err)
{
    struct fathom_machine *machine = fathom_open_described(name, options, err);
    struct fathom_result *result = machine ? fathom_survey(machine, options, err) : NULL;
    fathom_close(machine);
    return result;
}

/* A line for each level of which at least the capacity was looked for. */
static void print_levels(const struct fathom_result *result)
{
    static const char *const capacities[] = {"l1d.capacity", "l2.capacity", "l3.capacity",
                                             "l4.capacity"};
    double ns;
    printf("%s\n", fathom_result_machine(result));
    for (size_t i = 0; i < sizeof capacities / sizeof *capacities; i++) {
        const struct fathom_finding *finding = fathom_find(result, capacities[i]);
        if (!finding)
            continue;
        if (fathom_finding_status(finding) == FATHOM_MEASURED)
            printf("%s %.0f bytes, from %.0f to %.0f\n", capacities[i],
                   fathom_finding_value(finding).number, fathom_finding_low(finding).number,
                   fathom_finding_high(finding).number);
        else
            printf("%s is not known: %s\n", capacities[i], fathom_finding_note(finding));
    }
    if (fathom_number(result, "memory.latency", &ns))
        printf("memory.latency %.1f ns\n", ns);
}

int main(int count, char **arguments)
{
    struct fathom_error err;
    struct fathom_options *options = fathom_options_new();
    unsigned calls = 0;
    struct fathom_result *result = NULL;

    signal(SIGINT, on_interrupt);
    if (options && fathom_options_set(options, "budget", "20", &err)) {
        fathom_options_progress(options, progress, &calls);
        result = count > 1 ? survey(arguments[1], options, &err) : fathom_here(options, &err);
    }
    if (result)
        print_levels(result);
    else
        fprintf(stderr, "levels: %s\n", options ? err.text : "out of memory");
    const int code = result ? 0 : 1;
    fathom_result_free(result);
    fathom_options_free(options);
    return code;
}
