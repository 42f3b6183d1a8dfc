/* SPDX-License-Identifier: MIT */
/*
 * Trees for tests, written as text. Every call fails the running test when the system says no.
 */
#ifndef SPECFS_TESTS_TREE_H
#define SPECFS_TESTS_TREE_H

#include <stdbool.h>

/** tree_use_memory - for thousands of small trees: make them in memory if it can hold marks */
void tree_use_memory(void);

/** tree_tmp - a fresh temporary directory; free with tree_remove() and free() */
char *tree_tmp(void);

/**
 * tree_make - make objects below @root; parents are made as needed; ends with NULL
 *
 * "dir/" is a directory, "file=content" a file, "link->text" a symlink.
 */
void tree_make(const char *root, ...) __attribute__((sentinel));

/** tree_content - content of @root/@path; the caller frees */
char *tree_content(const char *root, const char *path);

/** tree_exists - is there anything at @root/@path (a dangling symlink counts)? */
bool tree_exists(const char *root, const char *path);

/** tree_remove - remove @path with everything in it */
void tree_remove(const char *path);

#endif
