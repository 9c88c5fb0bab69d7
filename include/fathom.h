/* Fathom: what the memory hierarchy under a program really is.
 *
 * Open a machine, run a survey on it, read the findings:
 *
 *     struct fathom_error err;
 *     struct fathom_options *options = fathom_options_new();
 *     struct fathom_machine *machine = fathom_open_native(options, &err);
 *     struct fathom_result *result = machine ? fathom_survey(machine, options, &err) : NULL;
 *     double bytes;
 *     if (result && fathom_number(result, "l1d.capacity", &bytes))
 *         block_for(bytes);
 *     fathom_result_free(result);
 *     fathom_close(machine);
 *     fathom_options_free(options);
 *
 * Errors. A call that can fail returns false or NULL and fills the struct fathom_error it was
 * given, which may be NULL. The text is one line that names the thing, the place and the remedy,
 * with control characters escaped. A call that succeeds leaves the struct alone. Every *_free and
 * *_close takes NULL.
 *
 * Threads. There is no global state: different handles may be used by different threads at the
 * same time, one handle by one thread at a time. The library never prints and never exits.
 *
 * Lifetimes. What a call hands out as const belongs to the handle it came from and lives as long.
 * Strings are never NULL unless said so. Text that came from outside (names of machines, notes) is
 * as it came: pass it through fathom_printable before it reaches a terminal. What fathom renders
 * itself is safe to show. */
#ifndef FATHOM_H
#define FATHOM_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum fathom_code {
    FATHOM_OK,
    FATHOM_USAGE,       /* bad argument or bad input */
    FATHOM_NO_MEMORY,   /* not enough memory */
    FATHOM_UNSUPPORTED, /* the machine lacks what was asked for */
    FATHOM_IO,          /* input or output failed */
    FATHOM_INTERNAL,    /* a mistake in Fathom itself */
    FATHOM_NOT_KEPT     /* no result was kept for this computer */
};

struct fathom_error {
    enum fathom_code code;
    char text[640];
};

const char *fathom_version(void);

/* Options: how machines are opened and surveyed ------------------------------------------------ */

struct fathom_options;

/* All defaults; NULL when memory is out. */
struct fathom_options *fathom_options_new(void);
void fathom_options_free(struct fathom_options *options);

/* Sets one option from text, strictly: "8x" is no number and "64MB" no size.
 *
 *   effort          quick | normal | thorough
 *   method          default | cooper-sandoval | calibrator | papi-cache | amp
 *   meter           auto | clock | perf | papi | sim | callgrind    (perf, papi: the processor's
 * counters; sim: a described machine's exact ones; callgrind: the model of the option of that name)
 *   callgrind       caches of the model that callgrind is to count in, as
 *                   "D1=32768,8,64 LL=262144,16,64"; see fathom_needs_callgrind
 *   events          events that perf or papi is to count, in the place of those it knows of, by the
 *                   names of libpfm4 or PAPI: "l1d=L1D_CACHE_REFILL,dtlb1=L1D_TLB_REFILL"; a sum is
 *                   "A+B". Whether they exist is seen when the machine is opened
 *   budget          seconds to answer within
 *   max-footprint   largest footprint to touch, as "64MiB"
 *   only            comma list of probes
 *   seed            where all randomness comes from
 *   cpu             the CPU to measure on (default: the one the call is made on)
 *   machines        folder to look for described machines in, instead of those shipped */
bool fathom_options_set(struct fathom_options *options, const char *name, const char *value,
                        struct fathom_error *err);

/* Called often during a survey, from the surveying thread: what is measured, how much is done
   (0..1), seconds left (negative while unknown). Returning true ends the survey early; the result
   then holds what is known so far. NULL: none. */
typedef bool fathom_progress(void *data, const char *what, double fraction, double seconds_left);
void fathom_options_progress(struct fathom_options *options, fathom_progress *progress, void *data);

/* Machines ------------------------------------------------------------------------------------- */

struct fathom_machine;

/* This computer. */
struct fathom_machine *fathom_open_native(const struct fathom_options *options,
                                          struct fathom_error *err);

/* Callgrind's model is counted by a program that runs in it. So a program whose options name one,
   and which does not run in it yet, is to be run again: with the same arguments, those after its
   name, NULL at the end. Waits for it and says how it ended, as a shell would; this process then
   has nothing left to do. stop is asked often during the wait; true ends the other; it may be NULL.
   UNSUPPORTED when valgrind is not installed. */
