#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

#define HELP_AT 28 /* the column where explanations begin */
#define WIDTH   80

/* Prints text from column HELP_AT on, filled to the width. */
static void explain(const char *text)
{
    size_t column = HELP_AT;
    while (*text) {
        const size_t length = strcspn(text, " ");
        if (column > HELP_AT && column + 1 + length > WIDTH) {
            printf("\n%*s", HELP_AT, "");
            column = HELP_AT;
        }
        column += (size_t)printf("%s%.*s", column > HELP_AT ? " " : "", (int)length, text);
        text += length + (text[length] == ' ');
    }
    putchar('\n');
}

static void print_option(const struct fm_option *option)
{
    char name[64], letter[8] = "   ";
    if (option->letter)
        snprintf(letter, sizeof letter, "-%c,", option->letter);
    snprintf(name, sizeof name, "  %s --%s%s%s", letter, option->name, option->argument ? " " : "",
             option->argument ? option->argument : "");
    printf("%-*s", HELP_AT, name);
    if (strlen(name) >= HELP_AT)
        printf("\n%*s", HELP_AT, "");
    explain(option->help);
}

static void print_command_help(const struct fm_command *command)
{
    printf("Usage: fathom %s", command->name);
    if (command->of_command) /* what follows the command is the command's own */
        printf(" [OPTION...] -- %s", command->operands);
    else
        printf("%s%s%s", *command->operands ? " " : "", command->operands,
               command->options->name ? " [OPTION...]" : "");
    printf("\n\n%s\n", command->summary);
    if (command->options->name)
        printf("\nOptions:\n");
    for (const struct fm_option *option = command->options; option->name; option++)
        print_option(option);
    printf("\nExamples:\n%s", command->examples);
}

static void print_program_help(void)
{
    printf("Usage: fathom [COMMAND] [OPTION...]\n\n"
           "Finds out what the memory hierarchy under a program really is, by measuring.\n"
           "Without a command it surveys this machine, and takes the options of survey.\n\n"
           "Commands:\n");
    for (const struct fm_command *command = fm_commands; command->name; command++) {
        char name[64];
        snprintf(name, sizeof name, "  %s %s", command->name, command->operands);
        printf("%-*s", HELP_AT, name);
        explain(command->summary);
    }
    printf("  %-*s%s\n  %-*s%s\n", HELP_AT - 2, "--help", "this text, or that of a command",
           HELP_AT - 2, "--version", "the version");
    printf("\nExamples:\n"
           "  fathom                         survey this machine, print the table\n"
           "  fathom --quick -o here.json    the same, faster, as JSON into a file\n"
           "  fathom -o here.html            as a report for a browser\n"
           "  fathom survey --help           every option\n"
           "\nExit status: 0 answered; 1 nothing could be determined; 2 bad usage or input;\n"
           "3 the machine lacks what was asked for; 130 interrupted.\n");
}

int fm_print_help(const struct fm_command *command)
{
    if (command)
        print_command_help(command);
    else
        print_program_help();
    return fm_deliver("", NULL);
}
