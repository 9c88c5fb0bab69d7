/* The caches above a CPU in hwloc's topology. */
#include <hwloc.h>

#include "claims/sources.h"

static char kind_of(hwloc_obj_cache_type_t type)
{
    return type == HWLOC_OBJ_CACHE_DATA ? 'd' : type == HWLOC_OBJ_CACHE_INSTRUCTION ? 'i' : 'u';
}

static void add_object(struct fm_claims *claims, hwloc_obj_t object)
{
    const struct hwloc_cache_attr_s *attributes = &object->attr->cache;
    const int ways = attributes->associativity;
    const int cpus = hwloc_bitmap_weight(object->cpuset);
    const struct fm_claimed_cache cache = {
        .level = attributes->depth,
        .kind = kind_of(attributes->type),
        .capacity = attributes->size,
        .line = attributes->linesize,
        .ways = ways > 0 ? (uint64_t)ways : 0,
        .shared_by = cpus > 0 ? (uint64_t)cpus : 0,
        .fully_associative = ways < 0,
    };
    fm_claims_add_cache(claims, "hwloc", &cache);
}

void fm_claims_add_hwloc(struct fm_claims *claims, int cpu)
{
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0)
        return;
    hwloc_topology_set_icache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL);
    if (hwloc_topology_load(topology) == 0) {
        hwloc_obj_t object = hwloc_get_pu_obj_by_os_index(topology, (unsigned)cpu);
        for (; object; object = object->parent)
            if (hwloc_obj_type_is_cache(object->type))
                add_object(claims, object);
    }
    hwloc_topology_destroy(topology);
}