bool fathom_needs_callgrind(const struct fathom_options *options);
bool fathom_run_in_callgrind(const struct fathom_options *options, char *const *arguments,
                             bool (*stop)(void *data), void *data, int *exit_status,
                             struct fathom_error *err);

/* A simulated machine, described in a file or shipped under that name. */
struct fathom_machine *fathom_open_described(const char *file_or_name,
                                             const struct fathom_options *options,
                                             struct fathom_error *err);

/* The samples of an earlier survey, saved by fathom_record_save. They can be surveyed once, with
   the options they were taken with where the caller sets no other. */
struct fathom_machine *fathom_open_recorded(const char *file, const struct fathom_options *options,
                                            struct fathom_error *err);

/* From now on keeps every sample that a survey takes, the next one; fathom_record_save writes them.
   The file appears whole or not at all. */
bool fathom_record(struct fathom_machine *machine, struct fathom_error *err);
bool fathom_record_save(struct fathom_machine *machine, const char *file, struct fathom_error *err);

void fathom_close(struct fathom_machine *machine);

/* A survey and its result ---------------------------------------------------------------------- */

struct fathom_result;
struct fathom_finding;
struct fathom_curve;

struct fathom_result *fathom_survey(struct fathom_machine *machine,
                                    const struct fathom_options *options, struct fathom_error *err);
/* A result that was written as JSON before, by any fathom of the same schema. Whatever else the
   file holds is an error that says what and where. */
struct fathom_result *fathom_result_read(const char *file, struct fathom_error *err);

void fathom_result_free(struct fathom_result *result);

const char *fathom_result_machine(const struct fathom_result *result);
double fathom_result_elapsed(const struct fathom_result *result); /* seconds, the machine's own */

/* False when the survey was interrupted or ran out of time. */
bool fathom_result_complete(const struct fathom_result *result);

/* Findings, in the order they were made. Out of range and not found are NULL. */
size_t fathom_finding_count(const struct fathom_result *result);
const struct fathom_finding *fathom_finding_at(const struct fathom_result *result, size_t index);
const struct fathom_finding *fathom_find(const struct fathom_result *result, const char *property);

/* The value of a property that was measured and is a number; false leaves *number alone. */
bool fathom_number(const struct fathom_result *result, const char *property, double *number);

enum fathom_status {
    FATHOM_MEASURED,
    FATHOM_UNDETERMINED, /* the evidence does not decide: fathom_finding_note says why */
    FATHOM_NOT_SUPPORTED,
    FATHOM_ABSENT
};

enum fathom_kind { FATHOM_NONE, FATHOM_NUMBER, FATHOM_BOOLEAN, FATHOM_TEXT };

/* One member holds the value, as kind says; FATHOM_NONE is a value that is not known. */
struct fathom_value {
    enum fathom_kind kind;
    double number;
    bool truth;
    const char *text;
};

const char *fathom_finding_property(const struct fathom_finding *finding);
const char *fathom_finding_unit(const struct fathom_finding *finding); /* "B", "ns", "" … */
enum fathom_status fathom_finding_status(const struct fathom_finding *finding);
struct fathom_value fathom_finding_value(const struct fathom_finding *finding);
struct fathom_value fathom_finding_low(const struct fathom_finding *finding);
struct fathom_value fathom_finding_high(const struct fathom_finding *finding);
/* How often the truth lies in low..high; 0 where undetermined. */
double fathom_finding_confidence(const struct fathom_finding *finding);
const char *fathom_finding_method(const struct fathom_finding *finding);
struct fathom_value fathom_finding_claimed(const struct fathom_finding *finding);
const char *fathom_finding_claimed_by(const struct fathom_finding *finding);
const char *fathom_finding_note(const struct fathom_finding *finding);
/* Lists: NULL, or FATHOM_NONE, past the end. */
const char *fathom_finding_witness(const struct fathom_finding *finding, size_t index);
const char *fathom_finding_evidence(const struct fathom_finding *finding, size_t index);
struct fathom_value fathom_finding_candidate(const struct fathom_finding *finding, size_t index);

struct fathom_point {
    double x, y;
    double low, high; /* the spread across placements */
};

