/* Blocks a matrix multiplication by what fathom says of this computer, and times it beside one that
 * is not blocked and one whose blocks are too large.
 *
 *     cc -O3 multiply.c $(pkg-config --cflags --libs fathom) -lm -o multiply
 *     ./multiply [N]            matrices of N x N doubles, 1500 unless said otherwise
 *
 * Both do the same sums; they differ in the order in which memory is touched. */
#include <fathom.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TURNS 3

struct problem {
    size_t n;
    double *a, *b, *c;
    size_t rows, columns; /* of the tile of B that is kept in a cache */
};

/* Row i of C grows by multiples of rows k0 to k1 of B, four at a time so that C is not read and
   written for each, in the columns j0 to j1. */
static void add_rows(const struct problem *p, size_t i, size_t k0, size_t k1, size_t j0, size_t j1)
{
    const size_t n = p->n;
    const double *a = p->a + i * n;
    double *restrict c = p->c + i * n;
    size_t k = k0;
    for (; k + 4 <= k1; k += 4) {
        const double *b = p->b + k * n;
        const double a0 = a[k], a1 = a[k + 1], a2 = a[k + 2], a3 = a[k + 3];
        for (size_t j = j0; j < j1; j++)
            c[j] += a0 * b[j] + a1 * b[n + j] + a2 * b[2 * n + j] + a3 * b[3 * n + j];
    }
    for (; k < k1; k++)
        for (size_t j = j0; j < j1; j++)
            c[j] += a[k] * p->b[k * n + j];
}

/* Along the rows: every line is used up when it comes, but all of B comes again for each row. */
static void rows(const struct problem *p)
{
    memset(p->c, 0, p->n * p->n * sizeof *p->c);
    for (size_t i = 0; i < p->n; i++)
        add_rows(p, i, 0, p->n, 0, p->n);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Along the rows of one tile of B at a time, which stays in the cache while all rows use it. */
static void blocked(const struct problem *p)
{
    memset(p->c, 0, p->n * p->n * sizeof *p->c);
    for (size_t j = 0; j < p->n; j += p->columns)
        for (size_t k = 0; k < p->n; k += p->rows)
            for (size_t i = 0; i < p->n; i++)
                add_rows(p, i, k, least(k + p->rows, p->n), j, least(j + p->columns, p->n));
}

/* A tile of that many bytes: twice as wide as high, since long rows are read fastest, and whole
   lines wide. */
static void choose_tile(struct problem *p, double bytes, double line)
{
    const double values = bytes / sizeof(double), per_line = line / sizeof(double);
    p->columns = (size_t)(fmax(1, floor(sqrt(2 * values) / per_line)) * per_line);
    p->rows = (size_t)fmax(1, values / (double)p->columns);
}

/* What the first level holds, and its line, as fathom measured them: some seconds the first time,
   milliseconds from then on. */
static bool ask_fathom(double *capacity, double *line)
{
    struct fathom_error err;
    struct fathom_options *options = fathom_options_new();
    struct fathom_result *result = options ? fathom_here(options, &err) : NULL;
    const bool known = result && fathom_number(result, "l1d.capacity", capacity) &&
                       fathom_number(result, "l1d.line", line);
    if (!result)
        fprintf(stderr, "multiply: %s\n", options ? err.text : "out of memory");
    else if (!known)
        fprintf(stderr, "multiply: the survey did not determine the first level\n");
    fathom_result_free(result);
    fathom_options_free(options);
    return known;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double time_of(void (*multiply)(const struct problem *), const struct problem *p)
{
    const double start = seconds();
    multiply(p);
    return seconds() - start;
}

static void report(const char *name, double took, size_t n)
{
    const double operations = 2 * (double)n * (double)n * (double)n;
    printf("%-16s %7.3f s %6.2f GFLOP/s\n", name, took, operations / took * 1e-9);
}

/* The sums must come out alike, but for the order of their additions. */
static bool alike(const double *one, const double *two, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n * n; i++)
        most = fmax(most, fabs(one[i] - two[i]));
    return most <= 1e-9 * (double)n;
}

static int run(const struct problem *p, double *expected, double capacity)
{
    const size_t count = p->n * p->n;
    for (size_t i = 0; i < count; i++) {
        p->a[i] = (double)(i % 7) / 7;
        p->b[i] = (double)(i % 11) / 11;
    }
    /* In turns, and the best of each: other programs only ever make one slower. */
    double plain = INFINITY, tiled = INFINITY;
    for (int i = 0; i < TURNS; i++) {
        plain = fmin(plain, time_of(rows, p));
        memcpy(expected, p->c, count * sizeof *expected);
        tiled = fmin(tiled, time_of(blocked, p));
    }
    report("along the rows", plain, p->n);
    report("in blocks", tiled, p->n);
    printf("a block of B has %zu x %zu values, %zu of the %.0f KiB of level 1\n", p->rows,
           p->columns, p->rows * p->columns * sizeof(double) / 1024, capacity / 1024);
    printf("%.2f times as fast\n", plain / tiled);
    if (alike(expected, p->c, p->n))
        return 0;
    fprintf(stderr, "multiply: the results differ\n");
    return 1;
}

int main(int count, char **arguments)
{
    struct problem p = {.n = count > 1 ? strtoul(arguments[1], NULL, 10) : 1500};
    double capacity, line;
    int code = 1;
    if (p.n < 1 || p.n > 16384) {
        fprintf(stderr, "multiply: N is from 1 to 16384\n");
        return 2;
    }
    if (!ask_fathom(&capacity, &line))
        return 1;
    choose_tile(&p, capacity / 2, line); /* rows of A and C pass through the other half */
    p.a = malloc(p.n * p.n * sizeof *p.a);
    p.b = malloc(p.n * p.n * sizeof *p.b);
    p.c = malloc(p.n * p.n * sizeof *p.c);
    double *expected = malloc(p.n * p.n * sizeof *expected);
    if (p.a && p.b && p.c && expected)
        code = run(&p, expected, capacity);
    else
        fprintf(stderr, "multiply: out of memory\n");
    free(expected);
    free(p.c);
    free(p.b);
    free(p.a);
    return code;
}
