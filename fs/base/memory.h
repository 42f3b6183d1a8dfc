/* SPDX-License-Identifier: MIT */
/*
 * Giving memory back to the system. What comes by the thousand in small pieces and goes again
 * leaves holes between pieces that stay, of which the allocator gives nothing back unless asked;
 * and what is free at the end of a thread's memory it keeps up to a limit that it raises by itself.
 */
#ifndef SPECFS_BASE_MEMORY_H
#define SPECFS_BASE_MEMORY_H

#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * A thread that reads a piece of a file into memory for each request, which is 1 MiB at most, must
 * not get and give back its pages each time: that takes thrice as long as the reading.
 */
enum {
	MEMORY_LARGE = 1280 << 10, /* from so many bytes on a piece is given back when it goes */
	MEMORY_SPARE = 1536 << 10, /* bytes that each thread may keep at its memory's end */
};

/** memory_limit - of a daemon, before it starts threads */
static inline void memory_limit(void)
{
	(void)mallopt(M_MMAP_THRESHOLD, MEMORY_LARGE); /* all are in range */
	(void)mallopt(M_TRIM_THRESHOLD, MEMORY_SPARE);
	(void)mallopt(M_MXFAST, 0); /* what is in "fast bins" does not count as free */
}

/** memory_give_back - takes milliseconds if there are many holes: hold no lock */
static inline void memory_give_back(void)
{
	(void)malloc_trim(0); /* whether there was anything to give back */
}

/* How many small pieces there have been at most since memory was given back. */
struct peak {
	size_t most;
};

/** peak_note - there are @n now */
static inline void peak_note(struct peak *p, size_t n)
{
	if (n > p->most)
		p->most = n;
}

/**
 * peak_fell - have more than half of them gone? Then memory_give_back() is due, and is due again
 *             when another half has: what is left may be scattered over all of the memory
 * @least: fewer than these are not worth the time
 */
static inline bool peak_fell(struct peak *p, size_t n, size_t least)
{
	if (p->most < least || n >= p->most / 2)
		return false;
	p->most = n;
	return true;
}

#endif