/* A plateau read from the curve: it ends at x with height y. */
struct fathom_step {
    double x, y;
    const char *label;
};

size_t fathom_curve_count(const struct fathom_result *result);
const struct fathom_curve *fathom_curve_at(const struct fathom_result *result, size_t index);
const struct fathom_curve *fathom_curve_find(const struct fathom_result *result, const char *id);
const char *fathom_curve_id(const struct fathom_curve *curve);
size_t fathom_point_count(const struct fathom_curve *curve);
struct fathom_point fathom_point_at(const struct fathom_curve *curve, size_t index);
size_t fathom_step_count(const struct fathom_curve *curve);
struct fathom_step fathom_step_at(const struct fathom_curve *curve, size_t index);

struct fathom_warning {
    const char *id, *text, *remedy;
};

size_t fathom_warning_count(const struct fathom_result *result);
struct fathom_warning fathom_warning_at(const struct fathom_result *result, size_t index);

/* Kept results --------------------------------------------------------------------------------- */

/* What is known of this computer: the result kept for it, which takes milliseconds, or else a
   survey with these options, which is then kept. This is the call for a program that wants to
   choose its blocking at its start.

   Results lie in $XDG_CACHE_HOME/fathom (or ~/.cache/fathom), each under a fingerprint of the
   computer: its processor, its CPUs, the caches it claims, its host and page size, and the version
   of fathom. On a computer with several kinds of core it is the kind that `cpu` is of. */
struct fathom_result *fathom_here(const struct fathom_options *options, struct fathom_error *err);

/* The kept result alone; NULL with the code FATHOM_NOT_KEPT when there is none. What lies in its
   place and is of another computer is an error. */
struct fathom_result *fathom_kept(const struct fathom_options *options, struct fathom_error *err);

/* Keeps a whole survey of this computer, made with these options, in place of the one before. A
   survey that was stopped, that was told to leave something out, or that was so disturbed that it
   determined much less than the one before, is refused. */
bool fathom_keep(const struct fathom_result *result, const struct fathom_options *options,
                 struct fathom_error *err);

/* Applications --------------------------------------------------------------------------------- */

enum fathom_ended {
    FATHOM_EXITED,    /* code is its exit status */
    FATHOM_KILLED,    /* code is the signal */
    FATHOM_NOT_FOUND, /* code is errno, here and in the next */
    FATHOM_NOT_RUN,
    FATHOM_NOT_STARTED /* something failed before it was its turn */
};

struct fathom_command {
    enum fathom_ended ended;
    int code;
};

/* Runs a command, NULL at the end of its arguments, as it is, and counts its references by the
   meter: "perf" or "papi" while it runs, "callgrind" in a second run without input or output, in
   the model of a measured machine; NULL is "auto", perf where it can and callgrind where not. Where
   they were served from is in findings of app.*; element is the bytes of one reference, 4 or 8. How
   the first run ended is in *ended, also where NULL is returned. One that a signal ended is not run
   again; a signal that asks the process to end during the second run ends that, and is in *ended.
   It waits, and changes signals of the process while it does. */
struct fathom_result *fathom_stat(const struct fathom_result *machine, char *const *command,
                                  unsigned element, const char *meter, struct fathom_command *ended,
                                  struct fathom_error *err);
/* Whether a result is of a computer of this one's name. */
bool fathom_is_of_here(const struct fathom_result *result);

/* Rendering ------------------------------------------------------------------------------------ */

enum fathom_format { FATHOM_TABLE, FATHOM_JSON, FATHOM_CSV, FATHOM_HTML };

/* How text looks; all zero is plain ASCII, 80 columns. Anything but ASCII needs the locale to be
   set (setlocale, LC_CTYPE). */
struct fathom_look {
    unsigned width; /* columns; 0: 80 */
    bool unicode;
    bool colour;
    bool verbose; /* a sentence for every finding */
    bool terse;   /* no notes and no warnings */
};

/* Results as text, which the caller frees with free(). JSON is one object, or an array when there
   is not exactly one result; HTML is one page that needs no other file. look may be NULL. */
char *fathom_text(struct fathom_result *const *results, size_t count, enum fathom_format format,
                  const struct fathom_look *look, struct fathom_error *err);

