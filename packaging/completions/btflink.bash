# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Completion of btf-emit, btf-merge, btf-module, btf-kernel and btf-cc for bash. Options are those of --help.

# _btflink_options PROGRAM [COMMAND]: with "=" behind those that take a value.
_btflink_options()
{
    "$@" --help 2>/dev/null | sed -n -E \
        's/^ +(-[a-z],)?(--[a-z-]+)((=| [A-Z]).*)?.*/\2\4/;s/ [A-Z]$/=/;/^--/p'
}

# _btflink_value OPTION TEXT: fills COMPREPLY; stays empty for files.
_btflink_value()
{
    case $1 in
    --features)
        local begun=${2%"${2##*[,+]}"}
        COMPREPLY=($(compgen -P "$begun" -W "$(btf-pahole --supported_btf_features | tr , ' ')" \
            -- "${2##*[,+]}")) ;;
    --format) COMPREPLY=($(compgen -W 'raw object' -- "$2")) ;;
    --fail-on) COMPREPLY=($(compgen -W 'error suspicious harmless' -- "$2")) ;;
    --dedup) COMPREPLY=($(compgen -W 'hash libbpf' -- "$2")) ;;
    --section-type) COMPREPLY=($(compgen -W 'btf progbits' -- "$2")) ;;
    --reader) COMPREPLY=($(compgen -W 'auto fast libdw' -- "$2")) ;;
    --debug-dir) COMPREPLY=($(compgen -d -- "$2")) ;;
    esac
}

_btflink()
{
    local text=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    COMPREPLY=()
    # bash makes three words of --option=value.
    if [[ $text == '=' ]]; then
        _btflink_value "$before" ''
    elif [[ $before == '=' ]]; then
        _btflink_value "${COMP_WORDS[COMP_CWORD - 2]}" "$text"
    elif [[ $text == -* ]]; then
        COMPREPLY=($(compgen -W "$(_btflink_options "${_btflink_program[@]:-$1}")" -- "$text"))
        [[ ${#COMPREPLY[@]} -ne 1 || $COMPREPLY != *= ]] || compopt -o nospace
    fi
}

# btf-cc [OPTION...] COMPILER [ARGUMENT...]
_btflink_cc()
{
    local i
    for ((i = 1; i < COMP_CWORD; i++)); do
        if [[ ${COMP_WORDS[i]} == [^-=]* && ${COMP_WORDS[i - 1]} != '=' ]]; then
            COMPREPLY=()
            return # the compiler's arguments: files
        fi
    done
    _btflink "$@"
    [[ ${COMP_WORDS[COMP_CWORD]} == [-=]* || ${COMP_WORDS[COMP_CWORD - 1]} == '=' ]] ||
        COMPREPLY=($(compgen -c -- "${COMP_WORDS[COMP_CWORD]}"))
}

# btf-kernel COMMAND [OPTION...] PACKAGE...
_btflink_kernel()
{
    local _btflink_program
    if [[ $COMP_CWORD -eq 1 && ${COMP_WORDS[1]} != -* ]]; then
        COMPREPLY=($(compgen -W "$("$1" --help 2>/dev/null | sed -n 's/^  \([a-z]*\)  .*/\1/p')" \
            -- "${COMP_WORDS[1]}"))
        return
    fi
    [[ $COMP_CWORD -eq 1 ]] || _btflink_program=("$1" "${COMP_WORDS[1]}")
    _btflink "$@"
}

complete -o bashdefault -o default -F _btflink btf-emit btf-merge btf-module
complete -o bashdefault -o default -F _btflink_cc btf-cc
complete -o bashdefault -o default -F _btflink_kernel btf-kernel
