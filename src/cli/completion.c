/* completion: what a shell needs to complete our command line, made from the same tables that the
 * command line is read with, so that they cannot differ. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

/* What can stand in a place: files, shipped machines, a list of words; none of them: anything. */
struct values {
    bool files, machines;
    char words[512];
};

/* Machine files may come and go: the shells ask the program that they complete. */
#define BASH_MACHINES "$(fathom machines 2>/dev/null | sed \"1d; s/ .*//\")"
#define ZSH_MACHINES  "{_files; compadd -- ${${${(f)\"$(fathom machines 2>/dev/null)\"}[2,-1]}%% *}}"
#define FISH_MACHINES "(fathom machines 2>/dev/null | string replace -r \" .*\" \"\")[2..-1]"

static void add_word(char *words, size_t space, const char *word)
{
    const size_t used = strlen(words);
    snprintf(words + used, space - used, "%s%s", used ? " " : "", word);
}

/* By what help calls the place. */
static struct values values_of(const char *place, const char *words)
{
    struct values values = {.files = strstr(place, "FILE") || strstr(place, ".json"),
                            .machines = strcmp(place, "MACHINE") == 0};
    if (words)
        add_word(values.words, sizeof values.words, words);
    else if (strncmp(place, "PROBE", 5) == 0)
        for (size_t i = 0; i < fathom_probe_count(); i++)
            add_word(values.words, sizeof values.words, fathom_probe_at(i).name);
    else if (strcmp(place, "PROGRAM") == 0)
        for (size_t i = 0; i < fathom_target_count(); i++)
            add_word(values.words, sizeof values.words, fathom_target_at(i).name);
    else if (strcmp(place, "SHELL") == 0)
        add_word(values.words, sizeof values.words, "bash zsh fish");
    return values;
}

/* Text between single quotes; `also` is what else needs a backslash there. */
static void quoted(FILE *out, const char *text, const char *also)
{
    for (; *text; text++) {
        if (strchr(also, *text))
            putc('\\', out);
        if (*text == '\'')
            fputs("'\\''", out);
        else
            putc(*text, out);
    }
}

static void command_names(FILE *out)
{
    for (const struct fm_command *command = fm_commands; command->name; command++)
        fprintf(out, "%s%s", command == fm_commands ? "" : " ", command->name);
}

typedef void for_option(FILE *out, const struct fm_command *command,
                        const struct fm_option *option);

static void each_option(FILE *out, const struct fm_command *command, for_option *visit)
{
    for (const struct fm_option *option = command->options; option->name; option++)
        visit(out, command, option);
    for (const struct fm_option *option = fm_common_options; option->name; option++)
        visit(out, command, option);
}

static void bash_values(FILE *out, const struct fm_command *command, const struct fm_option *option)
{
    if (!option->argument)
        return;
    const struct values values = values_of(option->argument, option->words);
    fprintf(out, "    %s:--%s", command->name, option->name);
    if (option->letter)
        fprintf(out, " | %s:-%c", command->name, option->letter);
    fprintf(out, ") _fathom_offer %s'%s'; return ;;\n",
            values.files || values.machines ? "-f -W " : "-W ",
            values.machines ? BASH_MACHINES : values.words);
}

static void bash_name(FILE *out, const struct fm_command *command, const struct fm_option *option)
{
    (void)command;
    fprintf(out, " --%s", option->name);
    if (option->letter)
        fprintf(out, " -%c", option->letter);
}

static void bash(FILE *out)
{
    fputs(
        "# bash completion of fathom; made by `fathom completion bash`\n"
        "_fathom_offer() {\n"
        "    mapfile -t COMPREPLY < <(compgen \"$@\" -- \"${COMP_WORDS[COMP_CWORD]}\")\n"
        "}\n"
        "_fathom() {\n"
        "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=survey\n"
        "    COMPREPLY=()\n"
        "    if [ \"$COMP_CWORD\" -gt 1 ] && [ \"${COMP_WORDS[1]#-}\" = \"${COMP_WORDS[1]}\" ]; "
        "then\n"
        "        command=${COMP_WORDS[1]}\n"
        "    fi\n"
        "    case $command:$prev in\n",
        out);
    for (const struct fm_command *command = fm_commands; command->name; command++)
        each_option(out, command, bash_values);
    fputs("    esac\n    case $command:$cur in\n", out);
    for (const struct fm_command *command = fm_commands; command->name; command++) {
        fprintf(out, "    %s:-*) _fathom_offer -W '", command->name);
        each_option(out, command, bash_name);
        fputs("' ;;\n", out);
    }
    fputs("    *) case $COMP_CWORD:$command in\n       1:*) _fathom_offer -W '", out);
    command_names(out);
    fputs("' ;;\n", out);
    for (const struct fm_command *command = fm_commands; command->name; command++) {
        const struct values values = values_of(command->operands, NULL);
        if (values.files || *values.words)
            fprintf(out, "       *:%s) _fathom_offer %s'%s' ;;\n", command->name,
                    values.files ? "-f -W " : "-W ", values.words);
    }
    fputs("       esac ;;\n    esac\n}\ncomplete -o filenames -F _fathom fathom\n", out);
}