/* Whether fathom_text can render the format, to be asked before a long measurement: the library may
   have been built without HTML. */
bool fathom_can_render(enum fathom_format format, struct fathom_error *err);

/* Such a result as text, which the caller frees; a table has bars. */
char *fathom_stat_text(struct fathom_result *result, enum fathom_format format,
                       const struct fathom_look *look, struct fathom_error *err);

/* A curve drawn with logarithmic axes and its steps marked (FATHOM_TABLE), or its points
   (FATHOM_CSV). The caller frees it. */
char *fathom_curve_text(const struct fathom_curve *curve, enum fathom_format format,
                        const struct fathom_look *look, struct fathom_error *err);

/* A program that results can be given to: "gcc", "hwloc-xml", … and what is written for it. */
struct fathom_target {
    const char *name, *writes;
};

size_t fathom_target_count(void);
struct fathom_target fathom_target_at(size_t index);

/* The result in the words of another program; the caller frees the text. What was not determined is
   left out, never guessed: *left_out is a line for each such thing, which the caller frees too
   (NULL when memory ran out; left_out itself may be NULL). */
char *fathom_export(const struct fathom_result *result, const char *target, char **left_out,
                    struct fathom_error *err);

/* What differs between results: properties whose intervals have nothing in common, other words, or
   a level that one has and another has not. What a result leaves undetermined differs from nothing.
   The results must live as long as the diff; names are what the text calls them. */
struct fathom_diff;
struct fathom_diff *fathom_diff(struct fathom_result *const *results, const char *const *names,
                                size_t count, struct fathom_error *err);
size_t fathom_diff_count(const struct fathom_diff *diff);
const char *fathom_diff_property(const struct fathom_diff *diff, size_t index);

/* Among three results or more: whether most of the others agree, and not with this one. */
bool fathom_diff_odd(const struct fathom_diff *diff, size_t index, size_t result);

/* The differences as FATHOM_TABLE or FATHOM_JSON, or as FATHOM_HTML with the curves overlaid. The
   caller frees the text. */
char *fathom_diff_text(const struct fathom_diff *diff, enum fathom_format format,
                       const struct fathom_look *look, struct fathom_error *err);
void fathom_diff_free(struct fathom_diff *diff);

/* Makes text from outside safe to show: control characters and what is not ASCII become \xNN.
   Cuts what does not fit; returns out. space is at least 8. */
char *fathom_printable(const char *text, char *out, size_t space);

/* Puts text into a file at once: it appears whole or not at all. */
bool fathom_save(const char *file, const char *text, struct fathom_error *err);

/* Whether fathom_save could begin, to be asked before a long measurement. */
bool fathom_can_save(const char *file, struct fathom_error *err);

/* What there is -------------------------------------------------------------------------------- */

struct fathom_probe {
    const char *name, *finds, *needs;
    const char *curve; /* id of the curve it draws; NULL: none */
};

size_t fathom_probe_count(void);
struct fathom_probe fathom_probe_at(size_t index);

/* The probes as a table that the caller frees. obstacle says why they cannot run here; NULL: they
   can. */
char *fathom_probes_text(const char *obstacle, const struct fathom_look *look,
                         struct fathom_error *err);

/* The described machines that are shipped, or those in the options' folder. */
struct fathom_shelf;
struct fathom_shelf_entry {
    const char *name;   /* what fathom_open_described takes */
    const char *title;  /* what the description calls itself */
    const char *source; /* where its facts come from */
    const char *caches; /* in short, as "L1d 32K, L2 256K" */
    const char *file;
};

struct fathom_shelf *fathom_shelf_open(const struct fathom_options *options,
                                       struct fathom_error *err);
size_t fathom_shelf_count(const struct fathom_shelf *shelf);
struct fathom_shelf_entry fathom_shelf_at(const struct fathom_shelf *shelf, size_t index);
/* What is wrong with a file of the folder that is left out; NULL past the last of them. */
const char *fathom_shelf_complaint(const struct fathom_shelf *shelf, size_t index);
/* The shelf as a table that the caller frees. */
char *fathom_shelf_text(const struct fathom_shelf *shelf, const struct fathom_look *look,
                        struct fathom_error *err);
void fathom_shelf_free(struct fathom_shelf *shelf);

#ifdef __cplusplus
}
#endif
#endif
