#include "probe/ways_inside.h"

#include <math.h>
#include <string.h>

#include "analysis/occupancy.h"
#include "core/divisor.h"

/* Times what a level holds that overrun it where its ways are not known. */
#define OVERRUN 2
/* Times its low end that the high one of a sharp edge may be. */
#define SHARP 1.1

static const struct fm_finding *number_of(const struct fm_lab *lab, size_t index,
                                          const char *attribute)
{
    const struct fm_finding *finding = fm_lab_measured(lab, index, attribute);
    const bool known =
        finding && finding->value.kind == FM_VALUE_NUMBER && finding->value.number > 0;
    return known ? finding : NULL;
}

double fm_ways_of(struct fm_lab *lab, size_t index)
{
    const struct fm_finding *ways = number_of(lab, index, "ways");
    return ways ? ways->value.number : 0;
}

size_t fm_way_of(struct fm_lab *lab, size_t index)
{
    const struct fm_finding *bytes =
        number_of(lab, index, index == 0 ? "capacity" : "physical_capacity");
    const double ways = fm_ways_of(lab, index);
    return ways > 0 && bytes ? (size_t)(bytes->value.number / ways) : 0;
}

double fm_classes_of(struct fm_lab *lab, size_t index)
{
    const struct fm_finding *physical = number_of(lab, index, "physical_capacity");
    const size_t line = lab->known.levels[index].line;
    const double ways = fm_ways_of(lab, index);
    if (!physical || !line || ways <= 0)
        return 0;
    /* Sets need not be a power of two. */
    const size_t sets = (size_t)(physical->value.number / ways / (double)line);
    const size_t common = fm_common_divisor(lab->machine->info.page_size / line, sets);
    const size_t classes = common ? sets / common : 0;
    return (double)classes;
}

double fm_held_of(const struct fm_known_level *level)
{
    return level->capacity > 0 ? level->capacity : level->rise_from;
}

double fm_bytes_inside(struct fm_lab *lab, size_t index)
{
    const struct fm_finding *physical = number_of(lab, index, "physical_capacity");
    const struct fm_known_level *level = &lab->known.levels[index];
    const double ways = fm_ways_of(lab, index);
    if (physical)
        return physical->value.number;
    /* Where lines meet by no rule. */
    return ways > 0 && level->capacity > 0
               ? level->capacity / fm_occupancy_load(FM_CAPACITY_MISSES, (uint32_t)ways)
               : level->rise_to;
}

double fm_overload(struct fm_lab *lab, size_t index, double deviations)
{
    const double ways = fm_ways_of(lab, index);
    return ways > 0 ? 1 + deviations * sqrt(2 / ways) : OVERRUN;
}

bool fm_edge_is_sharp(const struct fm_finding *capacity)
{
    return capacity && capacity->status == FM_MEASURED && strcmp(capacity->method, "swept") == 0 &&
           !*capacity->note && capacity->high.number < SHARP * capacity->low.number;
}

size_t fm_overrun(struct fm_lab *lab, size_t index)
{
    const double page = (double)lab->machine->info.page_size;
    const double ways = fm_ways_of(lab, index);
    const double by_chance = fm_classes_of(lab, index) * (ways + FM_WAYS_RARE * sqrt(ways));
    return (size_t)fmax(2 * fmax(lab->known.levels[index].capacity / page, ways), by_chance) + 1;
}

size_t fm_period_inside(struct fm_lab *lab, size_t index)
{
    const size_t page = lab->machine->info.page_size;
    const size_t way = index > 0 ? fm_way_of(lab, index - 1) : 0;
    return way ? way / fm_common_divisor(way, page) * page : page;
}

size_t fm_overrun_apart(struct fm_lab *lab, size_t inside, size_t period)
{
    const size_t way = fm_way_of(lab, 0);
    const size_t classes = way ? way / fm_common_divisor(way, period) : 1;
    return (size_t)(2 * fmax(fm_ways_of(lab, inside), (double)classes * fm_ways_of(lab, 0))) + 1;
}