static void zsh_action(FILE *out, const char *place, const char *words)
{
    const struct values values = values_of(place, words);
    fputs(":", out);
    quoted(out, place, ":[]");
    if (values.machines)
        fputs(":" ZSH_MACHINES, out);
    else if (values.files)
        fputs(":_files", out);
    else
        fprintf(out, ":(%s)", values.words);
}

static void zsh_option(FILE *out, const struct fm_command *command, const struct fm_option *option)
{
    const char *repeats = option->repeats ? "*" : "";
    (void)command;
    for (int form = 0; form < (option->letter ? 2 : 1); form++) {
        fprintf(out, " \\\n        '%s", repeats);
        if (form == 0)
            fprintf(out, "--%s%s[", option->name, option->argument ? "=" : "");
        else
            fprintf(out, "-%c%s[", option->letter, option->argument ? "+" : "");
        quoted(out, option->help, "[]");
        fputs("]", out);
        if (option->argument)
            zsh_action(out, option->argument, option->words);
        fputs("'", out);
    }
}

static void zsh(FILE *out)
{
    fputs("#compdef fathom\n# zsh completion of fathom; made by `fathom completion zsh`\n"
          "_fathom() {\n    local command=survey\n    local -a commands=(\n",
          out);
    for (const struct fm_command *command = fm_commands; command->name; command++) {
        fprintf(out, "        '%s:", command->name);
        quoted(out, command->summary, ":");
        fputs("'\n", out);
    }
    fputs("    )\n    if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
          "        _describe command commands\n        return\n    fi\n"
          "    if [[ $words[2] != -* ]]; then\n        command=$words[2]\n"
          "        shift words\n        (( CURRENT-- ))\n    fi\n    case $command in\n",
          out);
    for (const struct fm_command *command = fm_commands; command->name; command++) {
        fprintf(out, "    %s) _arguments", command->name);
        each_option(out, command, zsh_option);
        if (*command->operands) {
            fputs(" \\\n        '*", out);
            zsh_action(out, command->operands, NULL);
            fputs("'", out);
        }
        fputs(" ;;\n", out);
    }
    fputs("    esac\n}\nif [ \"$funcstack[1]\" = _fathom ]; then _fathom \"$@\"; else compdef "
          "_fathom "
          "fathom; fi\n",
          out);
}

/* The first command is meant when none is named. */
static void fish_condition(FILE *out, const struct fm_command *command)
{
    if (command != fm_commands) {
        fprintf(out, "complete -c fathom -n '__fish_seen_subcommand_from %s'", command->name);
        return;
    }
    fputs("complete -c fathom -n 'not __fish_seen_subcommand_from", out);
    for (const struct fm_command *other = fm_commands + 1; other->name; other++)
        fprintf(out, " %s", other->name);
    putc('\'', out);
}

static void fish_values(FILE *out, const char *place, const char *words)
{
    const struct values values = values_of(place, words);
    if (values.machines)
        fputs(" -r -F -a '" FISH_MACHINES "'", out);
    else if (values.files)
        fputs(" -r -F", out);
    else
        fprintf(out, " -x -a '%s'", values.words);
}

static void fish_option(FILE *out, const struct fm_command *command, const struct fm_option *option)
{
    fish_condition(out, command);
    fprintf(out, " -l %s", option->name);
    if (option->letter)
        fprintf(out, " -s %c", option->letter);
    if (option->argument)
        fish_values(out, option->argument, option->words);
    fputs(" -d '", out);
    quoted(out, option->help, "\\");
    fputs("'\n", out);
}

static void fish(FILE *out)
{
    fputs("# fish completion of fathom; made by `fathom completion fish`\ncomplete -c fathom -f\n",
          out);
    for (const struct fm_command *command = fm_commands; command->name; command++) {
        fprintf(out, "complete -c fathom -n __fish_use_subcommand -a %s -d '", command->name);
        quoted(out, command->summary, "\\");
        fputs("'\n", out);
        each_option(out, command, fish_option);
        const struct values values = values_of(command->operands, NULL);
        if (!values.files && !*values.words)
            continue;
        fish_condition(out, command);
        if (values.files)
            fputs(" -F\n", out);
        else
            fprintf(out, " -a '%s'\n", values.words);
    }
}

int fm_run_completion(struct fm_request *request)
{
    static const struct {
        const char *name;
        void (*write)(FILE *out);
    } shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
    const char *name = request->operands[0];

    for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++)
        if (strcmp(shells[i].name, name) == 0) {
            shells[i].write(stdout);
            return fm_deliver("", NULL);
        }
    return fm_complain(FM_EXIT_USAGE,
                       "completion: '%.64s' is no shell we know: use bash, zsh or fish", name);
}
