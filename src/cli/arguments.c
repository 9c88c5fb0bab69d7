#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

static int raise_help(struct fm_request *request, const struct fm_option *option, const char *value)
{
    (void)option;
    (void)value;
    request->help = true;
    return FM_EXIT_ANSWERED;
}

static int raise_version(struct fm_request *request, const struct fm_option *option,
                         const char *value)
{
    (void)option;
    (void)value;
    request->version = true;
    return FM_EXIT_ANSWERED;
}

const struct fm_option fm_common_options[] = {
    {.name = "help", .letter = 'h', .help = "explain the command", .apply = raise_help},
    {.name = "version", .letter = 'V', .help = "print the version", .apply = raise_version},
    {.name = NULL},
};

static const char *option_name(const void *list, size_t index)
{
    return ((const struct fm_option *)list)[index].name;
}

static const char *command_name(const void *list, size_t index)
{
    return ((const struct fm_command *)list)[index].name;
}

static const struct fm_option *find_in(const struct fm_option *options, const char *name,
                                       size_t length, bool is_long)
{
    for (const struct fm_option *option = options; option->name; option++) {
        const bool same_name =
            strlen(option->name) == length && strncmp(option->name, name, length) == 0;
        if (is_long ? same_name : option->letter && option->letter == *name)
            return option;
    }
    return NULL;
}

static int unknown_option(const struct fm_command *command, const char *argument)
{
    char word[64];
    const char *bare = argument + strspn(argument, "-");
    snprintf(word, sizeof word, "%.*s", (int)strcspn(bare, "="), bare);
    const char *near = fm_nearest(word, option_name, command->options);
    if (near && argument[1] == '-')
        return fm_complain(FM_EXIT_USAGE,
                           "%.64s: no such option: did you mean --%s? See fathom %s --help",
                           argument, near, command->name);
    return fm_complain(FM_EXIT_USAGE, "%.64s: no such option: see fathom %s --help", argument,
                       command->name);
}

/* One option at arguments[*at]; *at moves on when its value is the next argument. */
static int parse_option(struct fm_request *request, int count, char **arguments, int *at)
{
    const char *argument = arguments[*at];
    const bool is_long = argument[1] == '-';
    const char *name = argument + 1 + is_long;
    const size_t length = is_long ? strcspn(name, "=") : 1;
    const char *value = name[length] ? name + length + is_long : NULL;
    const struct fm_option *option = find_in(request->command->options, name, length, is_long);

    if (!option)
        option = find_in(fm_common_options, name, length, is_long);
    if (!option)
        return unknown_option(request->command, argument);
    if (!option->argument && value)
        return fm_complain(FM_EXIT_USAGE, "%.64s: --%s takes no value: leave it out", argument,
                           option->name);
    if (option->argument && !value) {
        /* Another option here is a forgotten value more often than a value. */
        if (*at + 1 >= count || strncmp(arguments[*at + 1], "--", 2) == 0)
            return fm_complain(FM_EXIT_USAGE, "--%s: a value is missing: write --%s %s",
                               option->name, option->name, option->argument);
        value = arguments[++*at];
    }
    return option->apply(request, option, value);
}

static int take_command(struct fm_request *request, const char *name)
{
    for (const struct fm_command *command = fm_commands; command->name; command++)
        if (strcmp(command->name, name) == 0) {
            request->command = command;
            return FM_EXIT_ANSWERED;
        }
    char all[256] = "";
    for (const struct fm_command *command = fm_commands; command->name; command++) {
        strcat(all, command == fm_commands ? "" : ", ");
        strcat(all, command->name);
    }
    const char *near = fm_nearest(name, command_name, fm_commands);
    return fm_complain(FM_EXIT_USAGE, "%.64s: no such command: %s%s%sthe commands are %s", name,
                       near ? "did you mean " : "", near ? near : "", near ? "? " : "", all);
}

static int check_operands(const struct fm_request *request)
{
    const struct fm_command *command = request->command;
    const size_t most = command->operands_most ? command->operands_most : command->operand_count;
    if (request->help || request->version ||
        (request->operand_count >= command->operand_count && request->operand_count <= most))
        return FM_EXIT_ANSWERED;
    if (request->operand_count < command->operand_count)
        return fm_complain(FM_EXIT_USAGE, "%s: %s is missing: see fathom %s --help", command->name,
                           command->operands, command->name);
    return fm_complain(FM_EXIT_USAGE, "%.64s: one argument too many: see fathom %s --help",
                       request->operands[most], command->name);
}

int fm_parse_arguments(struct fm_request *request, int count, char **arguments)
{
    int code = FM_EXIT_ANSWERED, at = 0;
    bool only_operands = false;

    request->command = &fm_commands[0];
    if (count > 0 && arguments[0][0] != '-') {
        code = take_command(request, arguments[0]);
        at = 1;
    }
    for (; code == FM_EXIT_ANSWERED && at < count; at++) {
        const char *argument = arguments[at];
        if (!only_operands && strcmp(argument, "--") == 0)
            only_operands = true;
        else if (!only_operands && argument[0] == '-' && argument[1])
            code = parse_option(request, count, arguments, &at);
        else {
            request->operands[request->operand_count++] = argument;
            only_operands |= request->command->of_command;
        }
    }
    return code == FM_EXIT_ANSWERED ? check_operands(request) : code;
}
