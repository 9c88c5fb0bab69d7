/* A folder of small files that stands in for /proc and /sys: each test says in one place what the
   system is supposed to tell. */
#ifndef FM_TESTS_FAKE_TREE_H
#define FM_TESTS_FAKE_TREE_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct fake_tree {
    char root[64];
};

static inline struct fake_tree fake_tree_make(void)
{
    struct fake_tree tree = {"/tmp/fathom-test-XXXXXX"};
    assert_non_null(mkdtemp(tree.root));
    return tree;
}

/* Writes a file, and the folders it lies in; path begins with a slash. */
static inline void fake_file(const struct fake_tree *tree, const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof full, "%s%s", tree->root, path);
    for (char *at = full + strlen(tree->root) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        mkdir(full, 0700);
        *at = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static inline int fake_remove(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info;
    (void)kind;
    (void)walk;
    return remove(path);
}

static inline void fake_tree_remove(const struct fake_tree *tree)
{
    nftw(tree->root, fake_remove, 8, FTW_DEPTH | FTW_PHYS);
}

#endif
