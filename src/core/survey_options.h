/* What a caller can ask of a survey; probes read the part that concerns them. */
#ifndef FM_CORE_SURVEY_OPTIONS_H
#define FM_CORE_SURVEY_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum fm_effort { FM_QUICK, FM_NORMAL, FM_THOROUGH };

enum fm_method {
    FM_METHOD_DEFAULT,
    FM_METHOD_COOPER_SANDOVAL,
    FM_METHOD_CALIBRATOR,
    FM_METHOD_PAPI_CACHE,
    FM_METHOD_AMP
};

struct fm_survey_options {
    enum fm_effort effort;
    enum fm_method method;
    double budget_s;        /* 0: none */
    double pace_s;          /* what it should take where no budget says; 0: no matter how long */
    uint64_t max_footprint; /* 0: none */
    uint64_t seed;
    const char *only; /* comma list of probe names; NULL: all */

    /* Called often, from the surveying thread; true stops the survey early. fraction is 0..1,
       seconds_left is negative while unknown. May be NULL. */
    bool (*progress)(void *data, const char *what, double fraction, double seconds_left);
    void *progress_data;
};

#endif
