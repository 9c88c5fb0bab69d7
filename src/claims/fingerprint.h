/* By what a computer is known again. */
#ifndef FM_CLAIMS_FINGERPRINT_H
#define FM_CLAIMS_FINGERPRINT_H

#define FM_FINGERPRINT 17

/* A word of hexadecimal digits that is the same whenever `cpu` of this computer is asked, and on
   computers that are built alike; another processor, number of CPUs, kind of host, page size or
   claimed cache gives another word. `root` is put before the paths: "" for the real ones. `salt` is
   whatever else should make a difference. */
void fm_fingerprint(const char *root, int cpu, const char *salt, char word[FM_FINGERPRINT]);

#endif
