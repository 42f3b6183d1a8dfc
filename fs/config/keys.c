/* SPDX-License-Identifier: MIT */
/* The table of a profile's keys: see keys.h. */
#include "config/keys.h"

#include "base/cleanup.h"
#include "config/profile.h"

#include <string.h>

#define IN_PROFILE(field) offsetof(struct profile, field)
#define IN_RULE(field)    offsetof(struct profile_rule, field)

const struct config_section config_sections[] = {
	{ "profile", false, false, "what the profile is and which checkouts it fits" },
	{ "map", true, false, "a spec directory, laid over a place of the view" },
	{ "graft", true, false, "a directory of the checkout, shown at another place of the view" },
	{ "link", true, false, "a symlink that the view makes" },
	{ "file", true, false, "a small file that the view makes" },
	{ "hide", false, false, "left-overs of native use that stay out of the view" },
	{ "redirect", false, false, "directories of the view that bypass the mount" },
	{ "write", false, true, "where changes go" },
	{ "hooks", false, false, "what the view does for functions that a backend replaces" },
};
const size_t n_config_sections = ARRAY_SIZE(config_sections);

const struct config_key config_keys[] = {
	{ "profile", "name", KEY_TEXT, false, "", "a word", IN_PROFILE(name),
	  "The profile's name; without it, the name of its file." },
	{ "profile", "description", KEY_TEXT, false, "", "text", IN_PROFILE(description),
	  "One line for people." },
	{ "profile", "detect", KEY_GLOBS, false, "", "paths of the checkout, with globs",
	  IN_PROFILE(detect),
	  "Any hit makes the profile fit a checkout; a directory of mere left-overs is none." },
	{ "profile", "backends", KEY_GLOBS, false, "", "paths of the checkout, with globs",
	  IN_PROFILE(backends),
	  "Directories that may be a backend's; its name is their last component." },
	{ "profile", "packages", KEY_FLAG, false, "merge", "merge|opaque",
	  IN_PROFILE(packages_opaque),
	  "What a spec sub-package with an __init__.py does to the trunk's: "
	  "merge with it, file by file, or hide it as Python's own import would." },

	{ "map", "at", KEY_AT, true, "", "a path of the view", IN_RULE(at),
	  "The place over which the directory is laid." },
	{ "map", "from", KEY_FROM, true, "", "a path below the checkout, or absolute",
	  IN_RULE(from), "The spec directory." },
	{ "map", "only", KEY_PATTERNS, false, "", "patterns", IN_RULE(only),
	  "What of it is shown; without it, everything." },
	{ "map", "except", KEY_PATTERNS, false, "", "patterns", IN_RULE(except),
	  "What of that is not shown after all." },
	{ "map", "role", KEY_CHOICE, false, "shadow", "shadow|provider", IN_RULE(role),
	  "Whether its files are seen in the view, or serve the hooks only." },
	{ "map", "opaque", KEY_FLAG, false, "no", "no|yes", IN_RULE(opaque),
	  "Whether the directory hides the one below it instead of merging with it." },
	{ "map", "hijack", KEY_FLAG, false, "no", "no|yes", IN_RULE(hijack),
	  "Whether only those packages are mapped whose __init__.py in the trunk calls "
	  "spec_path." },
	{ "map", "if", KEY_BELOW, false, "", "a path below the checkout", IN_RULE(when),
	  "The map is there only if the checkout has this path." },
	{ "map", "unless", KEY_BELOW, false, "", "a path below 'from'", IN_RULE(unless),
	  "The map is off if its own directory has this path." },

	{ "graft", "at", KEY_AT, true, "", "a path of the view", IN_RULE(at),
	  "The place at which the directory appears; with a glob in 'from', its parent." },
	{ "graft", "from", KEY_FROM, true, "", "a path below the checkout, or absolute",
	  IN_RULE(from), "The directory; its last component may be a glob." },
	{ "graft", "only", KEY_PATTERNS, false, "", "patterns", IN_RULE(only),
	  "What of it is shown; without it, everything." },
	{ "graft", "except", KEY_PATTERNS, false, "", "patterns", IN_RULE(except),
	  "What of that is not shown after all." },
	{ "graft", "if", KEY_BELOW, false, "", "a path below the checkout", IN_RULE(when),
	  "The graft is there only if the checkout has this path." },

	{ "link", "at", KEY_AT, true, "", "a path of the view", IN_RULE(at),
	  "The place of the link; with a glob in 'to', the directory that holds the links." },
	{ "link", "to", KEY_BELOW, true, "", "a path below the checkout", IN_RULE(from),
	  "What it points to; the last component may be a glob." },
	{ "link", "if", KEY_BELOW, false, "", "a path below the checkout", IN_RULE(when),
	  "The link is there only if the checkout has this path." },

	{ "file", "at", KEY_AT, true, "", "a path of the view", IN_RULE(at),
	  "The place of the file." },
	{ "file", "content", KEY_CONTENT, false, "", "text", IN_RULE(content),
	  "Its content, without a newline at the end; further lines go on indented." },
	{ "file", "if", KEY_BELOW, false, "", "a path below the checkout", IN_RULE(when),
	  "The file is there only if the checkout has this path." },

	{ "hide", "names", KEY_PATTERNS, false, "", "patterns", IN_PROFILE(hide),
	  "What is hidden, whatever it is." },
	{ "hide", "links", KEY_PATTERNS, false, "", "patterns", IN_PROFILE(hide_links),
	  "What is hidden if it is a symlink." },

	{ "redirect", "dirs", KEY_PATHS, false, "", "paths of the view", IN_PROFILE(redirect),
	  "Directories that bypass the mount where only scratch has them." },

	{ "hooks", "supply", KEY_FLAG, false, "no", "no|yes", IN_PROFILE(hooks_supply),
	  "Whether the view supplies _flagtree_spec to a trunk that lacks it." },
	{ "hooks", "import", KEY_FLAG, false, "no", "no|yes", IN_PROFILE(hooks_import),
	  "Whether an import hook binds a backend's functions over the trunk's." },
};
const size_t n_config_keys = ARRAY_SIZE(config_keys);

const struct config_section *config_section_find(const char *kind)
{
	for (size_t i = 0; i < n_config_sections; i++)
		if (!strcmp(config_sections[i].kind, kind))
			return &config_sections[i];
	return NULL;
}

const struct config_key *config_key_find(const char *kind, const char *name)
{
	for (size_t i = 0; i < n_config_keys; i++)
		if (!strcmp(config_keys[i].section, kind) && !strcmp(config_keys[i].name, name))
			return &config_keys[i];
	return NULL;
}
