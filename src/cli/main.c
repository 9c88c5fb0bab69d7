#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/interrupt.h"

static const struct fm_option no_options[] = {{.name = NULL}};

const struct fm_command fm_commands[] = {
    {.name = "survey",
     .operands = "",
     .summary = "Measures caches, TLBs and memory of this machine and prints a table.",
     .options = fm_survey_options,
     .examples = "  fathom survey --quick\n"
                 "  fathom survey --budget 2 --format json\n"
                 "  fathom survey -o here.html\n"
                 "  fathom survey --machine intel-xeon-e5530-nehalem --seed 1\n"
                 "  fathom survey --record here.samples -o here.json\n"
                 "  fathom survey --replay here.samples --verbose\n",
     .surveys = true,
     .run = fm_run_survey},
    {.name = "probes",
     .operands = "",
     .summary = "Lists the probes: what each finds and needs, and whether it can run here.",
     .options = no_options,
     .examples = "  fathom probes\n",
     .run = fm_run_probes},
    {.name = "machines",
     .operands = "",
     .summary = "Lists the simulated machines that are shipped.",
     .options = no_options,
     .examples = "  fathom machines\n"
                 "  FATHOM_MACHINES=my-machines fathom machines\n",
     .run = fm_run_machines},
    {.name = "curve",
     .operands = "PROBE",
     .operand_count = 1,
     .summary = "Runs one probe and draws its curve in the terminal.",
     .options = fm_survey_options,
     .examples = "  fathom curve levels\n"
                 "  fathom curve levels --machine intel-xeon-e5530-nehalem\n"
                 "  fathom curve tlb\n"
                 "  fathom curve levels --format csv -o levels.csv\n",
     .surveys = true,
     .run = fm_run_curve},
    {.name = "export",
     .operands = "RESULT.json",
     .operand_count = 1,
     .summary = "Gives a result to another program: compiler flags, a header, a topology.",
     .options = fm_export_options,
     .examples =
         "  gcc -O2 $(fathom export here.json --to gcc) -c blocked.c\n"
         "  fathom export here.json --to c-header -o machine.h\n"
         "  env $(fathom export here.json --to env) ./solver\n"
         "  fathom export here.json --to hwloc-xml -o here.xml && lstopo -i here.xml\n"
         "  valgrind --tool=cachegrind $(fathom export here.json --to cachegrind) ./solver\n",
     .run = fm_run_export},
    {.name = "diff",
     .operands = "A.json B.json...",
     .operand_count = 2,
     .operands_most = FM_ANY_NUMBER,
     .summary = "Shows what differs between results beyond their intervals.",
     .options = fm_diff_options,
     .examples = "  fathom diff before.json after.json\n"
                 "  fathom diff before.json after.json -o diff.html\n"
                 "  fathom diff node1.json node2.json node3.json\n"
                 "  fathom diff a.json b.json --format json | jq '.differences[].property'\n",
     .run = fm_run_diff},
    {.name = "get",
     .operands = "PROPERTY...",
     .operand_count = 1,
     .operands_most = FM_ANY_NUMBER,
     .summary = "Prints values alone, from the last survey of this machine, or from one made now.",
     .options = fm_get_options,
     .examples = "  fathom get l2.capacity\n"
                 "  fathom get l1d.line l1d.ways dtlb1.reach\n"
                 "  fathom get l2.capacity --refresh --quick\n"
                 "  cc -DBLOCK_BYTES=$(fathom get l2.capacity) -c blocked.c\n",
     .surveys = true,
     .run = fm_run_get},
    {.name = "stat",
     .operands = "COMMAND...",
     .operand_count = 1,
     .operands_most = FM_ANY_NUMBER,
     .of_command = true,
     .failure = FM_EXIT_STAT,
     .summary = "Runs a command and shows where its references were served from.",
     .options = fm_stat_options,
     .examples = "  fathom stat -- sort words.txt\n"
                 "  fathom stat --element 4 -o stat.json -- ./solver input.dat\n"
                 "  fathom stat --result here.json -- ls -l\n",
     .run = fm_run_stat},
    {.name = "completion",
     .operands = "SHELL",
     .operand_count = 1,
     .summary = "Prints what bash, zsh or fish needs to complete these commands.",
     .options = no_options,
     .examples = "  eval \"$(fathom completion bash)\"\n"
                 "  fathom completion fish >~/.config/fish/completions/fathom.fish\n",
     .run = fm_run_completion},
    {.name = NULL},
};

/* A closed descriptor would be taken by the next file that is opened, and output would end up
   there. Opened the wrong way round, reads and writes fail as they should. */
static void hold_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

static int use_environment(struct fm_request *request)
{
    struct fathom_error err;
    const char *folder = getenv("FATHOM_MACHINES");
    if (folder && *folder && !fathom_options_set(request->options, "machines", folder, &err))
        return fm_complain_error(&err);
    return FM_EXIT_ANSWERED;
}

static int answer(struct fm_request *request, int count, char **arguments)
{
    /* `fathom --help` is about the program, `fathom survey --help` about the command. */
    const bool command_named = count > 0 && arguments[0][0] != '-';
    int code = fm_parse_arguments(request, count, arguments);

    if (code != FM_EXIT_ANSWERED)
        return request->command->failure ? request->command->failure : code;
    if (request->help)
        return fm_print_help(command_named ? request->command : NULL);
    if (request->version) {
        printf("fathom %s\n", fathom_version());
        return fm_deliver("", NULL);
    }
    code = use_environment(request);
    if (code != FM_EXIT_ANSWERED)
        return code;
    if (!request->command->surveys)
        fm_release_interrupts();
    if (!request->command->surveys && fm_interrupted())
        return FM_EXIT_INTERRUPTED;
    return request->command->run(request);
}

int main(int count, char **arguments)
{
    struct fm_request request = {.arguments = count > 0 ? arguments + 1 : arguments};
    int code;

    fm_catch_interrupts();
    hold_standard_streams();
    /* Not LC_ALL: numbers keep their decimal point, so that scripts read them everywhere. */
    setlocale(LC_CTYPE, "");
    request.options = fathom_options_new();
    request.operands = calloc((size_t)count + 1, sizeof *request.operands);
    request.machines = calloc((size_t)count + 1, sizeof *request.machines);
    if (request.options && request.operands && request.machines)
        code = answer(&request, count > 0 ? count - 1 : 0, arguments + 1);
    else
        code = fm_complain(FM_EXIT_LACKING, "memory: there is none left: close other programs");
    fathom_options_free(request.options);
    free(request.operands);
    free(request.machines);
    return code;
}
