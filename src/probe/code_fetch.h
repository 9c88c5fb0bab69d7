/* What fetching lines of code adds to a jump, alone. */
#ifndef FM_PROBE_CODE_FETCH_H
#define FM_PROBE_CODE_FETCH_H

#include "probe/lab.h"

/* Lines of code in an arena: pairs of one page each, or single ones. */
struct fm_code_lines {
    uint32_t *one, *other; /* words; other: FM_NO_LINE */
    size_t count, room;    /* elements */
    size_t lines;          /* in all */
    size_t apart;          /* bytes between the two slots of a line */
};

bool fm_code_lines_open(struct fm_code_lines *lines, size_t room, struct fm_error *err);
void fm_code_lines_close(struct fm_code_lines *lines);

/* Adds an element; `other` is FM_NO_LINE where it is one line alone. Bytes, not words. */
void fm_code_lines_add(struct fm_code_lines *lines, size_t one, size_t other);
void fm_code_lines_clear(struct fm_code_lines *lines);

/* All lines of a footprint, `pitch` bytes from one to the next, paired within their pages. */
void fm_code_lines_fill(struct fm_code_lines *lines, size_t bytes, size_t pitch, size_t page);

/* A reading: what a fetch of a line adds to a jump, and what a jump takes besides. */
struct fm_code_fetch {
    double miss_ns, rest_ns;
    double one_ns, burst_ns; /* of which these are made */
};

/* Times the lines one by one and in bursts. The arena must be placed. */
bool fm_time_fetch(struct fm_lab *lab, const struct fm_code_lines *lines,
                   const struct fm_care *care, struct fm_code_fetch *found, struct fm_error *err);

/* Whether the machine runs strings of jumps at all. Where it does not, the properties of a probe,
   NULL-terminated or NULL, become unsupported, with the machine's reason. */
bool fm_code_runs(struct fm_lab *lab, const char *const *properties, bool *runs,
                  struct fm_error *err);

#endif
