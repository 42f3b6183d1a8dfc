# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What the scripts share: which packages are needed and how they get there, where builds go, how a
# step is announced. To be sourced; "$tree" is the root of the source tree afterwards.

me=${0##*/}
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# What is checked and installed below is the system's; so is what the build and the tests find.
PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH
export PATH LC_ALL=C.UTF-8

die()
{
	echo "$me: $*" >&2
	exit 2
}

step()
{
	printf '\n== %s\n' "$*"
}

# One row for each thing needed: when, the Debian package, how to see that it is there
# (cmd NAME, lib PKG-CONFIG-NAME, header FILE, python MODULE).
needs()
{
	cat <<'ROWS'
build gcc             cmd gcc
build libc6-dev       header stdio.h
build meson           cmd meson
build ninja-build     cmd ninja
build pkg-config      cmd pkg-config
build libfuse3-dev    lib fuse3
build libinih-dev     lib inih
build libgit2-dev     lib libgit2
build libjansson-dev  lib jansson
build uthash-dev      header uthash.h
build libcmocka-dev   lib cmocka
build python3         cmd python3
build python3-dev     lib python3
mount fuse3           cmd fusermount3
tests g++             cmd g++
tests cmake           cmd cmake
tests git             cmd git
tests python3-setuptools python setuptools
tests python3-pip     python pip
tests python3-wheel   python wheel
tests attr            cmd getfattr
tests acl             cmd setfacl
tests libcap2-bin     cmd setcap
tests ed              cmd ed
tests shellcheck      cmd shellcheck
clang clang           cmd clang
lint  clang-tidy      cmd clang-tidy
lint  clang-format    cmd clang-format
lint  cppcheck        cmd cppcheck
ROWS
}

have()
{
	case $1 in
	cmd) command -v "$2" >/dev/null ;;
	lib) command -v pkg-config >/dev/null && pkg-config --exists "$2" ;;
	header) [ -e "/usr/include/$2" ] || [ -e "/usr/local/include/$2" ] ;;
	python) command -v python3 >/dev/null && python3 -c "import $2" 2>/dev/null ;;
	*) die "needs(): unknown kind '$1'" ;;
	esac
}

# missing_packages GROUP... - print the packages of these groups that are not there
missing_packages()
{
	local group package kind what

	while read -r group package kind what; do
		case " $* " in
		*" $group "*) have "$kind" "$what" || echo "$package" ;;
		esac
	done < <(needs)
}

# install_missing MAY_INSTALL GROUP... - have everything of these groups, or stop with one line
install_missing()
{
	local may=$1 missing
	shift

	mapfile -t missing < <(missing_packages "$@")
	[ ${#missing[@]} -gt 0 ] || return 0

	if [ "$may" != yes ] || [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
		die "missing: ${missing[*]}; install with: sudo apt-get install ${missing[*]}"
	fi

	step "installing ${missing[*]}"
	export DEBIAN_FRONTEND=noninteractive
	local apt=(apt-get -qq -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300)
	"${apt[@]}" update || echo "$me: apt-get update failed, trying with the lists at hand" >&2
	"${apt[@]}" install -y --no-install-recommends "${missing[@]}" >/dev/null ||
		die "apt-get could not install ${missing[*]}"

	mapfile -t missing < <(missing_packages "$@")
	[ ${#missing[@]} -eq 0 ] || die "still missing after installing: ${missing[*]}"
}

# build_root - print the directory that builds go below: $SPECFS_BUILD, else build/ in the tree
build_root()
{
	local root=${SPECFS_BUILD:-$tree/build}

	mkdir -p "$root" 2>/dev/null
	if [ ! -w "$root" ]; then
		die "cannot write to '$root'; set SPECFS_BUILD to a directory of your own"
	fi
	(cd "$root" && pwd)
}

# build_in DIR [MESON OPTION...] - configure and compile; on failure shows the end of what was said
build_in()
{
	local dir=$1 log=$1.log
	shift

	if [ -e "$dir/build.ninja" ]; then
		meson setup --reconfigure "$dir" "$tree" "$@" >"$log" 2>&1 || rm -rf "$dir"
	fi
	if [ ! -e "$dir/build.ninja" ]; then
		rm -rf "$dir"
		meson setup "$dir" "$tree" "$@" >"$log" 2>&1 || return_log "$log" || return
	fi
	ninja -C "$dir" --quiet >>"$log" 2>&1 || return_log "$log"
}

return_log()
{
	tail -n 60 "$1"
	return 1
}

# temp_base - print a directory for temporary ones whose file system has user extended attributes
temp_base()
{
	local base probe

	for base in "${TMPDIR:-/tmp}" /var/tmp "$(build_root)"; do
		probe=$(mktemp "$base/specfs.XXXXXX" 2>/dev/null) || continue
		if setfattr -n user.specfs.test -v 1 "$probe" 2>/dev/null; then
			rm "$probe"
			echo "$base"
			return
		fi
		rm "$probe"
	done
	die "no temporary directory has user extended attributes; point TMPDIR to one that has"
}
