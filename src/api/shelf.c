/* The described machines: found in a folder, each a YAML file. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/config.h"
#include "api/handles.h"
#include "format/machine_file.h"
#include "report/report.h"

#define SUFFIX ".yaml"

struct entry {
    char *name, *file;
    char title[FM_INFO_TEXT], source[FM_INFO_TEXT], caches[FM_INFO_TEXT];
};

struct fathom_shelf {
    struct entry *entries;
    size_t count;
    struct fathom_error *complaints; /* about files that are none */
    size_t complaint_count;
};

const char *fm_api_machines_folder(const struct fathom_options *options)
{
    if (options->machines)
        return options->machines;
    return access(FM_MACHINES_SOURCE, R_OK) == 0 ? FM_MACHINES_SOURCE : FM_MACHINES_INSTALLED;
}

static int is_machine_file(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > strlen(SUFFIX) &&
           strcmp(entry->d_name + length - strlen(SUFFIX), SUFFIX) == 0;
}

/* By bytes, not by the locale: the same list everywhere. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static bool fill_entry(struct entry *entry, const char *folder, const char *file_name,
                       struct fm_error *err)
{
    struct fm_description description;

    entry->name = strndup(file_name, strlen(file_name) - strlen(SUFFIX));
    if (asprintf(&entry->file, "%s/%s", folder, file_name) < 0)
        entry->file = NULL;
    if (!entry->name || !entry->file)
        return fm_fail(err, FM_ERR_NO_MEMORY, "memory: there is none left");
    if (!fm_description_read(entry->file, &description, err))
        return false;
    snprintf(entry->title, sizeof entry->title, "%s", description.name);
    snprintf(entry->source, sizeof entry->source, "%s", description.source);
    fm_report_caches(&description, entry->caches, sizeof entry->caches);
    return true;
}

static void empty_entry(struct entry *entry)
{
    free(entry->name);
    free(entry->file);
    *entry = (struct entry){0};
}

/* A file that is no machine does not hide the others. */
static bool fill_shelf(struct fathom_shelf *shelf, const char *folder, struct dirent **names,
                       size_t count, struct fm_error *err)
{
    shelf->entries = calloc(count + 1, sizeof *shelf->entries);
    shelf->complaints = calloc(count + 1, sizeof *shelf->complaints);
    if (!shelf->entries || !shelf->complaints)
        return fm_fail(err, FM_ERR_NO_MEMORY, "memory: there is none left");
    for (size_t i = 0; i < count; i++) {
        struct entry *entry = &shelf->entries[shelf->count];
        if (fill_entry(entry, folder, names[i]->d_name, err)) {
            shelf->count++;
            continue;
        }
        empty_entry(entry);
        if (err->code == FM_ERR_NO_MEMORY)
            return false;
        fm_api_fail(&shelf->complaints[shelf->complaint_count++], err);
    }
    return true;
}

struct fathom_shelf *fathom_shelf_open(const struct fathom_options *options,
                                       struct fathom_error *err)
{
    const char *folder = fm_api_machines_folder(options);
    struct fathom_shelf *shelf = calloc(1, sizeof *shelf);
    struct dirent **names = NULL;
    struct fm_error inner;
    bool filled;

    if (!shelf) {
        fm_api_out_of_memory(err);
        return NULL;
    }
    const int count = scandir(folder, &names, is_machine_file, by_name);
    if (count < 0)
        filled = fm_fail(&inner, FM_ERR_USAGE,
                         "machines: %s: %s: set FATHOM_MACHINES to a folder "
                         "of machine files",
                         folder, strerror(errno));
    else
        filled = fill_shelf(shelf, folder, names, (size_t)count, &inner);
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
    if (filled)
        return shelf;
    fathom_shelf_free(shelf);
    fm_api_fail(err, &inner);
    return NULL;
}

size_t fathom_shelf_count(const struct fathom_shelf *shelf)
{
    return shelf->count;
}

struct fathom_shelf_entry fathom_shelf_at(const struct fathom_shelf *shelf, size_t index)
{
    const struct entry *entry = &shelf->entries[index];
    return (struct fathom_shelf_entry){entry->name, entry->title, entry->source, entry->caches,
                                       entry->file};
}

const char *fathom_shelf_complaint(const struct fathom_shelf *shelf, size_t index)
{
    return index < shelf->complaint_count ? shelf->complaints[index].text : NULL;
}

void fathom_shelf_free(struct fathom_shelf *shelf)
{
    if (!shelf)
        return;
    for (size_t i = 0; i < shelf->count; i++)
        empty_entry(&shelf->entries[i]);
    free(shelf->entries);
    free(shelf->complaints);
    free(shelf);
}
