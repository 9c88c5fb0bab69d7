/* What the parts of the program share: what the user asked for, and how it answers. */
#ifndef FM_CLI_CLI_H
#define FM_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "fathom.h"

enum fm_exit {
    FM_EXIT_ANSWERED = 0,
    FM_EXIT_NOTHING = 1, /* measured, but nothing was determined */
    FM_EXIT_DIFFERS = 1, /* results that were compared differ */
    FM_EXIT_USAGE = 2,   /* bad usage, bad input, or output that could not be written */
    FM_EXIT_LACKING = 3, /* the machine lacks what was asked for */
    FM_EXIT_STAT = 125,  /* stat's own failures; else it ends as its command did */
    FM_EXIT_INTERRUPTED = 130
};

struct fm_command;

/* Everything the command line said. Texts are the arguments themselves. */
struct fm_request {
    const struct fm_command *command;
    char *const *arguments; /* all of them, after the program's name; NULL at the end */
    struct fathom_options *options;
    const char **operands, **machines; /* as many places as there are arguments */
    size_t operand_count, machine_count;
    const char *preset; /* --quick or --thorough, as given */
    const char *replay, *record, *output, *format, *target, *result, *element, *meter;
    bool refresh, native_cpu, quiet, verbose, no_progress, help, version;
};

struct fm_option {
    const char *name;     /* without its dashes */
    char letter;          /* '\0': none */
    const char *argument; /* how help calls its value; NULL: it takes none */
    const char *words;    /* the values it takes, a blank between them; NULL: other ones */
    bool repeats;         /* it may be given more than once */
    const char *help;
    /* Takes the value in; an exit code, FM_EXIT_ANSWERED to go on. */
    int (*apply)(struct fm_request *request, const struct fm_option *option, const char *value);
    size_t member; /* the place in the request that apply sets, where it sets just one */
};

struct fm_command {
    const char *name;
    const char *operands; /* how help calls them; "" where there are none */
    size_t operand_count; /* how many there must be */
    size_t operands_most; /* how many there may be; 0: no more than that */
    const char *summary;
    const char *examples;
    const struct fm_option *options; /* ends with a NULL name; --help apart */
    bool of_command; /* operands are a command: what follows the first is not ours */
    bool surveys;    /* an interruption stops its survey, and it still answers */
    int failure;     /* exit status of its own failures; 0: those of the others */
    int (*run)(struct fm_request *request);
};

/* The commands, ending with a NULL name; the first is the one that runs when none is named. */
extern const struct fm_command fm_commands[];

/* What every command understands. */
extern const struct fm_option fm_common_options[];

#define FM_ANY_NUMBER ((size_t)-1)

/* The options of survey and curve, and those of each other command that has any. */
extern const struct fm_option fm_survey_options[], fm_export_options[], fm_diff_options[],
    fm_get_options[], fm_stat_options[];

/* What most options do: keep their value's text, or raise a flag, in a member of the request. */
int fm_keep_text(struct fm_request *request, const struct fm_option *option, const char *value);
int fm_raise_flag(struct fm_request *request, const struct fm_option *option, const char *value);
/* Sets the library's option of the same name; --quick and --thorough. */
int fm_set_option(struct fm_request *request, const struct fm_option *option, const char *value);
int fm_set_preset(struct fm_request *request, const struct fm_option *option, const char *value);
#define FM_TEXT(name) .apply = fm_keep_text, .member = offsetof(struct fm_request, name)
#define FM_FLAG(name) .apply = fm_raise_flag, .member = offsetof(struct fm_request, name)

int fm_run_survey(struct fm_request *request);
int fm_run_curve(struct fm_request *request);
int fm_run_probes(struct fm_request *request);
int fm_run_machines(struct fm_request *request);
int fm_run_export(struct fm_request *request);
int fm_run_diff(struct fm_request *request);
int fm_run_get(struct fm_request *request);
int fm_run_stat(struct fm_request *request);
int fm_run_completion(struct fm_request *request);

/* Reads the arguments after the program's name into the request. An exit code; complains itself. */
int fm_parse_arguments(struct fm_request *request, int count, char **arguments);

/* The word of a list nearest to a mistyped one, NULL when none is near. The list is given by a
   function that returns NULL past its end. */
const char *fm_nearest(const char *word, const char *(*at)(const void *list, size_t index),
                       const void *list);

int fm_print_help(const struct fm_command *command); /* NULL: of the program */

/* Writes a line "fathom: …" to standard error, made safe to show, and returns the code. */
int fm_complain(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
int fm_complain_error(const struct fathom_error *err);

/* The format that --format or the suffix of -o names; an exit code, complains itself. */
int fm_choose_format(const struct fm_request *request, enum fathom_format *format);

/* Refuses an output that is the same file as another, which `use` tells of; NULL is none. An exit
   code, complains itself. */
int fm_refuse_same(const char *option, const char *output, const char *other, const char *use);
int fm_refuse_overwriting(const char *option, const char *output, const char *input);

/* Prints to standard output or into the file; an exit code. */
int fm_deliver(const char *text, const char *file);

/* How output to standard output should look. */
struct fathom_look fm_look_of_output(const struct fm_request *request);

#endif
