# SPDX-License-Identifier: MIT
# bash completion for specfs(1). Commands and options are asked of the program itself, so that they
# are always those of the version that is installed.

# Words that begin a line of a list in the program's help, two spaces in.
_specfs_commands()
{
	"$1" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p'
}

_specfs_options()
{
	"$1" "$2" --help 2>/dev/null |
		sed -n '/^options:/,/^$/s/^ *\(-., \)\{0,1\}\(--[a-z-]*\).*/\2/p'
}

_specfs_list_options()
{
	"$1" mount --help 2>/dev/null |
		sed -n '/^mount options/,$s/^  \([a-z_]*\)\(=\{0,1\}\).*/\1\2/p'
}

_specfs_backends()
{
	"$1" backends 2>/dev/null | sed -n '3,$s/ .*//p'
}

_specfs_mountpoints()
{
	"$1" list 2>/dev/null | sed -n '2,$s/  .*//p'
}

_specfs_redirected()
{
	"$1" redirect list "$2" 2>/dev/null | sed -n '2,$s/  .*//p'
}

_specfs()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local program=$1 command=${COMP_WORDS[1]} words='' head=''

	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		words="$(_specfs_commands "$program") --help --version"
	elif [[ $prev == -b || $prev == --backend ]]; then
		case $cur in
		*,*) head=${cur%,*}, ;;
		esac
		words=$(_specfs_backends "$program")
	elif [[ $prev == -o && $command == @(mount|run) ]]; then
		case $cur in
		*,*) head=${cur%,*}, ;;
		esac
		words=$(_specfs_list_options "$program")
		compopt -o nospace
	elif [[ $cur == -* ]]; then
		words=$(_specfs_options "$program" "$command")
	elif [[ $command == redirect && $COMP_CWORD -eq 2 ]]; then
		words='add list remove'
	elif [[ $command == redirect && $COMP_CWORD -eq 3 ]]; then
		words=$(_specfs_mountpoints "$program")
	elif [[ $command == redirect && ${COMP_WORDS[2]} == remove ]]; then
		words=$(_specfs_redirected "$program" "${COMP_WORDS[3]}")
	elif [[ $command == umount || $command == status || $command == sync ]]; then
		words=$(_specfs_mountpoints "$program")
	fi
	if [ -n "$words" ]; then
		mapfile -t COMPREPLY < <(compgen -P "$head" -W "$words" -- "${cur#"$head"}")
	else
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	fi
}

complete -F _specfs specfs
